"""What scripts can import besides their own packages."""
