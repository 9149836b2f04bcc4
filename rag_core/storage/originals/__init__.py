"""The bytes of documents as they came in."""
