"""SQLite history and the content-hashed artifact store."""
