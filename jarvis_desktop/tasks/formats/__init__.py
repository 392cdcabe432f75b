"""Files in other forms: converted, cut and joined."""
