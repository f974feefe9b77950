"""Whether a store holds what it should: the file, its tables and texts, and every run by its own rules."""
