"""The vocabulary: frozen values, events, errors and ports. Standard library only."""
