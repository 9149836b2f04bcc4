"""What all sessions share: the library on its way up, and the questions being answered.

The only `cache_resource` functions of the face. What they return is thread-safe.
"""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts import signing_in
from pages.parts.auditing import audited
from pages.parts.evaluation.candidates import CandidateBoard
from pages.parts.opening import Opening
from pages.parts.running_answers import RunningAnswers
from pages.parts.suggesting import Looking, SuggestionBoard
from pages.parts.thumbnails import Thumbnails

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    board = RunningAnswers(library, person)
    atexit.register(board.close)
    return board


@st.cache_resource(show_spinner=False)
def candidates() -> CandidateBoard:
    """The drafted questions that wait to be looked at."""
    return CandidateBoard(library)


@st.cache_resource(show_spinner=False, on_release=lambda pictures: pictures.close())
def thumbnails() -> Thumbnails:
    """Small pictures of pages."""
    pictures = Thumbnails(library, person)
    atexit.register(pictures.close)
    return pictures


@st.cache_resource(show_spinner=False, on_release=lambda board: board.close())
def suggestions() -> SuggestionBoard:
    """Questions to begin with."""
    board = SuggestionBoard(library, person)
    atexit.register(board.close)
    return board


@st.cache_resource(show_spinner=False, on_release=lambda board: board.close())
def guides() -> Looking[Guide]:
    """Guides of documents."""
    board: Looking[Guide] = Looking("lectern-guides")
    atexit.register(board.close)
    return board


def person() -> str:
    """Whose library this session is shown, "" where it is the whole one. Raises NotAllowed."""
    return signing_in.person(signing_in.own_cookies())


def library(cookies: Mapping[str, str] | None = None) -> Library:
    """The open library as whoever looks has it, its changes noted in the audit: of this session, or of a request with
    these cookies. Raises NotAllowed, and other LecternErrors while it is not open."""
    whole = opening().library
    whose = person() if cookies is None else signing_in.person(cookies)
    return audited(_apart(whole, whose) if whose else whole, whole)


def _apart(whole: Library, whose: str) -> Library:
    from rag_core.personal import library_of  # the first page must not wait for what this brings with it

    return library_of(whole, whose)


def close() -> None:
    """Stop what runs and close the library, in this order; harmless when done twice."""
    for board in (guides(), suggestions(), thumbnails(), questions()):
        board.close()
    opening().close()
