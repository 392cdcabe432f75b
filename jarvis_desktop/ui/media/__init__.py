"""Pictures, sounds, films, tables and other files: their cards, players and the viewer."""
