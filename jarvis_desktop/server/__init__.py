"""The HTTP server: JARVIS for other programs, in the protocols that they speak."""
