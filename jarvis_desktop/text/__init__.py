"""Language helpers without I/O: tokens, sentences, numbers, dates, units, spoken forms."""
