"""Formats whose text flows: Office files, web pages, tables of figures, books, mail.

Each is a file with `read(path, max_chars) -> Flow`, which is the file as blocks, and one line in `worker.FLOWING`.
"""

from rag_core.reading.flowing.blocks import Block, Flow
from rag_core.reading.flowing.document import FlowDocument

__all__ = ["Block", "Flow", "FlowDocument"]
