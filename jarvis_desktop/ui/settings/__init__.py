"""Where everything about JARVIS is chosen, with live effect."""
