"""Mail, notebooks, rich text, OpenDocument, and source code as text."""

from __future__ import annotations

import json
from email.message import EmailMessage
from pathlib import Path

import pytest

from rag_core.answering.passages import merge_hits
from rag_core.answering.tables.format_amount import said
from rag_core.answering.tables.tables import cells_of
from rag_core.domain import ParsedDocument
from rag_core.errors import UnsupportedDocument
from rag_core.reading import Reader
from rag_core.text.sentences import split_sentences
from tests.rag_core.answering.parts import hit
from tests.rag_core.reading.test_book import packed

SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name if name != "draw" else "drawing"}:1.0"'
    for name in ("office", "text", "table", "draw", "presentation", "meta")
)


def figures(text: str) -> dict[str, str]:
    return {cell.part.text: said(cell) for cell in cells_of(merge_hits([hit(text)])[0], 0)}


def written(reader: Reader, tmp_path: Path, data: bytes, name: str) -> ParsedDocument:
    (tmp_path / "stored").write_bytes(data)
    return reader.read(tmp_path / "stored", name)


def test_a_message_with_its_headers_and_what_is_attached(reader: Reader, tmp_path: Path) -> None:
    message = EmailMessage()
    message["From"], message["To"] = "Ada Moss <ada@example.org>", "bo@example.org"
    message["Subject"], message["Date"] = "Fahrpläne für März", "Mon, 02 Mar 2020 10:00:00 +0100"
    message.set_content("Dear Bo,\n\nthe boats go at four – always.\n")
    message.add_alternative("<p>The <b>other</b> form</p>", subtype="html")
    message.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="plan.pdf")
    parsed = written(reader, tmp_path, message.as_bytes(), "a.eml")
    assert (parsed.title, parsed.authors) == ("Fahrpläne für März", "Ada Moss")
    assert parsed.pages[0].text == (
        "Fahrpläne für März\n\nFrom: Ada Moss <ada@example.org>\nTo: bo@example.org\n"
        "Date: Mon, 02 Mar 2020 10:00:00 +0100\nAttachments: plan.pdf\n\nDear Bo,\n\nthe boats go at four – always."
    )
    assert parsed.notes == ("Attachments are not read: plan.pdf.",)


def test_a_message_in_html_or_in_an_unknown_encoding(reader: Reader, tmp_path: Path) -> None:
    head = b"Subject: Tea\r\nContent-Type: text/%s; charset=%s\r\n\r\n"
    assert (
        written(reader, tmp_path, head % (b"html", b"utf-8") + b"<p>At <b>four</b>.</p>", "a.eml")
        .pages[0]
        .text.endswith("At four.")
    )
    for plain in (head % (b"plain", b"x-none"), b"Subject: Tea\r\n\r\n"):
        assert written(reader, tmp_path, plain + "für".encode(), "a.eml").pages[0].text.endswith("für")


def test_a_message_without_plain_text_and_one_that_is_forwarded(reader: Reader, tmp_path: Path) -> None:
    message, inner = EmailMessage(), EmailMessage()
    inner["From"], inner["Subject"] = "bo@example.org", "The boats"
    inner.set_content("They go at four.")
    message["From"], message["Subject"] = "ada@example.org", "Fwd: The boats"
    message.set_content(" \n")
    message.add_alternative("<p>Bo says <b>when</b>:</p>", subtype="html")
    message.add_attachment(inner)
    for name in ("a.eml", "a.mhtml"):
        parsed = written(reader, tmp_path, message.as_bytes(), name)
        assert parsed.pages[0].text == (
            "Fwd: The boats\n\nFrom: ada@example.org\n\nBo says when:\n\n"
            "The boats\n\nFrom: bo@example.org\n\nThey go at four."
        )
        assert not parsed.notes
    message.replace_header("From", "<Saved by Blink>")
    saved = written(reader, tmp_path, message.as_bytes(), "a.mhtml")
    assert (saved.authors, "Blink" in saved.pages[0].text) == ("", False)
    page = b"From: <Saved by Blink>\nSubject: The lift\nContent-Type: text/html\n\n<h1>The lift</h1><p>It goes up.</p>"
    assert written(reader, tmp_path, page, "a.mhtml").pages[0].text == "The lift\n\nIt goes up."


