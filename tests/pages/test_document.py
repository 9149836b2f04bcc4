"""What stands beside a document's page: text, chunks and what was made of them, outline, tables, notes."""

from __future__ import annotations

from dataclasses import replace

from pages.parts import chunk_list, document, document_table, filtering, naming, page_text, reading
from rag_core.domain import Chunk, ChunkEdit, DocumentCard, HiddenText, Page, Section
from rag_core.reading import base
from tests.pages.conftest import FakeLibrary, a_document
from tests.pages.test_pages import draw, said

CHUNK = Chunk("bridges.txt", 0, 1, 0, 26, "Bridges are made of steel.", "")


def test_each_view_is_drawn(library: FakeLibrary) -> None:
    library.held = [a_document(media_type="application/pdf", sections=(Section("Steel", 2, 2), Section("Rust", 3, 2)))]
    library.cut = [CHUNK]
    library.edits = [ChunkEdit("bridges.txt", 2, 0, 9, "", "As read", "As read", True, False)]
    test = draw("upload", d="bridges.txt")
    assert document.views(library.held[0]) == list(document.VIEWS)
    for name in document.VIEWS:
        test.session_state["upload_view"] = name
        assert not test.run().exception
    assert "see Passages" in said(test)
    assert document.views(a_document()) == [name for name in document.VIEWS if name != "Text"]


def test_a_document_opened_at_a_passage_is_drawn_in_every_language(library: FakeLibrary) -> None:
    library.held, library.cut = [a_document()], [CHUNK]
    test = draw("upload")
    test.query_params["d"] = "bridges.txt"
    test.session_state["language"], test.session_state["upload_marked"] = "de", 0
    assert not test.run().exception
    (views,) = [group for group in test.button_group if group.key == "upload_view"]
    assert views.value == "Passages"


def test_what_people_write_say_and_reckon_with_has_a_kind_by_its_name() -> None:
    kinds = {
        "Word document": (base.DOCX, base.DOC),
        "Sheet": (base.XLSX, base.XLSB, base.XLS, base.ODS, base.CSV),
        "Slides": (base.PPTX, base.PPT, base.ODP),
        "Mail": (base.MAIL, base.MSG),
        "Recording": (base.MP3, base.MP4),
        "Text document": (base.ODT, base.RTF),
    }
    for kind, types in kinds.items():
        assert {filtering.kind_of(a_document(media_type=one)) for one in types} == {kind}


def test_chunks_tell_what_was_made_of_them() -> None:
    edit = ChunkEdit("bridges.txt", 1, 0, 26, "", "Bridges are mode.", "Bridges are made of steel.", False, True)
    row = chunk_list._row(replace(CHUNK, corrected=True, hidden=True), edit)
    assert (row["original"], [mark[0] for mark in row["marks"]]) == (edit.original, ["corrected", "hidden text"])
    out = chunk_list._left_out(replace(edit, left_out=True))
    assert (out["index"], out["undo"], out["place"]) == (None, "Bring back", ("bridges.txt", 1, 0, 26))
    assert chunk_list._astray(edit, "p. 1")["head"] == "Correction, p. 1"


def test_lines_say_what_is_hidden_and_what_is_in_no_chunk() -> None:
    tags = "".join(chr(0xE0000 + ord(letter)) for letter in "hi")
    page = Page(1, f"Title\n\nText {tags} end\n7", body=(7, 18), hidden=(HiddenText(12, 14, "tag characters"),))
    title, gap, text, number = reading._lines(page, a_document(), (7, 18))
    assert title["outside"] and number["outside"] and gap == {"gap": True}
    assert text["parts"] == [("Text ", "", ""), ("hi", "tag characters", ""), (" end", "", "")]
    assert (text["on"], text["outside"]) == (True, False)


def test_documents_are_narrowed_by_kind_and_folder_and_sorted(library: FakeLibrary) -> None:
    library.held = [
        a_document(f"{name}/{n}.txt", media_type="application/pdf" if n % 2 else "text/plain", page_count=n)
        for n, name in enumerate("aabbccdd")
    ]
    test = draw("upload")
    assert [box.value for box in test.selectbox] == ["All kinds", "All folders"]
    assert [box.value for box in draw("upload", kind="PDF").selectbox] == ["PDF", "All folders"]
    test.selectbox(key="upload_filter_folder").select("b").run()
    test.session_state["upload_order"] = ("pages", True)
    test.run()
    assert not test.exception
    found = [one for one in library.held if filtering.folders_of(one) == {"b"}]
    assert [filtering.kind_of(one) for one in found] == ["Text", "PDF"]
    web = a_document(sources=("https://example.org/a/b",))
    assert filtering.folders_of(web) == {"example.org"}
    assert document_table.row(web)["sort"] == {"pages": 3, "state": "ready"}


def test_a_section_stands_as_deep_as_there_are_sections_above_it() -> None:
    levels = (3, 2, 1, 4, 4, 2, 3, 1)
    sections = [Section(str(number), level, 1) for number, level in enumerate(levels)]
    assert page_text.outline_levels(sections) == [1, 1, 1, 2, 2, 2, 3, 1]


def test_who_published_a_document_is_said_once() -> None:
    titled = a_document(title="Apple Inc. 10-K", card=DocumentCard("Apple Inc. 10-K", "Apple Inc."))
    assert naming.organisation(titled) == ""
    assert naming.organisation(replace(titled, title="Annual report")) == "Apple Inc."
    assert naming.organisation(a_document()) == ""
