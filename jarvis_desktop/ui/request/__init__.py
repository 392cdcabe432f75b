"""The input of a request: its words and its files."""
