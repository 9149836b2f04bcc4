"""Mail that is written against the rules, as programs do: what it says is read, or told to be missing."""

from __future__ import annotations

import base64
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import pytest

from rag_core.domain import ParsedDocument
from rag_core.reading import Reader
from rag_core.reading.flowing import FlowDocument

HEAD = b"From: Ada <ada@example.org>\nSubject: Boats\n"
PART = b"Content-Type: text/plain\n\nAt four.\n"
INNER = b"Subject: Inner\nFrom: c@example.org\n\nAt four.\n"
MIXED = HEAD + b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=%s\n\n"
PLAIN = HEAD + b"Content-Type: text/plain; charset=%s\nContent-Transfer-Encoding: %s\n\n"
BASE64 = base64.b64encode(b"At four. And then we go.")

ODD = {
    "a boundary that is not quoted": MIXED % b"----=_Part_1=x"
    + b"This is a message of several parts.\n------=_Part_1=x\n" + PART + b"------=_Part_1=x--\n",
    "a boundary with blanks": MIXED % b"a b c" + b"--a b c\n" + PART + b"--a b c--\n",
    "a boundary that is not closed": MIXED % b'"xx"' + b"--xx\n" + PART,
    "another boundary": MIXED % b'"yy"' + b"--xx\n" + PART + b"--xx--\n",
    "a boundary that is not named": HEAD + b"Content-Type: multipart/mixed\n\n--xx\n" + PART + b"--xx--\n",
    "no boundary at all": MIXED % b"xx" + b"At four.\n",
    "no version": HEAD + b"Content-Type: multipart/mixed; boundary=xx\n\n--xx\n" + PART + b"--xx--\n",
    "within another": MIXED % b"xx" + b"--xx\nContent-Type: multipart/alternative; boundary==y\n\n--=y\n" + PART
    + b"--=y--\n--xx--\n",
    "a mailbox's line": b"From ada@example.org Mon Mar  2 10:00:00 2020\n" + HEAD + b"\nAt four.\n",
    "a mailbox's quoted line": b">From ada@example.org Mon Mar  2 10:00:00 2020\n" + HEAD + b"\nAt four.\n",
    "a mark and blank lines": b"\xef\xbb\xbf\n\n" + HEAD + b"\nAt four.\n",
    "old line ends": (HEAD + b"\nAt four.\n").replace(b"\n", b"\r"),
    "an encoding that is none": PLAIN % (b"base64", b"8bit") + b"At four.",
    "another that is none": PLAIN % (b"idna", b"8bit") + b"At four.",
    "a way of packing that is none": PLAIN % (b"utf-8", b"9bit") + b"At four.",
    "base64 with other signs": PLAIN % (b"utf-8", b"base64") + BASE64[:20] + b"!!" + BASE64[20:],
    "base64 that is cut off": PLAIN % (b"utf-8", b"base64") + BASE64[:-3],
    "no base64, as it says": PLAIN % (b"utf-8", b"base64") + b"At four. And then we go.",
    "a page that does not say so": HEAD + b"\n<!DOCTYPE html><html><body><p>At <b>four</b>.</p></body></html>",
    "a message sent along, packed": MIXED % b"xx" + b"--xx\nContent-Type: message/rfc822\n"
    b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(INNER) + b"--xx--\n",
    "a message sent along as a file": MIXED % b"xx" + b"--xx\nContent-Type: application/octet-stream; name=a.eml\n"
    b"Content-Disposition: attachment; filename=a.eml\n\n" + INNER + b"--xx--\n",
    "another form than text": MIXED.replace(b"mixed", b"alternative") % b"xx" + b"--xx\nContent-Type: text/calendar\n\n"
    b"SUMMARY:At four.\n--xx--\n",
}  # fmt: skip


def written(reader: Reader, tmp_path: Path, data: bytes) -> ParsedDocument:
    (tmp_path / "stored").write_bytes(data)
    return reader.read(tmp_path / "stored", "a.eml")


@pytest.mark.parametrize("case", ODD)
def test_a_message_against_the_rules_is_read(reader: Reader, tmp_path: Path, case: str) -> None:
    parsed = written(reader, tmp_path, ODD[case])
    text = parsed.pages[0].text
    assert text.startswith("Boats\n\nFrom: Ada <ada@example.org>")
    assert "At four." in text
    assert "--" not in text and "Content-Type" not in text
    damaged = ("The text of the message is damaged (base64): a part of it may be missing.",)
    assert parsed.notes == (damaged if case in ("base64 with other signs", "base64 that is cut off") else ())


def test_all_texts_of_a_message_are_read_and_one_without_says_so(reader: Reader, tmp_path: Path) -> None:
    picture = b"Content-Type: image/png; name=a.png\n\nxx\n"
    several = MIXED % b"xx" + b"--xx\n" + PART + b"--xx\n" + picture + b"--xx\n" + PART.replace(b"four", b"five")
    parsed = written(reader, tmp_path, several)
    assert parsed.pages[0].text.endswith("At four.\n\nAt five.")
    assert parsed.notes == ("Attachments are not read: a.png.",)
    assert "Ada <ada@example.org>\nAttachments: a.png\n" in parsed.pages[0].text
    for empty in (MIXED % b"xx" + b"--xx\n" + picture, HEAD + picture):
        assert written(reader, tmp_path, empty).notes == (
            "Attachments are not read: a.png.", "The message “Boats” has no text of its own.",
        )  # fmt: skip


def test_heads_in_any_encoding_and_heads_that_make_no_sense(reader: Reader, tmp_path: Path) -> None:
    head = "Subject: Fahrpläne\nFrom: Jörg <j@example.org>\n\nAt four.\n"
    for encoding in ("utf-8", "cp1252"):
        assert written(reader, tmp_path, head.encode(encoding)).title == "Fahrpläne"
    odd = b"Subject: =?utf-8?Q?a=ZZ?= =?x-none?B?@@?=\nFrom: a@@b, <\nDate: <\nContent-Type: ;=\n\nAt four.\n"
    assert written(reader, tmp_path, odd).pages[0].text.endswith("At four.")


def test_what_a_page_in_a_message_hides_is_told_of(reader: Reader, tmp_path: Path) -> None:
    page = b"Content-Type: text/html\n\n<ul style='display:none'><li>Only for your inbox view</ul><p>At four."
    parsed = written(reader, tmp_path, HEAD + page)
    assert parsed.pages[0].text.endswith("org>\n\nAt four.")
    assert parsed.notes == ("Hidden on the page and left out: 1 part, “Only for your inbox view”.",)


WHOLE = ODD["within another"] + ODD["a message sent along, packed"][len(HEAD) :]


@hypothesis.settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(st.lists(st.tuples(st.integers(len(HEAD), len(WHOLE)), st.binary(max_size=3)), max_size=5))
def test_a_message_with_any_bytes_changed_is_read(tmp_path: Path, changes: list[tuple[int, bytes]]) -> None:
    data = bytearray(WHOLE)
    for place, new in changes:
        data[place : place + len(new)] = new
    (tmp_path / "stored").write_bytes(data)
    read = FlowDocument("rag_core.reading.flowing.mail", tmp_path / "stored", None, 100_000)
    read.prepare(lambda: None)
    assert read.pages[0].startswith("Boats")
    assert not any("could not be read" in note for note in read.details().notes)
