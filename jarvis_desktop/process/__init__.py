"""Child processes, and what must hold in each of them."""
