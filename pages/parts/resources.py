"""What all sessions share: the library on its way up, and the questions being answered.

The only `cache_resource` functions of the face. What they return is thread-safe.
"""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts.auditing import audited
from pages.parts.evaluation.candidates import CandidateBoard
from pages.parts.opening import Opening
from pages.parts.running_answers import RunningAnswers
from pages.parts.suggesting import Looking, SuggestionBoard
from pages.parts.thumbnails import Thumbnails

if TYPE_CHECKING:
    from rag_core.domain import Guide
    from rag_core.library import Library


@st.cache_resource(show_spinner=False, on_release=lambda opening: opening.close())
def opening() -> Opening:
    """The library on its way up; closed when the process ends."""
    started = Opening()
    atexit.register(started.close)
    return started


@st.cache_resource(show_spinner=False, on_release=lambda board: board.close())
def questions() -> RunningAnswers:
    """The questions being answered."""
    board = RunningAnswers(library)
    atexit.register(board.close)
    return board


@st.cache_resource(show_spinner=False)
def candidates() -> CandidateBoard:
    """The drafted questions that wait to be looked at."""
    return CandidateBoard(library)


@st.cache_resource(show_spinner=False, on_release=lambda pictures: pictures.close())
def thumbnails() -> Thumbnails:
    """Small pictures of pages."""
    pictures = Thumbnails(library)
    atexit.register(pictures.close)
    return pictures


@st.cache_resource(show_spinner=False, on_release=lambda board: board.close())
def suggestions() -> SuggestionBoard:
    """Questions to begin with."""
    board = SuggestionBoard(library)
    atexit.register(board.close)
    return board


@st.cache_resource(show_spinner=False, on_release=lambda board: board.close())
def guides() -> Looking[Guide]:
    """Guides of documents."""
    board: Looking[Guide] = Looking("lectern-guides")
    atexit.register(board.close)
    return board


def library() -> Library:
    """The open library, whose changes are noted in the audit; raises LecternError while it is not open."""
    return audited(opening().library)


def close() -> None:
    """Stop what runs and close the library, in this order; harmless when done twice."""
    for board in (guides(), suggestions(), thumbnails(), questions()):
        board.close()
    opening().close()
