"""Where code that an LLM wrote runs: shut off from the computer and from the network."""
