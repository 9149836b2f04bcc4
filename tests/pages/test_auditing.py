"""What pages change is noted, and who may use them."""

from __future__ import annotations

import pytest

from pages.parts.auditing import audited
from pages.parts.signing_in import may
from tests.pages.conftest import FakeLibrary, a_document


def test_a_change_is_noted_with_its_end_and_a_look_is_not() -> None:
    fake = FakeLibrary()
    fake.held = [a_document("a")]
    library = audited(fake, fake)  # type: ignore[arg-type]
    library.documents()
    document = fake.held[0].id
    library.remove(document)
    with pytest.raises(KeyError):
        library.evaluation.rename("none", "a secret name")
    assert fake.noted == [("pages", f"remove {document}", 0), ("pages", "evaluation.rename none", 1)]


@pytest.mark.parametrize(
    ("claims", "allowed"),
    [
        ({"email": "Ada@Example.org"}, True),
        ({"email": "ada@example.org", "email_verified": False}, False),
        ({"email": "eve@example.com"}, True),
        ({"email": "bob@example.org"}, False),
        ({"email": "eve@mail.example.com"}, False),
        ({"email": "@example.com"}, False),
        ({"email": "example.com"}, False),
        ({}, False),
    ],
)
def test_who_may_use_the_pages(claims: dict[str, object], allowed: bool) -> None:
    assert may(claims, ["ada@example.org", "@example.com"]) is allowed
