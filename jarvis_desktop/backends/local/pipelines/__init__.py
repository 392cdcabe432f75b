"""How the experts of each task are loaded and called."""
