"""What the window shows of hearing and speaking."""
