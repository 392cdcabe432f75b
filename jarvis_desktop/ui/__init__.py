"""All of Qt."""
