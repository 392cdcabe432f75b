"""Where experts run."""
