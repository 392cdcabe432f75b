"""Tasks over documents and tables."""
