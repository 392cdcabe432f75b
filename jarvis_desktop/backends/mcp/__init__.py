"""Tools of MCP servers: whose they are, how they become task types, and the calls."""
