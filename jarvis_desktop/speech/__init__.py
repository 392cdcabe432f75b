"""Microphone, recognisers, voices and the player."""
