"""The logic, against core's ports only; one file per stage of a turn."""
