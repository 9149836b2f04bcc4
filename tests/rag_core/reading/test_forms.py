"""What was filled into a form, or written onto a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pypdf import PdfWriter
from pypdf.annotations import FreeText, Highlight, Text
from pypdf.generic import ArrayObject, FloatObject, NameObject, NumberObject, TextStringObject
from reportlab.pdfgen.canvas import Canvas

from rag_core.reading import Reader

PDF = "application/pdf"


def _form(canvas: Canvas) -> None:
    form = canvas.acroForm
    canvas.drawString(40, 500, "Full name:")
    form.textfield(name="name", tooltip="Full name", value="Jane Döe", x=140, y=490, width=150, height=20)
    canvas.drawString(40, 460, "Member")
    form.checkbox(name="member", checked=True, x=140, y=455)
    canvas.drawString(40, 420, "Partner")
    form.checkbox(name="partner", checked=False, x=140, y=415)
    canvas.drawString(40, 380, "Colour")
    form.choice(name="colour", value="Red", options=["Red", "Blue"], x=140, y=370, width=100, height=20)
    canvas.drawString(40, 340, "A line between")
    form.textfield(name="remarks", tooltip="Remarks", value="Window seat", x=40, y=100, width=150, height=20)
    form.textfield(name="empty", tooltip="Empty", x=40, y=60, width=150, height=20)


def test_values_of_a_form_are_text_of_its_page(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    path = make_pdf(_form)
    page = reader.read(path, "form.pdf").pages[0]
    found = [page.text[line.start : line.end].strip() for line in page.lines]
    assert found == [
        "Full name:\tJane Döe", "Member\tyes", "Partner", "Colour\tRed", "A line between", "Remarks: Window seat",
    ]  # fmt: skip
    assert [page.text[cell.start : cell.end] for cell in page.lines[0].cells] == ["Full name:", "Jane Döe"]


def test_values_and_the_words_behind_them_are_marked(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    path = make_pdf(_form)
    page = reader.read(path, "form.pdf").pages[0]

    def marked(words: str) -> tuple[float, ...]:
        start = page.text.index(words)
        span = (start, start + len(words))
        (box,) = reader.page_boxes(path, PDF, 1, [span], text=page.text)[0]
        return round(box.left * 400), round((1 - box.bottom) * 600)

    assert marked("Jane Döe") == (140, 490)
    assert marked("A line between")[0] == 40
    assert 335 < marked("A line between")[1] < 342
    assert marked("Window seat") == (40, 100)


def test_what_was_typed_onto_a_page_is_its_text_and_a_scan_stays_one(
    reader: Reader, make_pdf: Callable[..., Path], rewrite: Callable[..., Path], picture_page: Callable[[Canvas], None]
) -> None:
    typed = FreeText(text="Ada Moss", rect=(140, 490, 300, 515))
    unseen = FreeText(text="Nobody sees this", rect=(140, 390, 300, 415))
    unseen[NameObject("/F")] = NumberObject(2)
    long = FreeText(text="Typed onto a scan. " * 20, rect=(40, 390, 300, 415))

    def type_in(writer: PdfWriter) -> None:
        writer.add_annotation(0, typed)
        writer.add_annotation(0, unseen)
        writer.add_annotation(1, long)

    path = rewrite(make_pdf(lambda canvas: canvas.drawString(40, 500, "Full name:"), picture_page), type_in)
    parsed = reader.read(path, "typed.pdf", recognised={})
    assert parsed.pages[0].text.strip() == "Full name:\tAda Moss"
    assert parsed.pages[1].text.strip().startswith("Typed onto a scan.")
    assert parsed.to_recognise == (2,)


def test_comments_are_read_with_who_wrote_them_and_the_line_beside_them(
    reader: Reader, make_pdf: Callable[..., Path], rewrite: Callable[..., Path]
) -> None:
    def plan(canvas: Canvas) -> None:
        canvas.drawString(40, 500, "The island is 2.40 m long.")
        canvas.drawString(40, 400, "The sink is below the window.")

    def mark(height: float, said: str) -> Highlight:
        corners = ArrayObject(map(FloatObject, (40, height + 12, 200, height + 12, 40, height - 3, 200, height - 3)))
        made = Highlight(rect=(40, height - 3, 200, height + 12), quad_points=corners)
        made[NameObject("/Contents")] = TextStringObject(said)
        return made

    def write(writer: PdfWriter) -> None:
        note = Text(rect=(300, 495, 318, 513), text="shrink to 2.10\nor 2.20", title_bar="Ines")
        unseen = Text(rect=(300, 395, 318, 413), text="Nobody sees this")
        unseen[NameObject("/F")] = NumberObject(2)
        for made in (note, unseen, mark(400, "moved"), mark(500, "The island is 2.40 m")):
            writer.add_annotation(0, made)

    path = rewrite(make_pdf(plan), write)
    page = reader.read(path, "plan.pdf").pages[0]
    assert [page.text[line.start : line.end].strip() for line in page.lines] == [
        "The island is 2.40 m long.", "The sink is below the window.",
        "Comment by Ines on “The island is 2.40 m long.”: shrink to 2.10 or 2.20",
        "Comment on “The sink is below the window.”: moved",
    ]  # fmt: skip
    start = page.text.index("Comment by Ines")
    (box,) = reader.page_boxes(path, PDF, 1, [(start, start + 7)], text=page.text)[0]
    assert (round(box.left * 400), round((1 - box.bottom) * 600)) == (300, 495)


def test_a_note_typed_into_the_margin_cuts_no_sentence(
    reader: Reader, make_pdf: Callable[..., Path], rewrite: Callable[..., Path]
) -> None:
    def prose(canvas: Canvas) -> None:
        for place, line in enumerate(
            ("The net made 67 test errors where a smaller", "net made 146 of them and the smallest one 300.")
        ):
            canvas.drawString(40, 500 - 14 * place, line)

    def write(writer: PdfWriter) -> None:
        writer.add_annotation(0, FreeText(text="Large was better", rect=(320, 495, 390, 513)))

    page = reader.read(rewrite(make_pdf(prose), write), "noted.pdf").pages[0]
    assert [page.text[line.start : line.end].strip() for line in page.lines] == [
        "The net made 67 test errors where a smaller", "net made 146 of them and the smallest one 300.",
        "Comment on “The net made 67 test errors where a smaller”: Large was better",
    ]  # fmt: skip
