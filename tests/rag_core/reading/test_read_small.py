"""Many small files in one request: the same as one by one, and none pays for another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.domain import ParsedDocument
from rag_core.errors import Cancelled, LecternError
from rag_core.reading import Reader
from rag_core.runtime.child import Child, ChildDied, Watch
from rag_core.settings import ReadingSettings

CONTENTS = {
    "note.txt": b"A title of its own\n\nSome words of a note.",
    "empty.txt": b"",
    "blank.txt": b" \n\n ",
    "old.txt": "häßlich, aber lesbar".encode("cp1252"),
    "wide.txt": "wide words".encode("utf-16"),
    "read me.md": b"# First\n\nwords\n\n## Second\n\nmore words",
    "many pages.txt": b"\f".join(b"page %d" % number for number in range(700)),
    "page.html": b"<!DOCTYPE html><html></html>",
    "last.txt": b"The last one.",
}


@pytest.fixture
def files(tmp_path: Path) -> list[tuple[Path, str]]:
    for number, data in enumerate(CONTENTS.values()):
        (tmp_path / str(number)).write_bytes(data)
    return [(tmp_path / str(number), name) for number, name in enumerate(CONTENTS)] + [(tmp_path / "none", "none.txt")]


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader(ReadingSettings()) as made:
        yield made


def alone(reader: Reader, path: Path, name: str) -> ParsedDocument | str:
    try:
        return reader.read(path, name)
    except LecternError as error:
        return str(error)


def without_reasons(results: list[ParsedDocument | LecternError]) -> list[ParsedDocument | str]:
    return [str(result) if isinstance(result, LecternError) else result for result in results]


def test_the_same_as_one_by_one(reader: Reader, files: list[tuple[Path, str]]) -> None:
    expected = [alone(reader, path, name) for path, name in files]
    assert sum(isinstance(item, str) for item in expected) == 4
    assert without_reasons(reader.read_small(files)) == expected
    for entry in files:
        assert without_reasons(reader.read_small([entry])) == [alone(reader, *entry)]
    assert reader.read_small([]) == []


def test_sound_files_take_one_request(
    reader: Reader, files: list[tuple[Path, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    ask = Child.ask
    monkeypatch.setattr(Child, "ask", lambda *call: asked.append(call) or ask(*call))
    sound = [files[0], files[3], files[5], files[8]]
    assert all(isinstance(item, ParsedDocument) for item in reader.read_small(sound))
    assert len(asked) == 1


def test_a_file_that_ends_the_process_does_so_alone(
    reader: Reader, files: list[tuple[Path, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    deadly = f'"{files[3][0]}"'.encode()
    ask = Child.ask

    def dying(child: Child, request: bytes, watch: Watch) -> bytes:
        if deadly in request:
            child.kill()
            raise ChildDied(LecternError("It died."))
        return ask(child, request, watch)

    monkeypatch.setattr(Child, "ask", dying)
    results = reader.read_small([files[0], files[3], files[8]])
    assert [str(item) if isinstance(item, LecternError) else item.title for item in results] == [
        "A title of its own", "It died.", "last",
    ]  # fmt: skip


def test_limits_hold_for_small_files(files: list[tuple[Path, str]]) -> None:
    with Reader(ReadingSettings(max_pages=1, max_text_chars=30)) as strict:
        note, *_, last = strict.read_small([files[0], files[6], files[8]])
        assert "30 characters" in str(note)
        assert isinstance(last, ParsedDocument)
    with Reader(ReadingSettings(max_pages=1)) as strict:
        assert "pages" in str(strict.read_small([files[6]])[0])


def test_cancelled(reader: Reader, files: list[tuple[Path, str]]) -> None:
    stopped = reader.read_small(files[:1] + files[3:4], cancelled=lambda: True)
    assert [type(item) for item in stopped] in ([Cancelled] * 2, [ParsedDocument] * 2)
