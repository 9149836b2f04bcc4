"""The road of a file into the library: accepted, read, cut into chunks, embedded, committed.

Files are accepted, and short documents are read, embedded and stored, by the window, so that commits, syncs and derived
stores work in batches; a long document is a window of its own. While one window is embedded the next is read and the
one before is stored, each in a thread of its own; the caller draws the events.
"""

from rag_core.adding.adder import Adder

__all__ = ["Adder"]
