"""One file per LLM provider."""
