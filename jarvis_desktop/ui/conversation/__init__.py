"""The conversation: turns, their results, and what they ask."""