def test_a_message_that_is_nothing_but_another_one_is_read(reader: Reader, tmp_path: Path) -> None:
    inner = b"From: bo@example.org\nSubject: The boats\n\nThey go at four.\n"
    outer = b"From: ada@example.org\nSubject: Fwd\nContent-Type: message/rfc822\n\n"
    parsed = written(reader, tmp_path, outer + inner, "a.eml")
    assert parsed.pages[0].text.endswith("The boats\n\nFrom: bo@example.org\n\nThey go at four.")


def test_messages_that_are_forwarded_too_deeply_are_told_of(reader: Reader, tmp_path: Path) -> None:
    message = EmailMessage()
    message.set_content("The first of all.")
    for number in range(6):
        outer = EmailMessage()
        outer["From"], outer["Subject"] = "bo@example.org", f"Fwd {number}"
        outer.set_content("See below.")
        outer.add_attachment(message)
        message = outer
    parsed = written(reader, tmp_path, message.as_bytes(), "a.eml")
    assert (parsed.pages[0].text.count("See below."), "first of all" in parsed.pages[0].text) == (4, False)
    assert parsed.notes == ("A message that is forwarded within 4 others is not read.",)


def test_a_notebook_with_texts_code_and_printed_tables(reader: Reader, tmp_path: Path) -> None:
    table = "<table><tr><th></th><th>fare</th></tr><tr><th>Tolsund</th><td>12.4</td></tr></table>"
    cells = [
        {
            "cell_type": "markdown",
            "source": ["# Fares\n", "\n", "Means by *line*.\n", "\n", "Lines\n", "---\n", "All."],
        },
        {
            "cell_type": "code",
            "source": "frame.mean()",
            "outputs": [{"data": {"text/plain": ["x"], "text/html": [table], "image/png": "aaaa"}}],
        },
        {"cell_type": "code", "source": "", "outputs": [{"output_type": "stream", "text": ["\x1b[31mdone\x1b[0m"]}]},
    ]
    parsed = written(reader, tmp_path, json.dumps({"cells": cells, "metadata": {}}).encode(), "fares.ipynb")
    assert parsed.pages[0].text == (
        "Fares\n\nMeans by *line*.\n\nLines\n\nAll.\n\nframe.mean()\n\n.\tfare\nTolsund\t12.4\n\ndone"
    )
    assert [(item.title, item.level) for item in parsed.sections] == [("Fares", 1), ("Lines", 2)]


def test_rich_text_with_a_table(reader: Reader, tmp_path: Path) -> None:
    rows = "".join(
        rf"\trowd\cellx1000\cellx2000 {a}\cell {b}\cell\row" + "\n"
        for a, b in (("Line", "2020"), ("Tolsund", "12.40"), ("Marn", "8.00"))
    )
    source = (
        r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}\b Gr\'fc\'dfe\b0  aus \u1071?lta.\par Next.\par " + rows + "}"
    )
    text = written(reader, tmp_path, source.encode("ascii"), "a.rtf").pages[0].text
    assert text.startswith("Grüße aus Яlta.\n\nNext.\n\nLine\t2020\nTolsund\t12.40")
    assert figures(text)["8.00"] == "Marn, 2020: 8.00"


def test_rich_text_has_its_bold_lines_for_headings_and_its_pages(reader: Reader, tmp_path: Path) -> None:
    source = (
        r"{\rtf1\uc0{\info{\title The \u322? boats}}{\stylesheet{\s1\b Heading;}}{\b Fares}\par All \b lines\b0  are"
        r" here.\par\page\pard\plain\b\fs28 Dogs\par\pard\plain They pay \{half\}.\par Cats do not.\par}"
    )
    parsed = written(reader, tmp_path, source.encode("ascii"), "a.rtf")
    assert [page.text for page in parsed.pages] == [
        "Fares\n\nAll lines are here.", "Dogs\n\nThey pay {half}.\n\nCats do not.",
    ]  # fmt: skip
    assert [(item.title, item.page) for item in parsed.sections] == [("Fares", 1), ("Dogs", 2)]
    assert parsed.title == "The ł boats"
    odd = written(reader, tmp_path, rb"{\rtf1\uc0 One \u1114112 \u-99999 \u-9999999999 two\par}", "a.rtf")
    assert odd.pages[0].text == "One \ufffd\ufffd\ufffdtwo"
    bold = written(reader, tmp_path, rb"{\rtf1\b Fares\par All lines\par Are here.\par}", "a.rtf")
    assert not bold.sections


