"""Questions drawn up from documents, by rules or by a model."""
