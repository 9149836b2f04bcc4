"""Recordings of sound and film: each minute is a page without text, for the transcriber to read. Runs in the reading
processes alone.

FFmpeg, by way of PyAV, opens them; it is given the open file and the one format that the file was found to be, so that
a list of addresses that calls itself a recording opens nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Page
from rag_core.errors import UnreadableDocument, UnsupportedDocument
from rag_core.reading import base
from rag_core.reading.base import Details, OpenDocument, RawPage

if TYPE_CHECKING:
    from av.container import InputContainer

PAGE_S = 60
RATE = 16_000
"""Samples a second of what is decoded."""
_INSTALL = "Install what it takes: `pip install 'lectern[sound]'` (in a checkout `.venv/bin/pip install '.[sound]'`)."
_DEMUXERS = {
    base.MP3: "mp3", base.WAV: "wav", base.OGG: "ogg", base.FLAC: "flac", base.AAC: "aac", base.AMR: "amr",
    base.M4A: "mov", base.MP4: "mov", base.WEBM: "matroska",
}  # fmt: skip
# Formats without a length of their own: FFmpeg would guess it by their first seconds.
_GUESSED = ("mp3", "aac", "amr")


class SoundDocument(OpenDocument):
    """A recording, a page a minute. Raises UnsupportedDocument where PyAV is not installed, UnreadableDocument."""

    def __init__(self, media_type: str, path: Path, password: str | None, max_chars: int) -> None:
        with opened(path, media_type) as container:
            self.seconds = _seconds(container)
            self._tags = {key.lower(): value for key, value in container.metadata.items()}
        self.page_count = max(1, math.ceil(self.seconds / PAGE_S))

    def read_page(self, number: int, max_chars: int) -> RawPage:
        """The page without a text."""
        return RawPage(Page(number, ""), pictures=True)

    def details(self) -> Details:
        """What its tags say; its pages are called by the time at which they begin."""
        labels = {number: clock((number - 1) * PAGE_S) for number in range(1, self.page_count + 1)}
        return Details(title=self._tags.get("title", ""), authors=self._tags.get("artist", ""), labels=labels)


def is_installed() -> bool:
    """Whether recordings can be opened and transcribed."""
    return find_spec("av") is not None and find_spec("faster_whisper") is not None


def clock(seconds: float) -> str:
    """`3:00`, or `1:03:00`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@contextmanager
def opened(path: Path, media_type: str) -> Iterator[InputContainer]:
    """A recording with sound. Raises UnsupportedDocument, UnreadableDocument, this for what fails in using it too."""
    if not is_installed():
        raise UnsupportedDocument("Recordings of sound and film are not read here yet.", help=_INSTALL)
    import av

    try:
        with path.open("rb") as file, av.open(file, format=_DEMUXERS[media_type]) as container:
            if not container.streams.audio:
                raise UnreadableDocument("The recording has no sound.", help="Choose a recording in which one speaks.")
            yield container
    except (av.error.FFmpegError, ValueError, OverflowError) as error:
        raise UnreadableDocument("The recording is damaged: it cannot be decoded.") from error


def samples(path: Path, media_type: str, start_s: float, end_s: float) -> NDArray[np.float32]:
    """What is heard from one time to another, one channel of `RATE` samples a second, -1 to 1; shorter at the end.
    Raises as `opened` does."""
    found = np.zeros(round((end_s - start_s) * RATE), np.float32)
    end = 0
    with opened(path, media_type) as container:
        for time_s, heard in _decoded(container, start_s):
            if time_s >= end_s:
                break
            at = round((time_s - start_s) * RATE)
            kept = heard[max(-at, 0) : len(found) - at]
            found[max(at, 0) : max(at, 0) + len(kept)] = kept
            end = max(end, max(at, 0) + len(kept))
    return found[:end]


def _decoded(container: InputContainer, start_s: float) -> Iterator[tuple[float, NDArray[np.float32]]]:
    """Pieces of what is heard, from a little before a time on, each with the time at which it begins."""
    from av.audio.resampler import AudioResampler

    stream = container.streams.audio[0]
    begin_s = _begin_s(stream)
    if start_s > 0:
        container.seek(int((begin_s + start_s) / (stream.time_base or 1)), stream=stream)
    resampler = AudioResampler(format="fltp", layout="mono", rate=RATE)
    time_s = 0.0
    for frame in container.decode(stream):
        time_s = frame.time - begin_s if frame.time is not None else time_s
        for part in resampler.resample(frame):
            heard = part.to_ndarray()[0]
            yield time_s, heard
            time_s += len(heard) / RATE


def _begin_s(stream: Any) -> float:
    return float((stream.start_time or 0) * (stream.time_base or 1))


def _seconds(container: InputContainer) -> float:
    """How long it is; of a recording that does not say so, by going through it."""
    if container.duration and container.format.name not in _GUESSED:
        return float(container.duration) / 1_000_000
    stream = container.streams.audio[0]
    ends = (float((packet.pts + (packet.duration or 0)) * packet.time_base) for packet in container.demux(stream)
            if packet.pts is not None and packet.time_base)  # fmt: skip
    return float(max(ends, default=0.0)) - _begin_s(stream)