RICH = r"""{\rtf1\ansi\ansicpg1250{\fonttbl{\f0\fcharset238 Arial;}{\f1\fcharset78 Osaka;}}
{\info{\author \'8aárka Moss}}
{\header\pard Society of ferries\par}{\footerf\pard Page 1\par}{\*\ftnsep\chftnsep}
\pard\f0 The ferry began in 1911.{\super\chftn{\footnote\pard{\super\chftn} The first captain was \'8aimon.}}
 It goes.\par
It was sold.{\*\atnid AM}{\*\atnauthor Ada Moss}\chatn{\*\annotation{\*\atnref 1}\pard For two crowns,\par I heard.}\par
{\shpgrp{\*\shpinst{\shp{\*\shpinst{\sp{\sn a}{\sv 2}}{\shptxt\pard It had 32 seats.\par}}}}{\shprslt{\pict ab}}}
{\do{\dptxbxtext\pard And a bell.\par}}\pard {\f1\'8a\'43}\par
\trowd\cellx1\cellx2\intbl Part\cell Wood\cell\row\trowd\cellx1\cellx2\pard\intbl Mast\par and boom\cell oak | pine{\*
\footnote{\super\chftn} Mostly pine.}\cell\trowd\cellx1\cellx2\row\pard Sums: 1 | 2 |\par}"""


def test_what_stands_beside_rich_text_is_read(reader: Reader, tmp_path: Path) -> None:
    parsed = written(reader, tmp_path, RICH.encode("cp1250"), "a.rtf")
    assert parsed.authors == "Šárka Moss"
    assert parsed.pages[0].text.split("\n\n") == [
        "The ferry began in 1911.[1] It goes.", "It was sold.", "Comment by Ada Moss: For two crowns, I heard.",
        "海", "It had 32 seats.", "And a bell.",
        "Part\tWood\nMast and boom\toak | pine[2]", "Sums: 1 | 2 |",
        "Header: Society of ferries", "[1] The first captain was Šimon.", "[2] Mostly pine.",
    ]  # fmt: skip


def test_a_stroke_is_of_its_cell_where_tabs_set_cells_apart() -> None:
    text = "Part\tWood\tPrice\nMast\toak | pine\t19.50\nBoom\tash\t12.00"
    assert figures(text)["19.50"] == "Mast oak | pine, Price: 19.50"
    assert "Mast\u2003oak | pine\u200319.50" in [span.text for span in split_sentences(text)]


def test_opendocument_text(reader: Reader, tmp_path: Path) -> None:
    body = """<office:text><text:tracked-changes><text:p>taken back</text:p></text:tracked-changes>
<text:h text:outline-level="2">Fares</text:h><text:p>All<text:s text:c="2"/>lines<text:note><text:note-citation>1
</text:note-citation><text:note-body><text:p>In spring.</text:p></text:note-body></text:note> are here.</text:p>
<text:list><text:list-item><text:p>Dogs pay half.</text:p></text:list-item></text:list><table:table>
<table:table-header-rows><table:table-row><table:table-cell/><table:table-cell table:number-columns-spanned="2">
<text:p>2020</text:p></table:table-cell><table:covered-table-cell/></table:table-row></table:table-header-rows>
<table:table-row><table:table-cell><text:p>Tolsund</text:p></table:table-cell><table:table-cell
table:number-columns-repeated="2"><text:p>12.40</text:p></table:table-cell></table:table-row></table:table>
<text:p><text:soft-page-break/>Last.</text:p></office:text>""".replace("1\n<", "1<")
    meta = f"<office:document-meta {SPACES}><office:meta><meta:initial-creator>Ada</meta:initial-creator></office:meta>"
    files = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": f"<office:document-content {SPACES}><office:body>{body}</office:body></office:document-content>",
        "meta.xml": f"{meta}</office:document-meta>",
    }
    parsed = reader.read(packed(tmp_path / "stored", files), "fares.odt")
    assert parsed.pages[0].text == (
        "Fares\n\nAll  lines[1] are here.\n\n• Dogs pay half.\n\n.\t2020\t2020\nTolsund\t12.40\t12.40\n\n"
        "Last.\n\n[1] In spring."
    )
    assert parsed.authors == "Ada"
    cut = files["content.xml"].partition("Last.")[0]
    damaged = reader.read(packed(tmp_path / "stored", files | {"content.xml": cut, "meta.xml": "<"}), "fares.odt")
    assert damaged.pages[0].text.startswith("Fares\n\nAll  lines[1] are here.")
    assert "damaged" in damaged.notes[0]
    locked = files | {"META-INF/manifest.xml": "<manifest:encryption-data/>", "content.xml": "\x07"}
    with pytest.raises(UnsupportedDocument, match="password"):
        reader.read(packed(tmp_path / "stored", locked), "fares.odt")


