"""Text as such: terms, sentences, numbers, word lists. Pure functions, for every room."""
