"""Reading: bytes to pages."""

from rag_core.reading.detect import detect
from rag_core.reading.reader import Reader

__all__ = ["Reader", "detect"]
