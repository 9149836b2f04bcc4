"""The tables, which are the truth: documents, chunks, conversations, question sets, runs."""
