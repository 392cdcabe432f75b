"""JARVIS Desktop: a voice assistant that plans, runs experts on this computer and speaks."""

__version__ = "0.1.0"
