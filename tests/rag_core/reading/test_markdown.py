from pathlib import Path

import pytest

from rag_core.reading import Reader
from rag_core.reading.markdown import find_headings, plain
from rag_core.reading.text import PAGE_CHARS
from rag_core.text.front_matter import note_names

SOURCE = """---
title: not a heading
---
Before

# The **first** heading #

Text
Underlined
==========

```
# not a heading
```

## Second [link](http://x) `code` ##

~~~~
## no
~~~
## still no
~~~~
- item
---
| a |
|---|
    # code
#nospace
Smaller
---
####### seven
"""


def test_headings_are_found_where_they_are() -> None:
    found = list(find_headings(SOURCE, 1))
    assert [(item.title, item.level) for item in found] == [
        ("The first heading", 1),
        ("Underlined", 1),
        ("Second link code", 2),
        ("Smaller", 2),
    ]
    for item in found:
        assert item.start is not None
        line = SOURCE[item.start :].partition("\n")[0]
        assert item.title.split()[0] in line


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ("*a* __b__ `c`", "a b c"),
        ("![logo](x.png) Name", "logo Name"),
        ("<b>x</b>", "x"),
        ("snake_case_name", "snake_case_name"),
    ],
)
def test_markup_is_taken_off_headings(heading: str, words: str) -> None:
    assert plain(heading) == words


def test_a_markdown_file_has_sections_and_a_title(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "stored"
    path.write_text("Intro\n\n# Moss\n\nGreen.\n\n## Kinds\n\nMany.\n", encoding="utf-8")
    parsed = reader.read(path, "moss.md")
    assert parsed.media_type == "text/markdown"
    assert parsed.title == "Moss"
    assert [(section.title, section.level, section.page) for section in parsed.sections] == [
        ("Moss", 1, 1),
        ("Kinds", 2, 1),
    ]
    assert parsed.pages[0].text[parsed.sections[1].start :].startswith("## Kinds")


def test_a_long_file_has_pages_that_end_before_a_heading(reader: Reader, tmp_path: Path) -> None:
    path, code = tmp_path / "stored", "```\n# a comment, and no chapter\n```\n\n"
    chapters = [f"## Chapter {number}\n\n" + "It goes on for some lines.\n\n" * 30 + code * 20 for number in range(60)]
    path.write_text("# The book\n\n" + "".join(chapters), encoding="utf-8")
    parsed = reader.read(path, "book.md")
    assert (len(parsed.pages), len(parsed.sections)) == (5, 61)
    assert all(PAGE_CHARS < len(page.text) < PAGE_CHARS + 2000 for page in parsed.pages[:-1])
    assert all(page.text.startswith("## Chapter") for page in parsed.pages[1:])
    last = parsed.sections[-1]
    assert parsed.pages[last.page - 1].text[last.start :].startswith("## Chapter 59")


def test_without_headings_the_name_is_the_title(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "stored"
    path.write_text("only words here, and more of them\n")
    assert reader.read(path, "../../my_notes.md").title == "my notes"


NOTE = """---
title: "Glazes"
aliases: [Kiln book, Fire notes]
tags:
  - pottery
  - "#clay"
---

Ash glaze melts early, see [[Kilns#Cones|the cones]] and [[Tenmoku]]. ![[bowl.png]]

Link notes with `[[Name|words]]`, mark with ==signs==, hide with %%signs%%.

```
if [[-f glaze]]; then
```
"""


def test_links_to_notes_are_read_as_their_words_and_code_is_kept(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "stored").write_text(NOTE, encoding="utf-8")
    parsed = reader.read(tmp_path / "stored", "glazes.md")
    assert parsed.title == "Glazes"
    text = parsed.pages[0].text
    assert "see the cones and Tenmoku. bowl.png" in text
    assert "`[[Name|words]]`, mark with ==signs==, hide with %%signs%%" in text
    assert "if [[-f glaze]]; then" in text


def test_a_note_goes_by_its_aliases_and_tags() -> None:
    assert note_names(NOTE) == ["Kiln book", "Fire notes", "pottery", "clay"]
    assert note_names("alias: no front matter\n") == []
    assert note_names("---\nalias: Kiln book\ntags: clay, ash\n---\n") == ["Kiln book", "clay", "ash"]
