"""What all sessions share: the library on its way up, the files being added, the questions being answered,
and other long work.

The only `cache_resource` functions of the face. What they return is thread-safe.
"""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts.asking import AskingBoard
from pages.parts.evaluation.board import RunBoard
from pages.parts.evaluation.candidates import CandidateBoard
from pages.parts.jobs import JobBoard
from pages.parts.opening import Opening
from pages.parts.sites import SiteReport
from pages.parts.suggesting import SuggestionBoard
from pages.parts.tasks import TaskBoard
from pages.parts.thumbnails import Thumbnails
from rag_core.domain import BackupReport, Progress, Report

if TYPE_CHECKING:
    from rag_core.library import Library


@st.cache_resource(show_spinner=False, on_release=lambda opening: opening.close())
def opening() -> Opening:
    """The library on its way up; closed when the process ends."""
    started = Opening()
    atexit.register(started.close)
    return started


@st.cache_resource(show_spinner=False, on_release=lambda board: board.close())
def jobs() -> JobBoard:
    """The files being added."""
    board = JobBoard(library)
    atexit.register(board.close)
    return board


@st.cache_resource(show_spinner=False, on_release=lambda board: board.close())
def questions() -> AskingBoard:
    """The questions being answered."""
    board = AskingBoard(library)
    atexit.register(board.close)
    return board


@st.cache_resource(show_spinner=False)
def checks() -> TaskBoard[Report]:
    """The comparison of all stores."""
    return TaskBoard(library, "The comparison")


@st.cache_resource(show_spinner=False, on_release=lambda board: board.stop())
def renewals() -> TaskBoard[Progress]:
    """Embedding the library anew."""
    board: TaskBoard[Progress] = TaskBoard(library, "Embedding anew")
    atexit.register(board.stop)
    return board


@st.cache_resource(show_spinner=False, on_release=lambda board: board.stop())
def rechunkings() -> TaskBoard[Progress]:
    """Cutting the library's documents anew."""
    board: TaskBoard[Progress] = TaskBoard(library, "Cutting documents anew")
    atexit.register(board.stop)
    return board


@st.cache_resource(show_spinner=False, on_release=lambda board: board.stop())
def downloads() -> TaskBoard[Progress]:
    """The model that is being downloaded."""
    board: TaskBoard[Progress] = TaskBoard(library, "The download")
    atexit.register(board.stop)
    return board


@st.cache_resource(show_spinner=False, on_release=lambda board: board.stop())
def sites() -> TaskBoard[SiteReport]:
    """The site being fetched."""
    board: TaskBoard[SiteReport] = TaskBoard(library, "The fetching")
    atexit.register(board.stop)
    return board


@st.cache_resource(show_spinner=False)
def backups() -> TaskBoard[BackupReport]:
    """The backup being written."""
    return TaskBoard(library, "The backup")


@st.cache_resource(show_spinner=False)
def evaluations() -> RunBoard:
    """The runs of the evaluation."""
    return RunBoard(library)


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


def library() -> Library:
    """The open library; raises LecternError while it is not open."""
    return opening().library
