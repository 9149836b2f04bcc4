"""Places in documents as a person reads them."""

from __future__ import annotations

import pytest

from rag_core.text.pages import counted


@pytest.mark.parametrize(
    ("label", "told"), [("", "p. 6"), ("6", "p. 6"), ("3", "p. 3"), ("vi", "p. vi"), ("5:00", "5:00")]
)
def test_a_page_is_named_by_its_count_and_by_its_label_where_that_differs(label: str, told: str) -> None:
    assert counted(6, label) == told
