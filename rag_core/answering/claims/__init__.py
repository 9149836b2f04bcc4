"""What a sentence claims and whether passages say the same: its words, names, figures with their units, negations."""
