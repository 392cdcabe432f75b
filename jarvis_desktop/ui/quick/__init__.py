"""JARVIS beside its window: the icon in the tray, the quick box and the sign above all windows."""
