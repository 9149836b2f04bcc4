"""JSON, YAML and XML as documents: names are labels and headings, lists of like records tables; feeds by entries."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from rag_core import Library, Upload
from rag_core.domain import ParsedDocument
from rag_core.errors import LecternError, LimitExceeded, UnreadableDocument
from rag_core.reading import Reader, base, detect_bytes

ORDERS = [
    {"orderNumber": 4711 + number, "customer_name": name, "amount": 12.50 * number, "paid": number % 2 == 0,
     "address": {"town": "Corvale"}, "tags": ["tea", "oil"]}
    for number, name in enumerate(["Moss", "Lund", "Farrow", "Hart"], 1)
]  # fmt: skip
TABLE = (
    "order Number\tcustomer name\tamount\tpaid\taddress.town\ttags\n4712\tMoss\t12.5\tfalse\tCorvale\ttea, oil\n"
    "4713\tLund\t25.0\ttrue\tCorvale\ttea, oil"
)


def written(reader: Reader, tmp_path: Path, data: bytes | str, name: str) -> ParsedDocument:
    (tmp_path / "stored").write_bytes(data if isinstance(data, bytes) else data.encode())
    return reader.read(tmp_path / "stored", name)


def test_json_as_labels_headings_and_tables(reader: Reader, tmp_path: Path) -> None:
    made = {"title": "Orders of May", "seller": {"name": "Depot", "open": True, "closed": None}, "orders": ORDERS}
    parsed = written(reader, tmp_path, json.dumps({**made, "big": 12345678901234567890, "notes": ["a", "b"]}), "a.json")
    assert parsed.title == "Orders of May"
    assert [(one.title, one.level) for one in parsed.sections] == [("seller", 1), ("orders", 1)]
    text = parsed.pages[0].text
    assert text.startswith(f"title: Orders of May\n\nseller\n\nname: Depot\nopen: true\n\norders\n\n{TABLE}")
    assert text.endswith("big: 12345678901234567890\nnotes: a, b")


def test_a_value_a_line_and_lines_that_are_none(reader: Reader, tmp_path: Path) -> None:
    lines = [json.dumps(one) for one in ORDERS]
    parsed = written(reader, tmp_path, "\n".join([*lines[:2], "{broken", *lines[2:]]), "a.jsonl")
    assert parsed.pages[0].text.startswith(TABLE)
    assert parsed.notes == ("Lines that hold no JSON and were not read: 3.",)
    parsed = written(reader, tmp_path, '// settings\n{"a": 1,}\n', "tsconfig.json")
    assert parsed.pages[0].text == '// settings\n{"a": 1,}'
    assert parsed.notes == ("It is not written as JSON is, from line 1 on: it was read as text.",)


def test_a_table_in_json_is_asked_over_all_its_rows(library: Library) -> None:
    rows = [{"county": f"County {number}", "boats": number} for number in range(1, 41)]
    *_, last = library.add([Upload("boats.json", json.dumps({"fleet": rows}).encode())])
    assert last.stage == "ready", last.error
    assert "820" in library.ask("How many boats are there in total?").text


def test_yaml_without_its_tags_and_with_its_aliases(reader: Reader, tmp_path: Path) -> None:
    text = (
        "name: Depot\nbase: &b {town: Corvale, zone: 010}\nnorth:\n  <<: *b\n  boats: 3\n"
        "evil: !!python/object/apply:os.system ['touch /tmp/never']\nnothing: ~\nday: 2020-03-02\n---\nsecond: yes\n"
    )
    parsed = written(reader, tmp_path, text, "a.yaml")
    assert parsed.pages[0].text == (
        "Depot\n\nname: Depot\n\nbase\n\ntown: Corvale\nzone: 010\n\nnorth\n\ntown: Corvale\nzone: 010\nboats: 3\n\n"
        "evil: touch /tmp/never\nday: 2020-03-02\n\n2\n\nsecond: yes"
    )
    assert written(reader, tmp_path, yaml.safe_dump(ORDERS, sort_keys=False), "a.yml").pages[0].text.startswith(TABLE)
    parsed = written(reader, tmp_path, "a: {{ .Values.a }}\nb: [", "chart.yaml")
    assert parsed.pages[0].text == "a: {{ .Values.a }}\nb: ["
    assert "was read as text" in parsed.notes[0]


def test_xml_by_its_elements_and_attributes(reader: Reader, tmp_path: Path) -> None:
    rows = "".join(f"<order no='{one['orderNumber']}'><name>{one['customer_name']}</name></order>" for one in ORDERS)
    data = f"<?xml version='1.0'?><shop xmlns='urn:x' town='Corvale'><p>Tea <b>and</b> oil</p>{rows}</shop>"
    parsed = written(reader, tmp_path, data, "a.xml")
    assert parsed.pages[0].text.startswith("shop\n\ntown: Corvale\np: Tea and oil\n\norder\n\nno\tname\n4712\tMoss\n")
    assert detect_bytes(data.encode(), "without") == base.XML
    cut = written(reader, tmp_path, data[: data.index("Hart")], "a.xml")
    assert "Farrow" in cut.pages[0].text and "damaged" in cut.notes[0]


def test_feeds_by_their_entries(reader: Reader, tmp_path: Path) -> None:
    rss = (
        "<rss><channel><title>Depot news</title><description>What is new.</description><item><title>Boats</title>"
        "<pubDate>Mon, 02 Mar 2020</pubDate><link>https://example.org/1</link>"
        "<description>&lt;p&gt;At &lt;b&gt;four&lt;/b&gt;.&lt;/p&gt;</description></item></channel></rss>"
    )
    atom = (
        "<feed xmlns='http://www.w3.org/2005/Atom'><title>Depot news</title><subtitle>What is new.</subtitle><entry>"
        "<title>Boats</title><author><name>Ada</name></author><updated>2020-03-02</updated>"
        "<link href='https://example.org/1'/><content type='html'>&lt;p&gt;At four.&lt;/p&gt;</content></entry></feed>"
    )
    head = "Depot news\n\nWhat is new.\n\nBoats\n\n"
    parsed = written(reader, tmp_path, rss, "news.rss")
    assert parsed.title == "Depot news"
    assert parsed.pages[0].text == f"{head}Date: Mon, 02 Mar 2020\nLink: https://example.org/1\n\nAt four."
    parsed = written(reader, tmp_path, atom, "news.xml")
    assert parsed.pages[0].text == f"{head}By: Ada\nDate: 2020-03-02\nLink: https://example.org/1\n\nAt four."


LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]><x>&b;&f;words</x>'
NAMES = "abcdefghijkl"
ALIASES = "a: &a [x, x]\n" + "".join(f"{n}: &{n} [*{p}, *{p}, *{p}, *{p}]\n" for p, n in pairwise(NAMES))


@pytest.mark.parametrize(
    ("data", "name", "says"),
    [
        ("[" * 100_000, "a.json", "nested too deeply"),
        ('{"a":' * 900 + "1" + "}" * 900, "a.json", "nested too deeply"),
        ("[" * 5000 + "]" * 5000, "a.yaml", ""),
        (ALIASES, "a.yaml", "more than"),
        ("<a>" * 100_000, "a.xml", ""),
        ("just words", "a.xml", "holds none"),
        ("", "a.json", "empty"),
    ],
)  # fmt: skip
def test_what_is_hostile_costs_itself(reader: Reader, tmp_path: Path, data: str, name: str, says: str) -> None:
    try:
        text = written(reader, tmp_path, data, name).pages[0].text
        assert says in text, text[-200:]
    except LecternError as error:
        assert says in str(error) and error.help
    assert written(reader, tmp_path, '{"a": "good"}', "good.json").pages[0].text == "a: good"


def test_entities_mean_nothing_and_aliases_hold_no_circle(reader: Reader, tmp_path: Path) -> None:
    assert written(reader, tmp_path, LAUGHS, "a.xml").pages[0].text == "x\n\nwords"
    assert "holds itself" in written(reader, tmp_path, "a: &a\n  b: *a\n  c: words\n", "a.yaml").pages[0].text
    with pytest.raises(LimitExceeded):
        written(reader, tmp_path, ALIASES, "a.yaml")


DRAWING = """<?xml version="1.0"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://192.0.2.1/svg11.dtd">
<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><title>The ferries</title>
<style>text { fill: red }</style><script>alert("tea")</script><metadata><title>made by a program</title></metadata>
<g><desc>How the boats go</desc><path d="M0 0L10 10"/><text x="1" y="2"><tspan x="1">Tolsund <tspan>to</tspan></tspan
><!-- x --><tspan x="1" dy="9">Marn</tspan></text><text>12<tspan>.40</tspan></text></g>
<image href="file:///etc/passwd"/><foreignObject><p xmlns="http://www.w3.org/1999/xhtml">In a page</p></foreignObject>
</svg>"""


def test_a_drawing_is_its_title_its_description_and_its_words(reader: Reader, tmp_path: Path) -> None:
    parsed = written(reader, tmp_path, DRAWING, "ferries.svg")
    assert (parsed.title, [one.title for one in parsed.sections]) == ("The ferries", ["The ferries"])
    assert parsed.pages[0].text == "The ferries\n\nHow the boats go\nTolsund to Marn\n12.40"
    assert not parsed.media_type.startswith("image/")  # pages of such kinds are drawn
    cut = written(reader, tmp_path, DRAWING.partition("</text>")[0], "ferries.svg")
    assert cut.pages[0].text.endswith("Tolsund to Marn") and "damaged" in cut.notes[0]
    with pytest.raises(UnreadableDocument, match="holds none"):
        written(reader, tmp_path, "just words", "a.svg")


def test_a_drawing_takes_nothing_in(reader: Reader, tmp_path: Path) -> None:
    laughs = "".join(f'<!ENTITY a{n} "&a{n + 1};&a{n + 1};">' for n in range(30))
    head = f'<!DOCTYPE svg [<!ENTITY out SYSTEM "file:///etc/passwd">{laughs}<!ENTITY a30 "ha">]>'
    parsed = written(reader, tmp_path, f"{head}<svg><text>Tea &out; and &a0; milk</text></svg>", "a.svg")
    assert "root:" not in parsed.pages[0].text and "haha" not in parsed.pages[0].text
    assert parsed.pages[0].text.startswith("Tea")
