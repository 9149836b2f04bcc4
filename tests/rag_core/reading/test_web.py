"""Web pages and parts of them: main text, tables whose cells reach over others, encodings, hostile nesting."""

from __future__ import annotations

import time
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import pytest

from rag_core.answering.passages import merge_hits
from rag_core.answering.tables.format_amount import said
from rag_core.answering.tables.tables import cells_of
from rag_core.domain import ParsedDocument
from rag_core.errors import LimitExceeded, UnreadableDocument
from rag_core.reading import Reader
from rag_core.reading.flowing import FlowDocument
from rag_core.settings import ReadingSettings
from tests.rag_core.answering.parts import hit

TABLE = """<table><caption>Fares in crowns</caption>
<thead><tr><th rowspan=2>Line</th><th colspan="2">2020</th><th colspan=2>2019</th></tr>
<tr><th>Adult</th><th>Child</th><th>Adult</th><th>Child</th></tr></thead>
<tr><td>Tolsund</td><td>12.40</td><td></td><td>11.10</td><td>5.50</td></tr>
<tr><td rowspan=2>Marn</td><td>8</td><td>4</td><td>7</td><td>3</td></tr>
<tr><td>9</td><td>5</td><td>6</td><td>2</td></tr>
</table>"""
ARTICLE = f"""<h1>Ferry fares</h1><p>The ferry company has set new fares for the coming year,<br>and they are
shown in the table for all of the lines that it runs.</p><h2>By line</h2>{TABLE}
<ul><li>Bicycles go <code>free</code> on Sundays.</li><li><p>Dogs pay half.</p></li></ul><ol><li>Book.</li>
<li>Board.</li></ol>
<img src="http://192.0.2.1/map.png" alt="A map of the lines"><img src="a.png" alt="a_1.png"><pre>if a:
    b()</pre><p style="display: none">Nobody sees this.</p><script>document.write("run")</script>"""
PAGE = f"""<!DOCTYPE html><html lang="en"><head><title>Ferry fares | Ferries</title>
<meta name="author" content="Ada Moss"><meta name="date" content="2021-05-04">
<link rel=stylesheet href="http://192.0.2.1/x.css"></head><body>
<nav><ul><li><a href="/a">Home</a><li><a href="/b">Timetables</a></ul></nav><main>{ARTICLE}</main>
<footer>Imprint and privacy</footer></body></html>"""


def given(reader: Reader, tmp_path: Path, source: str | bytes, name: str = "a.html") -> ParsedDocument:
    (tmp_path / "stored").write_bytes(source if isinstance(source, bytes) else source.encode())
    return reader.read(tmp_path / "stored", name)


@pytest.mark.parametrize("source", [PAGE, ARTICLE], ids=["page", "part"])
def test_the_main_text_with_headings_lists_and_tables(reader: Reader, tmp_path: Path, source: str) -> None:
    parsed = given(reader, tmp_path, source)
    text = parsed.pages[0].text
    assert text.startswith("Ferry fares\n\nThe ferry company")
    assert "• Bicycles go free on Sundays.\n• Dogs pay half." in text
    assert "if a:\n    b()" in text
    for absent in ("Home", "Imprint", "Nobody", "document.write"):
        assert absent not in text
    assert [(item.title, item.level) for item in parsed.sections] == [("Ferry fares", 1), ("By line", 2)]
    found = {cell.part.text: said(cell) for cell in cells_of(merge_hits([hit(text)])[0], 0)}
    assert found["12.40"] == "Tolsund, 2020 Adult: 12.40 crowns"
    assert found["5.50"] == "Tolsund, 2019 Child: 5.50 crowns"
    assert found["2"] == "Marn, 2019 Child: 2 crowns"


def test_a_page_says_its_title_author_and_pictures(reader: Reader, tmp_path: Path) -> None:
    parsed = given(reader, tmp_path, PAGE)
    assert (parsed.title, parsed.authors, parsed.language) == ("Ferry fares | Ferries", "Ada Moss", "en")
    assert parsed.year == 2021
    text = given(reader, tmp_path, ARTICLE).pages[0].text
    assert "[Picture: A map of the lines]" in text and text.count("[Picture") == 1
    assert "1. Book.\n2. Board." in text


def test_what_a_page_says_of_itself_stands_below_its_heading_unless_its_text_says_so(
    reader: Reader, tmp_path: Path
) -> None:
    said = "What the ferries to Marn and Tolsund cost from May on."
    page = PAGE.replace("<title>", f'<meta name="description" content="{said}"><title>')
    assert given(reader, tmp_path, page).pages[0].text.startswith(f"Ferry fares\n\n{said}\n\nThe ferry company")
    again = PAGE.replace("<title>", '<meta name="description" content="The ferry company has set new fares..."><title>')
    assert given(reader, tmp_path, again).pages[0].text.startswith("Ferry fares\n\nThe ferry company")


