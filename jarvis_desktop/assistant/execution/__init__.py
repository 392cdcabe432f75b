"""Runs plans: executor, replanning, tasks with retries."""
