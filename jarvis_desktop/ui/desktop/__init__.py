"""How JARVIS sits in the person's desktop: what it notifies of, and whether it starts with it."""