def test_bold_lines_are_headings_where_the_page_has_none(reader: Reader, tmp_path: Path) -> None:
    lines = (
        "<p><b>1. Term</b></p><p>Two years, <b>no more</b></p><div><span style='font-weight:700'>Notice</span></div>"
        "<p><strong>Both parties sign.</strong></p><p><b>Law:</b> Norway</p>"
    )
    assert [item.title for item in given(reader, tmp_path, lines).sections] == ["1. Term", "Notice"]
    assert [item.title for item in given(reader, tmp_path, f"<h2>Terms</h2>{lines}").sections] == ["Terms"]


def test_a_figures_caption_stands_above_its_table(reader: Reader, tmp_path: Path) -> None:
    table = "<table><tr><td>Adult<td>12.40</tr><tr><td>Child<td>6.20</tr></table>"
    text = given(reader, tmp_path, f"<p>Words.<figure>{table}<figcaption>Fares in crowns</figcaption></figure>After.")
    assert text.pages[0].text == "Words.\n\nFares in crowns\n\nAdult\t12.40\nChild\t6.20\n\nAfter."


def test_signs_with_cells_of_their_own_stand_with_their_figures(reader: Reader, tmp_path: Path) -> None:
    cells = "<tr><td>Sales</td><td>$</td><td>1,234</td><td>(5</td><td>)</td></tr>"
    head = "<tr><th colspan=5>Sales in <img src=x width=20 alt=icon>crowns</th></tr>"
    head += "<tr><td></td><td colspan=2>2020</td><td colspan=2>2019</td></tr>"
    assert given(reader, tmp_path, f"<table>{head}{cells}</table>").pages[0].text == (
        "Sales in crowns\n.\t2020\t2020\t2019\t2019\nSales\t\t$1,234\t(5)"
    )


def test_a_raised_mark_is_no_digit_of_its_figure(reader: Reader, tmp_path: Path) -> None:
    rows = "<tr><th>Line<th>2020<tr><td>Marn<td>12.40<sup><a href=#n>1</a></sup><tr><td>Bo<td>10<sup>6</sup></tr>"
    page = f"<p>It took 1,234<sup>2</sup> over 20 m<sup>2</sup>, the 5<sup>th</sup>.<table>{rows}</table>"
    text = given(reader, tmp_path, page).pages[0].text
    assert text == "It took 1,234² over 20 m², the 5th.\n\nLine\t2020\nMarn\t12.40[1]\nBo\t10⁶"
    assert [cell.figure.value for cell in cells_of(merge_hits([hit(text)])[0], 0)] == [12.4]


def test_the_declared_encoding_is_used(reader: Reader, tmp_path: Path) -> None:
    source = "<html><meta charset=windows-1251><p>Паром идёт в среду.</p>".encode("cp1251")
    assert given(reader, tmp_path, source).pages[0].text == "Паром идёт в среду."


