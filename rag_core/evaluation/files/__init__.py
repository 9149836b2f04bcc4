"""Question sets and results as files."""
