"""Chooses an expert for each task."""
