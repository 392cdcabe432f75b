"""The actions that a controller can take."""
