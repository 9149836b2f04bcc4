"""A library as one person has it: what they see of it and may do in it, and nothing else."""

from __future__ import annotations

from typing import cast

from rag_core.library import Library
from rag_core.personal.library import PersonalLibrary


def library_of(library: Library, person: str) -> Library:
    """The library as a person has it, an address in small letters; the library itself where nobody in particular asks.

    What a person is offered goes by the library's own names and arguments; all else raises NotAllowed.
    """
    return cast(Library, PersonalLibrary(library, person)) if person else library
