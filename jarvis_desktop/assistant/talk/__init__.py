"""Push-to-talk, the end of what is said, and answers by voice."""
