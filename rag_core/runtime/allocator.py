"""What memory that was let go of is given back to the system: glibc keeps much of it, and of a long document that is
hundreds of megabytes. Elsewhere nothing is to be done."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD of malloc.h
_LARGE_BYTES = 2**20


def keep_little() -> None:
    """Have what is large given back when it is freed: by itself glibc comes to keep up to 32 MB of each, between what
    is still used (mallopt(3), "dynamic mmap threshold")."""
    if library := _glibc():
        library.mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)


def give_back() -> None:
    """Give back what is free now, as much of it as is not between what is used. Takes some milliseconds."""
    if library := _glibc():
        library.malloc_trim(0)


@cache
def _glibc() -> ctypes.CDLL | None:
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    return library if hasattr(library, "malloc_trim") and hasattr(library, "mallopt") else None
