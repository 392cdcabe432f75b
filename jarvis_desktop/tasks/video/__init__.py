"""Tasks over films."""
