"""Names after @: what they point at, and what is left of the question."""

from __future__ import annotations

import pytest

from rag_core.domain import Document, Scope
from rag_core.retrieval.mentions import either, named, read


def a_document(name: str, title: str, *tags: str, path: str = "") -> Document:
    return Document(
        id=name, title=title, media_type="application/pdf", byte_size=1, state="ready", tags=tags,
        sources=(path or f"{name}.pdf",),
    )  # fmt: skip


DOCUMENTS = [
    a_document("a", "Costco 10-K annual report 2021", "finance", path="/shelf/COST_10K_2021.pdf"),
    a_document("b", "Costco 10-K annual report 2022", "finance", "new"),
    a_document("c", "Handbook of the Veyra Ferry", path="/shelf/veyra-ferry-handbook.pdf"),
    a_document("d", "Überblick", "Finance Review"),
]


@pytest.mark.parametrize(
    ("question", "text", "scope"),
    [
        ("@costco What were net sales?", "What were net sales?", Scope(documents=("a", "b"))),
        ("What were net sales of @costco in 2022?", "What were net sales in 2022?", Scope(documents=("a", "b"))),
        ('@"Costco 10-K annual report 2021" net sales', "net sales", Scope(documents=("a",))),
        ("@“costco 10-k” net sales", "net sales", Scope(documents=("a", "b"))),
        ("What were @costco's sales?", "What were sales?", Scope(documents=("a", "b"))),
        ("Who may board, @veyra-ferry-handbook.pdf?", "Who may board?", Scope(documents=("c",))),
        ("@handb fares", "fares", Scope(documents=("c",))),
        ("@überblick: was gilt?", "was gilt?", Scope(documents=("d",))),
        ("@Finance margins", "margins", Scope(tags=("finance",))),
        ("@finance and @new margins", "margins", Scope(tags=("finance", "new"))),
        ("@new @handbook prices", "prices", Scope(documents=("c", "b"))),
        ("sales (@costco)", "sales", Scope(documents=("a", "b"))),
    ],
)
def test_names_are_taken_out_and_become_the_scope(question: str, text: str, scope: Scope) -> None:
    found = read(question, DOCUMENTS)
    assert found.scope == scope
    assert found.text == text
    assert found.unknown == ()


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("@walmart What were net sales?", ("walmart",)),
        ("Who answers mail to help@costco.com?", ()),
        ("costco @ 2021", ()),
        ('@"" sales', ()),
        ("@co sales", ("co",)),
        ("@@costco sales", ()),
    ],
)
def test_what_means_nothing_stays(question: str, unknown: tuple[str, ...]) -> None:
    found = read(question, DOCUMENTS)
    assert found == type(found)(question, None, unknown)


def test_one_known_and_one_unknown_name() -> None:
    found = read("@costco and @walmart: margins", DOCUMENTS)
    assert found.scope == Scope(documents=("a", "b"))
    assert found.unknown == ("walmart",)
    assert found.text == "@walmart: margins"


def test_the_nearest_kind_of_name_counts() -> None:
    assert named("costco annual 2022", DOCUMENTS) == Scope(documents=("b",))
    assert named("COST_10K_2021.pdf", DOCUMENTS) == Scope(documents=("a",))
    assert named("finance review", DOCUMENTS) == Scope(tags=("Finance Review",))
    assert named("?!", DOCUMENTS) is None
    assert named("costco", []) is None


def test_scopes_of_both_kinds_become_documents() -> None:
    both = [Scope(tags=("finance",)), Scope(documents=("c", "a"))]
    assert either(both, DOCUMENTS) == Scope(documents=("c", "a", "b"))
    assert either([], DOCUMENTS) == Scope()
