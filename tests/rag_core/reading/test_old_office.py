"""Office files of 1997 to 2003, binary workbooks and Outlook's messages.

old_office.tar.xz has a document, a workbook and a presentation that LibreOffice 7.4 saved in the old formats.
"""

from __future__ import annotations

import io
import random
import struct
import tarfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rag_core import Library, Upload
from rag_core.domain import ParsedDocument
from rag_core.errors import EncryptedDocument, LecternError, UnreadableDocument, UnsupportedDocument
from rag_core.reading import Reader, base, detect_bytes
from rag_core.reading.flowing.outlook import _unpacked
from tests.rag_core.reading.compound_files import compound

KEPT = Path(__file__).with_name("old_office.tar.xz")
NAMES = ("depots.doc", "depots.xls", "depots.ppt")


def kept(name: str) -> bytes:
    with tarfile.open(KEPT) as archive:
        file = archive.extractfile(name)
        assert file is not None
        return file.read()


def written(reader: Reader, tmp_path: Path, data: bytes, name: str) -> ParsedDocument:
    (tmp_path / "stored").write_bytes(data)
    return reader.read(tmp_path / "stored", name)


def test_a_word_document_with_notes_comments_tables_and_what_stands_around_pages(
    reader: Reader, tmp_path: Path
) -> None:
    parsed = written(reader, tmp_path, kept("depots.doc"), "depots.doc")
    assert (parsed.title, parsed.authors) == ("Depots of the north", "Ada Moss")
    assert [(one.title, one.level) for one in parsed.sections] == [("Depots of the north", 1), ("Figures", 2)]
    assert parsed.pages[0].text == (
        "Depots of the north\n\nCafé Łódź[1] earned 12 million in 2023[2].\n\nComment by Bo Lund: Is that so?\n\n"
        "Figures\n\nCounty\t2022\t2023\nAldshire\t1,234\t2,345\nBrenmark\t\t17\n\n• by boat\n• by rail\n\n"
        "See the list of depots.\n\nHeader: Northern Depots Limited, yearly report\n\n"
        "Footer: For the members of the board\n\n[1] A town on the river.\n\n[2] Without the harbour."
    )  # what was deleted is not in it
    assert parsed.pages[1].text == "On the second page.\n\nWords in a box."


def test_a_workbook_with_cells_as_shown(reader: Reader, tmp_path: Path) -> None:
    parsed = written(reader, tmp_path, kept("depots.xls"), "depots.xls")
    assert [section.title for section in parsed.sections] == ["Revenue", "Costs", "Secret"]
    assert parsed.pages[0].text.startswith(
        "Revenue\n\nCounty\t2019\tShare\tSince\tPrice\nAldshire 0\t1,000.5\t4.1%\t2019-03-01\t€12.50\n"
    )
    assert parsed.pages[0].text.endswith("Comment on “Aldshire 0, 1,000.5”: checked twice")
    assert "Item\tAmount\t\tMerged\tMerged\nRent\t-1234.5\nTotal\t-2469\nTRUE\tx" in parsed.pages[1].text
    assert parsed.notes == ("Sheets that the workbook hides, and that were read: Secret.",)


def test_slides_with_their_titles_tables_and_speakers_notes(reader: Reader, tmp_path: Path) -> None:
    parsed = written(reader, tmp_path, kept("depots.ppt"), "depots.ppt")
    assert (parsed.title, parsed.authors) == ("Northern slides", "Ada Moss")
    assert [section.title for section in parsed.sections] == ["Depots of the north", "Figures"]
    assert [page.text for page in parsed.pages] == [
        "Depots of the north\n\n• First point\n• Second – Łódź\n\nNotes: Say hello.",
        "Figures\n\nCounty\t2022\nAldshire\t1,234\nBrenmark\t17\n\nA box of text",
    ]


def test_old_files_are_told_by_what_they_hold_and_answer(library: Library) -> None:
    for name, kind in zip(NAMES, (base.DOC, base.XLS, base.PPT), strict=True):
        assert detect_bytes(kept(name), "without a suffix") == detect_bytes(kept(name), "letter.msg") == kind
    *_, last = library.add([Upload("depots.xls", kept("depots.xls"))])
    assert last.stage == "ready", last.error
    assert "1,003.5" in library.ask("What was the figure of Aldshire 3 in 2019?").text


