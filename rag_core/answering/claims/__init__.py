"""What a sentence claims, piece by piece, and whether a passage says the same: figures with their units, names, negation."""
