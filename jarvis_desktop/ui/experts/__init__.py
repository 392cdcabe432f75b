"""Experts and LLMs: what is there and what can be fetched."""
