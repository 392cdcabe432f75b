"""The Hub's list of experts on this computer's disk: reading it, keeping it, searching it."""
