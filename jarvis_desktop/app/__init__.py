"""The application: builds it, runs it, and connects it to the desktop and other processes."""
