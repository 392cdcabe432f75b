"""Where a request is made: words and files."""