def test_old_files_with_a_password_or_of_an_older_word_say_so(reader: Reader, tmp_path: Path) -> None:
    for flags, version, says in ((0x0100, 0xC1, "password"), (0, 0x65, "before 1997")):
        stream = struct.pack("<HH6xH", 0xA5EC, version, flags).ljust(5000, b"\0")
        with pytest.raises((UnsupportedDocument, EncryptedDocument), match=says):
            written(reader, tmp_path, compound({"WordDocument": stream}), "a.doc")
    user = struct.pack("<8xIII", 20, 0xF3D1C4DF, 0).ljust(60, b"\0")
    with pytest.raises(UnsupportedDocument, match="password"):
        written(reader, tmp_path, compound({"PowerPoint Document": bytes(9), "Current User": user}), "a.ppt")


@pytest.mark.parametrize("name", [*NAMES, "letter.msg"])
def test_damaged_old_files_cost_themselves_alone(reader: Reader, tmp_path: Path, name: str) -> None:
    whole = letter() if name == "letter.msg" else kept(name)
    draw = random.Random(name)
    damaged = [whole[: len(whole) * part // 7] for part in range(1, 7)]
    for _ in range(12):
        data = bytearray(whole)
        for place in draw.sample(range(512, len(data)), 40):
            data[place] = draw.randrange(256)
        damaged.append(bytes(data))
    for data in damaged:
        try:
            assert written(reader, tmp_path, data, name).pages
        except LecternError as error:
            assert error.help, error
    assert written(reader, tmp_path, whole, name).pages[0].text


@pytest.mark.timeout(60)
def test_a_workbook_whose_parts_lead_back_to_each_other_is_given_up(reader: Reader, tmp_path: Path) -> None:
    data = bytearray(compound({"Workbook": bytes(range(250)) * 20}))
    data[-512 + 4 * 9 : -512 + 4 * 10] = bytes(4)  # the last block of the stream leads to its first
    with pytest.raises(UnreadableDocument, match="damaged"):
        written(reader, tmp_path, bytes(data), "a.xls")


def letter(**changed: object) -> bytes:
    """A message of Outlook with a file and another message attached."""
    ticks = int((datetime(2020, 3, 2, 9, tzinfo=UTC) - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds() * 10**7)
    lists = "__properties_version1.0"
    older = {lists: bytes(24), "__substg1.0_0037001F": wide("Older"), "__substg1.0_1000001F": wide("Inner words.")}
    return compound({
        lists: bytes(32) + struct.pack("<HHIQ", 0x40, 0x39, 0, ticks),
        "__substg1.0_0037001F": wide("Fahrpläne für März"), "__substg1.0_0C1A001F": wide("Moss, Ada"),
        "__substg1.0_1000001F": wide("Dear Bo,\r\n\r\nthe boats go at four – always."),
        "__substg1.0_5D01001F": wide("ada@example.org"),
        "__recip_version1.0_#00000000": {
            lists: bytes(8) + struct.pack("<HHIQ", 3, 0xC15, 0, 1), "__substg1.0_3001001F": wide("Bo Lund"),
            "__substg1.0_39FE001F": wide("bo@example.org"),
        },
        "__attach_version1.0_#00000000": {
            lists: bytes(8), "__substg1.0_3707001F": wide("plan.pdf"), "__substg1.0_37010102": b"%PDF" * 2000,
        },
        "__attach_version1.0_#00000001": {lists: bytes(8), "__substg1.0_3701000D": older},
        **changed,
    })  # fmt: skip


def wide(text: str) -> bytes:
    return text.encode("utf-16-le")


def test_a_message_of_outlook_reads_as_others_do(reader: Reader, tmp_path: Path) -> None:
    parsed = written(reader, tmp_path, letter(), "letter.msg")
    assert (parsed.title, parsed.authors) == ("Fahrpläne für März", "Moss, Ada")
    assert parsed.pages[0].text == (
        'Fahrpläne für März\n\nFrom: "Moss, Ada" <ada@example.org>\nTo: Bo Lund <bo@example.org>\n'
        "Date: Mon, 02 Mar 2020 09:00:00 +0000\nAttachments: plan.pdf\n\n"
        "Dear Bo,\n\nthe boats go at four – always.\n\nOlder\n\nInner words."
    )
    assert parsed.notes == ("Attachments are not read: plan.pdf.",)
    tea = b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Tea\r\nDTSTART;VALUE=DATE:20260303\r\nEND:VEVENT\r\n"
    invitation = {"__substg1.0_3707001F": wide("tea.ics"), "__substg1.0_37010102": tea}
    invited = written(reader, tmp_path, letter(**{"__attach_version1.0_#00000000": invitation}), "letter.msg")
    assert "always.\n\nTea\n\nWhen: Tuesday 3 March 2026, all day\n\nOlder" in invited.pages[0].text
    assert not invited.notes
    page = {"__substg1.0_1000001F": b"", "__substg1.0_10130102": "<p>At <b>four</b>, für Bo.</p>".encode()}
    assert "At four, für Bo." in written(reader, tmp_path, letter(**page), "letter.msg").pages[0].text
    with pytest.raises(UnreadableDocument, match="no message"):
        written(reader, tmp_path, compound({"__substg1.0_0001001F": b"x"}), "letter.msg")


def test_rich_text_as_outlook_packs_it_is_unpacked() -> None:
    # The examples of MS-OXRTFCP, 4.1 and 4.2.
    packed = "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
    assert _unpacked(bytes.fromhex(packed), 1000) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    packed = "1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0"
    assert _unpacked(bytes.fromhex(packed), 1000) == b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}"
    assert _unpacked(bytes.fromhex(packed)[:-6], 1000).startswith(b"{\\rtf1 WXYZ")


def binary_workbook() -> bytes:
    """A workbook in Excel's binary form (MS-XLSB), of the records that make a sheet."""

    def record(kind: int, data: bytes = b"") -> bytes:
        number = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
        return number + bytes([len(data) & 0x7F | 0x80, len(data) >> 7]) + data

    def text(said: str) -> bytes:
        return struct.pack("<I", len(said)) + wide(said)

    rows = b""
    for number, row in enumerate((["County", "2022"], ["Aldshire", 1234.5])):
        rows += record(0, struct.pack("<IIHH3xII", number, 0, 300, 0, 0, 0)[:17].ljust(17, b"\0"))
        for column, cell in enumerate(row):
            place = struct.pack("<II", column, 0)
            rows += (
                record(6, place + text(cell)) if isinstance(cell, str) else record(5, place + struct.pack("<d", cell))
            )
    sheet = record(129) + record(148, struct.pack("<IIII", 0, 1, 0, 1)) + record(145) + rows + record(146) + record(130)
    listed = record(156, struct.pack("<II", 0, 1) + text("rId1") + text("Revenue"))
    book = record(131) + record(153, bytes(12)) + record(143) + listed + record(144) + record(132)
    space = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relation = f'<Relationship Id="rId1" Type="{space}/worksheet" Target="worksheets/sheet1.bin"/>'
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.bin", book)
        archive.writestr("xl/worksheets/sheet1.bin", sheet)
        head = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        archive.writestr("xl/_rels/workbook.bin.rels", f"{head}{relation}</Relationships>")
    return whole.getvalue()


def test_a_binary_workbook(reader: Reader, tmp_path: Path) -> None:
    data = binary_workbook()
    assert detect_bytes(data, "a") == base.XLSB
    assert written(reader, tmp_path, data, "a.xlsb").pages[0].text == "Revenue\n\nCounty\t2022\nAldshire\t1234.5"
    with pytest.raises(UnreadableDocument, match="damaged"):
        written(reader, tmp_path, data[:-30], "a.xlsb")
    lacking = written(reader, tmp_path, data.replace(b"sheet1.bin", b"sheet2.bin"), "a.xlsb")
    assert lacking.notes == (
        "The sheet “Revenue” could not be read whole: The file is damaged: a part of it makes no sense.",
    )
