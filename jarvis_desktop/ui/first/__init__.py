"""What is shown at the very first start."""
