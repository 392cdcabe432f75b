"""Experts on the user's other computers."""