def test_opendocument_text_has_its_bold_lines_for_headings_and_its_pages(reader: Reader, tmp_path: Path) -> None:
    spaces = SPACES + "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{space}:1.0"'
        for name, space in (("style", "style"), ("fo", "xsl-fo-compatible"), ("svg", "svg-compatible"))
    )
    styles = """<style:style style:name="B"><style:text-properties fo:font-weight="bold"/></style:style>
<style:style style:name="P"><style:paragraph-properties fo:break-before="page"/></style:style>"""
    body = """<text:p text:style-name="P"><text:span text:style-name="B">Fares</text:span></text:p>
<text:p>All <text:span text:style-name="B">lines</text:span>.<draw:frame><svg:title>A boat</svg:title
><svg:desc>A boat at the pier</svg:desc></draw:frame>
</text:p><text:p text:style-name="P">They pay half.</text:p><text:p text:style-name="B">Dogs</text:p>
<text:p text:style-name="B">Cats</text:p>
<text:list><text:list-item><text:p>None.</text:p></text:list-item></text:list>"""
    content = f"""<office:document-content {spaces}><office:automatic-styles>{styles}</office:automatic-styles>
<office:body><office:text>{body}</office:text></office:body></office:document-content>"""
    files = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content}
    parsed = reader.read(packed(tmp_path / "stored", files), "fares.odt")
    assert [page.text for page in parsed.pages] == [
        "Fares\n\nAll lines. [Picture: A boat at the pier]",
        "They pay half.\n\nDogs\n\nCats\n\n• None.",
    ]
    assert [(item.title, item.page) for item in parsed.sections] == [("Fares", 1), ("Dogs", 2), ("Cats", 2)]
    assert parsed.title == "fares"


def test_comments_shapes_and_letterheads_of_opendocument_files(reader: Reader, tmp_path: Path) -> None:
    spaces = f'{SPACES} xmlns:dc="http://purl.org/dc/elements/1.1/"'
    spaces += ' xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"'
    note = "<office:annotation><dc:creator>Ada</dc:creator><text:p>Ask</text:p><text:p>Bo.</text:p></office:annotation>"
    cell = "<table:table-cell>{}<text:p>{}</text:p></table:table-cell>"
    shapes = "<table:shapes><draw:frame><text:p>In a box</text:p></draw:frame></table:shapes>"
    row = f"<table:table-row>{cell.format('', 'Rent')}{cell.format(note, '900')}</table:table-row>"
    heads = "<style:header><text:p>Society of the ferries</text:p></style:header>"
    heads += "<style:footer><text:p>1</text:p></style:footer>"
    for kind, body, expected in (
        ("text", f"<text:p>It costs {note}900.</text:p>", "It costs 900.\n\nComment by Ada: Ask Bo."),
        ("spreadsheet", f"<table:table>{shapes}{row}</table:table>",
         "Rent\t900\n\nComment by Ada on “Rent, 900”: Ask Bo.\n\nIn a box"),
        ("presentation", f"<draw:page><draw:frame><text:p>Two boats</text:p></draw:frame>{note}</draw:page>",
         "Two boats\n\nComment by Ada: Ask Bo."),
    ):  # fmt: skip
        content = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
        files = {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {spaces}>{content}</office:document-content>",
            "styles.xml": f"<office:document-styles {spaces}>{heads}</office:document-styles>",
        }
        text = reader.read(packed(tmp_path / "stored", files), "a").pages[0].text
        assert text == f"{expected}\n\nHeader: Society of the ferries"