@pytest.mark.slow
def test_a_million_nested_tags_and_a_long_line_are_read_or_refused_in_time(reader: Reader, tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(UnreadableDocument, match="nested"):
        given(reader, tmp_path, "<html>" + "<div>" * 1_000_000 + "deep")
    assert given(reader, tmp_path, "<html>" + "<nav><b>" * 900 + "deep").pages[0].text == "deep"
    assert len(given(reader, tmp_path, "<html>" + "word " * 4_000_000).pages[0].text) > 19_999_000
    assert time.monotonic() - began < 30
    with Reader(ReadingSettings(max_text_chars=1000)) as small, pytest.raises(LimitExceeded):
        given(small, tmp_path, "<html>" + "word " * 2000)


def test_headings_and_tables_stay_where_finding_the_main_text_would_flatten_them(
    reader: Reader, tmp_path: Path
) -> None:
    rows = "".join(f"<tr><td>Line {line}</td><td>{line}.40</td></tr>" for line in range(1, 9))
    lines = "".join(f"<p>Tickets of line {line} are sold on board and at the pier.</p>" for line in range(1, 9))
    page = f"<html><body><nav>Home</nav><h1>Fares</h1><h2>By line</h2><table>{rows}</table><h2>Sale</h2>{lines}"
    parsed = given(reader, tmp_path, page)
    assert [item.title for item in parsed.sections] == ["Fares", "By line", "Sale"]
    assert "Line 3\t3.40" in parsed.pages[0].text


def test_names_stand_in_one_line_with_their_values(reader: Reader, tmp_path: Path) -> None:
    page = "<dl><dt>Due <b>date</b>:</dt><dd>1 May 2024</dd><dt>Total<dd>EUR 55.00<dd>with tax<dt>Paid</dl>"
    assert given(reader, tmp_path, page).pages[0].text == (
        "Due date: 1 May 2024\n\nTotal: EUR 55.00\n\nwith tax\n\nPaid"
    )
    shut = "<dl><dt>What is a tern?<dd hidden>It is a bird.<dt style='display:none'>Say so.<dd>It is a ship.</dl>"
    assert given(reader, tmp_path, shut).pages[0].text == "What is a tern?\n\nIt is a ship."


def test_a_table_of_links_is_kept_beside_another(reader: Reader, tmp_path: Path) -> None:
    prose = "<p>The ferry company has set new fares for the year, and they are shown for all of its lines here.</p>" * 4
    rows = "".join(f"<tr><td><a href='/{line}'>Line {line}</a></td><td>{line}.40</td></tr>" for line in range(1, 30))
    first = (
        "<table><tr><td>Tolsund, the long line along the coast</td><td>12.40 crowns for each adult</td></tr></table>"
    )
    page = f"<html><body><nav>Home</nav><h1>Fares</h1>{prose}{first}{prose}<table>{rows}</table>{prose}"
    text = given(reader, tmp_path, page).pages[0].text
    assert "Line 29\t29.40" in text
    assert "Home" not in text


def test_a_short_page_keeps_its_paragraphs(reader: Reader, tmp_path: Path) -> None:
    short = "<html><body><nav>Home About</nav><h1>Weighbridge</h1><p>It is open until 15:00.</p></body></html>"
    assert given(reader, tmp_path, short).pages[0].text == "Weighbridge\n\nIt is open until 15:00."


NESTED = "div p ol ul li table tr td section details pre b option dl dt dd span sup figure select form h2"
HIDING = ("", "", "hidden", "style='display:none'", "style='visibility: hidden'", "style='font-size:0'")
ELEMENTS = st.recursive(
    st.sampled_from(("word", "12.40", "two  words", "<br>", "<img alt='a boat'>", "")),
    lambda inner: st.builds(
        lambda tag, how, parts: f"<{tag} {how}>{'secret ' if how else ''}{''.join(parts)}</{tag}>",
        st.sampled_from(NESTED.split()), st.sampled_from(HIDING), st.lists(inner, max_size=4),
    ),
    max_leaves=20,
)  # fmt: skip


@hypothesis.settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(st.lists(ELEMENTS, min_size=1, max_size=4))
def test_hidden_elements_anywhere_cost_their_text_alone(tmp_path: Path, parts: list[str]) -> None:
    (tmp_path / "stored").write_text(f"<html><body>{''.join(parts)}<div>The \n end.</div></body></html>")
    read = FlowDocument("rag_core.reading.flowing.web", tmp_path / "stored", None, 100_000)
    read.prepare(lambda: None)
    text = "\n\n".join(read.pages)
    assert text.endswith("The end.")
    assert "secret" not in text
    assert not any("could not be read" in note for note in read.details().notes)


def test_a_hidden_list_table_or_row_is_no_damage(reader: Reader, tmp_path: Path) -> None:
    page = (
        "<p>One.</p><ol hidden><li>No.</ol><pre style='display:none'>No\n no</pre><b hidden>No</b>"
        "<table hidden><tr><td>a<td>b</table><ul style='display: none'><li>No<li>no</ul>"
        "<table><tr><th>Hive<th>Price<tr hidden><td>Old<td>1<tbody style='display:none'><tr><td>Older<td>2"
        "<tbody><tr><td>New<td>210</table><details hidden=until-found><p>Folded.</details><ol><li>Two.\n  Three.</ol>"
    )
    text = given(reader, tmp_path, f"<html><body>{page}").pages[0].text
    assert text == "One.\n\nHive\tPrice\nNew\t210\n\nFolded.\n\n1. Two. Three."


def test_what_a_page_names_as_no_text_of_it_is_taken_off(reader: Reader, tmp_path: Path) -> None:
    links = "".join(f"<li><a href='/{name}'>{name}</a></li>" for name in ("Home", "About", "Shop"))
    prose = "<p>This bread needs 400 g of oats, an egg and a pinch of salt. It is baked for half an hour.</p>" * 3
    page = (
        "<!DOCTYPE html><html><body><a class=skip href='#c'>Skip to content</a>"
        "<div id=cookie-banner><p>We use cookies.</p></div>"
        f"<div class='main-menu'><ul>{links}</ul></div><div id=c><h2>Oat bread</h2>{prose}"
        "<div class=menu><p>Soup 4.20</p><p>Pie <a href='/pie'>6.80</a></p></div>"
        "<p>See <a href='#more'>more</a>.</p></div></body></html>"
    )
    text = given(reader, tmp_path, page).pages[0].text
    assert text.startswith("Oat bread\n\nThis bread")
    assert text.endswith("Soup 4.20\n\nPie 6.80\n\nSee more.")
    law = "<!DOCTYPE html><html><body><p>Of cookies</p><div class=cookie-policy><p>We keep one for a day.</p></div>"
    assert given(reader, tmp_path, law).pages[0].text == "Of cookies\n\nWe keep one for a day."
