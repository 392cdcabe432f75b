"""Which experts there are, and which of them can run here."""
