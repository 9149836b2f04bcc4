"""What is derived from PostgreSQL and can be rebuilt from it: vector dumps, Chroma."""
