"""Agent mode: controllers that take a goal round by round, branch by branch."""