def test_opendocument_sheets_and_slides(reader: Reader, tmp_path: Path) -> None:
    row = '<table:table-row table:number-rows-repeated="{}">{}</table:table-row>'
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    empty = '<table:table-cell table:number-columns-repeated="16000"/>'
    sheet = row.format(1, cell.format("Item") + cell.format("Cost")) + row.format(
        2, cell.format("Rent") + cell.format(5)
    )
    sheets = f'<table:table table:name="Costs">{sheet}{row.format(1048576, empty)}</table:table>' * 2
    frame = "<draw:frame{}><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"
    title = frame.format(' presentation:class="title"', "Plans")
    slide = f"<draw:page>{title}{frame.format('', 'Two boats')}</draw:page>"
    for kind, element, body, expected in (
        ("spreadsheet", "spreadsheet", sheets, ["Costs\n\nItem\tCost\nRent\t5\nRent\t5"] * 2),
        ("presentation", "presentation", slide * 2, ["Plans\n\nTwo boats"] * 2),
    ):
        content = f"<office:body><office:{element}>{body}</office:{element}></office:body>"
        files = {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {SPACES}>{content}</office:document-content>",
        }
        parsed = reader.read(packed(tmp_path / "stored", files), "no suffix")
        assert [page.text for page in parsed.pages] == expected
    assert [(item.title, item.level, item.page) for item in parsed.sections] == [("Plans", 1, 1), ("Plans", 2, 2)]


def test_subtitles_are_what_is_said_under_their_minutes(reader: Reader, tmp_path: Path) -> None:
    cues = (
        ("00:57.000 --> 00:59.000", "<v Ada>The <i>boats</i>\nto Marn"),
        ("01:01.000 --> 01:03.000", "to Marn\ngo at four."),
        ("01:04.000 --> 01:06.000", "Dogs pay half."), ("01:00:02.000 --> 01:00:03.000", "The end."),
    )  # fmt: skip
    expected = "0:00:00\n\nAda: The boats to Marn go at four.\n\n0:01:00\n\nDogs pay half.\n\n1:00:00\n\nThe end."
    vtt = "WEBVTT\n\nNOTE not said\n\n" + "\n\n".join(f"{time} align:start\n{text}" for time, text in cues)
    srt = "\n\n".join(f"{at}\n{time.replace('.', ',')}\n{text}" for at, (time, text) in enumerate(cues, 1))
    for name, source in (("Boats.vtt", vtt), ("Boats.srt", srt.replace("\n", "\r\n"))):
        parsed = written(reader, tmp_path, source.encode(), name)
        assert (parsed.pages[0].text, parsed.title) == (expected, "Boats")
    odd = b"1\n00:00:01,000-->00:00:02,000\nAt four.\n\n2\n-1:00 --> none\nAt five."
    assert written(reader, tmp_path, odd, "a.srt").pages[0].text == "0:00:00\n\nAt four. At five."
    assert written(reader, tmp_path, b"No cue.\n\nNone.", "a.srt").pages[0].text.split() == ["No", "cue.", "None."]


LATEX = r"""
\newcommand{\gulls}{Larus}
\title{Counting gulls\\from the air} \author{Ana Ruiz \and J\"urgen M\"uller}
\begin{document} \maketitle
\begin{abstract} We count \emph{gulls} (\gulls{}) at 95\,\% accuracy~\cite{lee}. % hidden
\end{abstract}
\section*{Method {\it of} counting}\label{a}
``Na\"ive'' birds of \SI{1.2}{\kilo\gram}, $\alpha = \frac{1}{2}$, $x^2 \leq 10^{12}$\footnote{See \texttt{a\_b}.}.
\begin{itemize} \item Herring gull \item[--] Black-headed gull \end{itemize}
\begin{table} \caption{Gulls by year}
\begin{tabular}{l|rr} \toprule
Site & \multicolumn{2}{c}{Count} \\ \cmidrule(lr){2-3}
\multirow{2}{*}{R\&D pier} & 1,204 & 1{,}310 \\ \bottomrule
\end{tabular} \end{table}
\begin{verbatim}
print("5%")
\end{verbatim}
\end{document} not said"""


