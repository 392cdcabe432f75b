"""Runs a plan: the executor, retries and replanning."""
