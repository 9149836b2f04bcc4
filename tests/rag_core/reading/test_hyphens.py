"""Words divided at the ends of lines: a page that does not know a word learns it from the others."""

from __future__ import annotations

import pytest

from rag_core.domain import Box, Line, Page
from rag_core.reading.hyphens import with_whole_words


def page(number: int, *lines: str) -> Page:
    """A page of lines; one that ends in a hyphen goes on without a break."""
    text, places = "", []
    for line in lines:
        places.append(Line(len(text), len(text) + len(line), Box(0.1, 0.1, 0.9, 0.12)))
        text += line if line[-1] in "-\u00ad" else f"{line}\n"
    return Page(number, text, lines=tuple(places))


@pytest.mark.parametrize(
    ("divided", "elsewhere", "written"),
    [
        (("the pre-", "diction of tides"), "each prediction was kept", "the pre\u00addiction of tides\n"),
        (("a fine\u00ad", "grained clay"), "clay is fine-grained here", "a fine-grained clay\n"),
        (("the co-", "op of Veyra"), "one coop and one co-op", "the co-op of Veyra\n"),
        (("the Tern-", "net of Veyra"), "nothing of it", "the Tern-net of Veyra\n"),
    ],
)
def test_a_divided_word_is_written_as_other_pages_have_it(
    divided: tuple[str, ...], elsewhere: str, written: str
) -> None:
    first, _ = with_whole_words([page(1, *divided), page(2, elsewhere)])
    assert first.text == written
    assert first.lines == page(1, *divided).lines


def test_what_ends_another_line_says_nothing_of_how_it_is_written() -> None:
    pages = [page(1, "the pre-", "diction"), page(2, "a pre-", "diction"), page(3, "prediction")]
    assert [one.text for one in with_whole_words(pages)[:2]] == ["the pre\u00addiction\n", "a pre\u00addiction\n"]
