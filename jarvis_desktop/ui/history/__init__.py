"""Earlier conversations."""
