"""The talk key of the whole desktop: one file for each way to have it, and the choice of one."""
