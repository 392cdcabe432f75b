"""How the experts of each task are loaded and called; imported in the worker process only."""
