"""Experts that run on this computer, in child processes."""