def test_latex_is_what_it_says(reader: Reader, tmp_path: Path) -> None:
    parsed = written(reader, tmp_path, LATEX.encode(), "gulls.tex")
    assert (parsed.title, parsed.authors) == ("Counting gulls from the air", "Ana Ruiz, Jürgen Müller")
    assert [section.title for section in parsed.sections] == [parsed.title, "Abstract", "Method of counting"]
    assert parsed.pages[0].text.split("\n\n")[2:] == [
        "We count gulls (Larus) at 95 % accuracy [lee].",
        "Method of counting",
        "“Naïve” birds of 1.2 kilogram, α = 1/2, x² ≤ 10¹² (See a_b.).",
        "• Herring gull\n– Black-headed gull",
        "Gulls by year",
        "Site\tCount\tCount\nR&D pier\t1,204\t1,310",
        'print("5%")',
    ]


@pytest.mark.parametrize("source", ["{" * 10**5, r"\begin{tabular}" * 10**4, r"\section{\title[" * 10**4, "\\" * 10**5])
def test_latex_that_is_never_closed_is_read(source: str, reader: Reader, tmp_path: Path) -> None:
    assert written(reader, tmp_path, f"Fares. {source}".encode(), "a.tex").pages[0].text.startswith("Fares")


def test_source_code_is_text(reader: Reader, tmp_path: Path) -> None:
    assert written(reader, tmp_path, b"def f():\n    return 1\n", "f.py").media_type == "text/x-source"


def test_rich_text_without_what_was_deleted_with_its_lists_and_levels(reader: Reader, tmp_path: Path) -> None:
    source = (
        r"{\rtf1\ansi\uc0{\stylesheet{\s1\outlinelevel0 Heading 1;}}\pard\plain\s1\outlinelevel0 Fares{\deleted  x}\par"
        r"\pard\plain Grown people \b pay\deleted  two\deleted0  ten\b0 .\par"
        r"{\listtext\pard\plain \f3\'b7\tab}\pard Dogs\par{\listtext\pard\plain 2.\tab}Cats\par"
        r"\pard\plain\s2\outlinelevel1 Boats\par\pard Seen {\v and never shown to anybody}\par"
        r"\trowd\cellx1000\cellx2000 A\cell{\deleted x}B\cell\row\pard\pagebb Behind.\par}"
    )
    parsed = written(reader, tmp_path, source.encode("ascii"), "a.rtf")
    assert [page.text for page in parsed.pages] == [
        "Fares\n\nGrown people pay ten.\n\n• Dogs\n2. Cats\n\nBoats\n\nSeen and never shown to anybody\n\nA\tB",
        "Behind.",
    ]
    assert [(one.title, one.level) for one in parsed.sections] == [("Fares", 1), ("Boats", 2)]
    assert [one.why for one in parsed.pages[0].hidden] == ["set as hidden"]


def test_boxes_charts_and_hidden_sheets_of_opendocument_files(reader: Reader, tmp_path: Path) -> None:
    spaces = f'{SPACES} xmlns:xlink="http://www.w3.org/1999/xlink"' + "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("chart", "style")
    )
    cells = "".join(f"<table:table-cell><text:p>{text}</text:p></table:table-cell>" for text in ("North", "4"))
    table = f"<table:table{{}}><table:table-row>{cells}</table:table-row></table:table>"
    title = "<chart:title><text:p>Sales of boats</text:p></chart:title>"
    chart = f"<chart:chart>{title}{table.format('')}</chart:chart>"
    drawn = '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
    box = "<draw:frame><draw:text-box><text:p>In a box.</text:p></draw:text-box></draw:frame>"
    style = '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>'
    sheets = table.format(' table:name="Open"') + table.format(' table:name="Shut" table:style-name="ta2"')
    for kind, body, expected in (
        ("text", f"<text:p>{box}Words.{drawn}</text:p>", "Words.\n\nIn a box.\n\nSales of boats\n\nNorth\t4"),
        ("presentation", f"<draw:page>{drawn}</draw:page>", "Sales of boats\n\nNorth\t4"),
        ("spreadsheet", sheets, "Open\n\nNorth\t4"),
    ):
        content = f"<office:document-content {spaces}><office:automatic-styles>{style}</office:automatic-styles>"
        content += f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
        files = {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content,
            "Object 1/content.xml": chart.replace("<chart:chart", f"<chart:chart {spaces}", 1),
        }  # fmt: skip
        parsed = reader.read(packed(tmp_path / "stored", files), "a.odt")
        hidden = ("Sheets that the workbook hides, and that were read: Shut.",)
        assert (parsed.pages[0].text, parsed.notes) == (expected, hidden if kind == "spreadsheet" else ())
