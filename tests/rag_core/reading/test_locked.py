"""Office files with a password, made by the same cipher as Office's (agile encryption)."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from docx import Document
from msoffcrypto.format.ooxml import OOXMLFile
from openpyxl import Workbook
from pptx import Presentation

from rag_core.errors import EncryptedDocument
from rag_core.reading import Reader


def a_letter(file: BytesIO) -> None:
    document = Document()
    document.add_paragraph("The ferry to Tolsund costs four crowns.")
    document.save(file)


def a_sheet(file: BytesIO) -> None:
    workbook = Workbook()
    workbook.active.append(["Tolsund", "four crowns"])
    workbook.save(file)


def a_talk(file: BytesIO) -> None:
    slides = Presentation()
    slides.slides.add_slide(slides.slide_layouts[5]).shapes.title.text = "Tolsund: four crowns"
    slides.save(file)


def locked(path: Path, write: Callable[[BytesIO], None], password: str) -> Path:
    plain = BytesIO()
    write(plain)
    with path.open("wb") as file:
        OOXMLFile(plain).encrypt(password, file)
    return path


@pytest.mark.parametrize(("name", "write"), [("a.docx", a_letter), ("a.xlsx", a_sheet), ("a.pptx", a_talk)])
def test_a_password_is_asked_for_and_checked(
    reader: Reader, tmp_path: Path, name: str, write: Callable[[BytesIO], None]
) -> None:
    path = locked(tmp_path / name, write, "geheim")
    with pytest.raises(EncryptedDocument) as asked:
        reader.read(path, name)
    assert not asked.value.wrong_password
    with pytest.raises(EncryptedDocument) as wrong:
        reader.read(path, name, password="guess")
    assert wrong.value.wrong_password
    parsed = reader.read(path, name, password="geheim")
    assert "four crowns" in parsed.pages[0].text
    assert parsed.notes == ()


def test_what_everybody_may_read_asks_for_nothing(reader: Reader, tmp_path: Path) -> None:
    path = locked(tmp_path / "a.xlsx", a_sheet, "VelvetSweatshop")
    assert "four crowns" in reader.read(path, "a.xlsx").pages[0].text
