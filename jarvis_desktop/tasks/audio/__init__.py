"""Tasks over recordings."""
