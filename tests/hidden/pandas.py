"""What a process finds in place of pandas: nothing, as on the computer of a user."""

raise ImportError("hidden by tests.hidden")
