"""Keys of the whole desktop: one file for each way to have one, and the choice of one."""
