"""Recordings: what they are told by, how they are opened, and what is heard in them.

What is said is read where the extra "sound" is installed; `memo.ogg` was spoken by espeak-ng.
"""

from __future__ import annotations

import random
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rag_core.errors import LecternError, UnreadableDocument, UnsupportedDocument
from rag_core.reading import Reader, detect_bytes
from rag_core.reading.ocr import PageRecogniser
from rag_core.reading.sound import PAGE_S, RATE, SoundDocument, clock, is_installed, samples
from rag_core.reading.speech import _joined, _Part
from rag_core.settings import OcrSettings

MEMO = Path(__file__).with_name("memo.ogg")
WAV, OGG = "audio/wav", "audio/ogg"
with_extra = pytest.mark.skipif(not is_installed(), reason="the extra 'sound' is not installed")


@pytest.fixture
def tone(tmp_path: Path) -> Callable[[float], Path]:
    """A recording of so many seconds whose loudness says at which second of its minute it is."""

    def made(seconds: float) -> Path:
        with wave.open(str(tmp_path / "tone.wav"), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            times = np.arange(round(seconds * RATE)) / RATE
            file.writeframes((np.sin(times * 2000) * 300 * (1 + times % PAGE_S)).astype("<i2").tobytes())
        return tmp_path / "tone.wav"

    return made


@pytest.mark.parametrize(
    ("head", "name", "kind"),
    [
        (b"ID3\x03\x00", "a.mp3", "audio/mpeg"), (b"\xff\xfb\x90\x64", "a.mp3", "audio/mpeg"),
        (b"RIFF\x00\x10\x00\x00WAVEfmt ", "a.wav", WAV), (b"OggS\x00\x02", "memo", OGG),
        (b"fLaC\x00\x00", "a.flac", "audio/flac"), (b"\xff\xf1\x50\x80", "a.aac", "audio/aac"),
        (b"#!AMR\n\x3c", "call.amr", "audio/amr"), (b"\x00\x00\x00\x1cftypM4A ", "memo.m4a", "audio/mp4"),
        (b"\x00\x00\x00\x1cftypisom", "film.mp4", "video/mp4"), (b"\x1a\x45\xdf\xa3", "film.webm", "video/webm"),
    ],
)  # fmt: skip
def test_recordings_are_told_by_their_first_bytes(head: bytes, name: str, kind: str) -> None:
    assert detect_bytes(head + bytes(100), name) == kind


def test_what_only_begins_like_a_recording_is_none() -> None:
    assert detect_bytes(b"OggS, said the cat, and ID3 is a tag.", "cat.txt") == "text/plain"


@pytest.mark.skipif(is_installed(), reason="the extra 'sound' is installed")
def test_without_the_extra_it_is_said_what_to_install(reader: Reader) -> None:
    with pytest.raises(UnsupportedDocument, match="not read here yet") as caught:
        reader.read(MEMO, MEMO.name, recognised={})
    assert "lectern[sound]" in caught.value.help


def test_times_are_written_as_clocks_do() -> None:
    assert [clock(0), clock(60), clock(3720)] == ["0:00", "1:00", "1:02:00"]


def test_a_speech_is_set_in_sentences_and_paragraphs() -> None:
    parts = [_Part(0, 2, "It rains.", []), _Part(2.5, 4, "It pours", []), _Part(4, 5, "outside.", []),
             _Part(9, 10, "Later.", [])]  # fmt: skip
    assert _joined(parts) == "It rains.\nIt pours outside.\n\nLater."


@with_extra
def test_each_minute_is_a_page_that_is_called_by_its_time(reader: Reader, tone: Callable[[float], Path]) -> None:
    path = tone(130)
    parsed = reader.read(path, "tone.wav", recognised={})
    assert [page.label for page in parsed.pages] == ["0:00", "1:00", "2:00"]
    assert parsed.to_recognise == (1, 2, 3)


@with_extra
@pytest.mark.parametrize(("start", "end", "length"), [(0, 5, 5), (57, 66, 9), (125, 140, 5), (200, 210, 0)])
def test_what_is_heard_between_two_times(tone: Callable[[float], Path], start: int, end: int, length: int) -> None:
    heard = samples(tone(130), WAV, start, end)
    assert len(heard) == length * RATE
    for second in range(length):
        loud = float(abs(heard[second * RATE : (second + 1) * RATE]).max()) * 32768 / 300
        assert loud == pytest.approx(1 + (start + second) % PAGE_S + 1, abs=1.1)


@with_extra
def test_what_is_said_is_the_text_of_its_minute() -> None:
    recogniser = PageRecogniser()
    try:
        page = recogniser.recognise(OcrSettings(), MEMO, OGG, 1).page
        beyond = recogniser.recognise(OcrSettings(), MEMO, OGG, 2).page
    finally:
        recogniser.close()
    assert "400,000 pounds" in page.text and "council on Monday" in page.text
    assert (page.recogniser, page.certainty > 0.6, beyond.text) == ("Whisper", True, "")


@with_extra
@pytest.mark.parametrize(
    "data",
    [b"ID3\x03\x00#EXTM3U\nfile:///etc/passwd\n", b"OggS\x00" + bytes(500), b"RIFF\xff\xff\xff\xffWAVE" + b"\xff" * 90,
     b"\x00\x00\x00\x1cftypisom" + b"\x00\x00\x00\x08moov" * 500, b"\x1a\x45\xdf\xa3" * 400],
    ids=["a list", "zeros", "a wrong length", "boxes", "headers"],
)  # fmt: skip
def test_what_is_no_recording_is_refused(reader: Reader, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "bad.mp3").write_bytes(data)
    with pytest.raises(LecternError):
        reader.read(tmp_path / "bad.mp3", "bad.mp3")


@with_extra
def test_damage_fails_by_name(tmp_path: Path) -> None:
    whole, chance = MEMO.read_bytes(), random.Random(7)
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 40)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        (tmp_path / "damaged.ogg").write_bytes(data[: chance.randint(100, len(data))])
        try:
            SoundDocument(OGG, tmp_path / "damaged.ogg", None, 0)
            assert len(samples(tmp_path / "damaged.ogg", OGG, 0, 20)) <= 20 * RATE
        except UnreadableDocument:
            pass


@with_extra
def test_a_film_without_sound_is_refused(tmp_path: Path) -> None:
    import av

    with av.open(tmp_path / "silent.mp4", "w", format="mp4") as container:
        stream = container.add_stream("mpeg4", rate=5)
        stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p"
        for shade in range(5):
            frame = av.VideoFrame.from_ndarray(np.full((64, 64, 3), shade * 40, np.uint8))
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    with pytest.raises(UnreadableDocument, match="no sound"):
        SoundDocument("video/mp4", tmp_path / "silent.mp4", None, 0)
