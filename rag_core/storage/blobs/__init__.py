"""Bytes by key: the documents' originals, as they came in."""

from rag_core.storage.blobs.base import Blob, Blobs, open_blobs, originals, prepared_originals

__all__ = ["Blob", "Blobs", "open_blobs", "originals", "prepared_originals"]
