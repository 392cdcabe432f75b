"""The plan of a turn, as it runs."""
