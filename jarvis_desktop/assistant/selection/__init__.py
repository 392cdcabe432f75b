"""Selects an expert for each task."""
