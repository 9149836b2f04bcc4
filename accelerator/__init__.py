"""Vectors in files and the search over them. Knows nothing of documents, questions or rag_core."""
