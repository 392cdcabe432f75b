"""What works on this computer, what does not, and what mends it."""
