"""Reading: bytes to pages."""

from rag_core.reading.card import make_card
from rag_core.reading.detect import SUFFIXES, detect, detect_bytes
from rag_core.reading.reader import Reader

__all__ = ["SUFFIXES", "Reader", "detect", "detect_bytes", "make_card"]
