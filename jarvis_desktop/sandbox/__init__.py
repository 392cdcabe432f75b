"""The sandbox for code that an LLM wrote: no access to the computer or the network."""
