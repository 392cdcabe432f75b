"""One file per text-to-speech engine."""
