"""reStructuredText, Org and AsciiDoc: what they say, without their markup, and without what they would take in."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from rag_core.domain import ParsedDocument
from rag_core.errors import LimitExceeded
from rag_core.reading import Reader
from rag_core.settings import ReadingSettings

RST = """\
==========
The ferry
==========

:Author: Ada Moss

It goes *daily*, see `the plan <https://example.org/plan>`_ and :ref:`all fares <fares>` [1]_.

.. contents::
.. toctree::

   intro
.. a comment

Fares
=====

- Adults pay twelve.
- Dogs pay half.

  1. Small ones
  2. Large ones

=======  =====
Line     2020
=======  =====
Tolsund  12.40
Marn      8.00
=======  =====

.. table:: Boats

   +------+-----------+
   | Mast | oak | ash |
   |      +-----------+
   |      | pine      |
   +------+-----------+

.. code-block:: python

   fare = 12

.. warning:: Mind the step.

.. versionadded:: 3.1
   Boats by *night*.

.. figure:: boat.png
   :alt: A boat

   Figure 1: The boat

Captain
   Steers it.

.. [1] In spring.
"""
RST_SAID = [
    "The ferry", "Author: Ada Moss", "It goes daily, see the plan and all fares [1].", "Fares",
    "• Adults pay twelve.\n• Dogs pay half.\n1. Small ones\n2. Large ones", "Line\t2020\nTolsund\t12.40\nMarn\t8.00",
    "Boats", "Mast\toak | ash\n.\tpine", "fare = 12", "Warning: Mind the step.", "3.1 Boats by night.",
    "[Picture: A boat]", "Figure 1: The boat", "Captain: Steers it.", "[1] In spring.",
]  # fmt: skip
ORG = """\
#+TITLE: The ferry
#+AUTHOR: Ada Moss
#+OPTIONS: toc:nil
* TODO [#A] Fares :money:boat:
:PROPERTIES:
:ID: 17
:END:
It goes *daily*,
see [[https://example.org][the plan]] in ~plan.txt~ and /path/to.
# a comment
- Adults pay twelve,
  dogs half.
- [X] Paint :: red
2. Two

| Line    |  2020 |
|---------+-------|
| Tolsund | 12.40 |
| Marn    |  8.00 |
** Boats
#+begin_src python
* fare = 12
,* more
#+END_SRC
#+BEGIN_QUOTE
Never late.
#+END_QUOTE
#+begin_comment
not shown
#+end_comment
"""
ORG_SAID = [
    "The ferry", "Author: Ada Moss", "TODO Fares", "It goes daily, see the plan in plan.txt and /path/to.",
    "• Adults pay twelve, dogs half.\n• ☑ Paint: red\n2. Two", "Line\t2020\nTolsund\t12.40\nMarn\t8.00", "Boats",
    "* fare = 12\n* more", "Never late.",
]  # fmt: skip
ADOC = """\
= The ferry
Ada Moss <ada@example.org>
:toc:
:home: Tarn

[[fares]]
== Fares

It goes *daily* from {home},
see https://example.org[the plan] and <<fares,all fares>>. // {unknown}
// a comment
* Adults pay twelve,
dogs half.
** Small ones
. First

.Prices
[cols="1,1",options="header"]
|===
|Line |2020

|Tolsund
|12.40
|Marn | 8.00
2+|All lines
|===

[source,python]
----
== fare = 12
----

////
not shown
////
=== Boats ===
[NOTE]
====
Never late.
====
Captain:: Steers it.
image::boat.png[A boat, 200]
include::/etc/passwd[]
"""
ADOC_SAID = [
    "The ferry", "Ada Moss <ada@example.org>", "Fares",
    "It goes daily from Tarn, see the plan and all fares. // {unknown}",
    "• Adults pay twelve, dogs half.\n• Small ones\n• First", "Prices",
    "Line\t2020\nTolsund\t12.40\nMarn\t8.00\nAll lines", "== fare = 12", "Boats", "Never late.",
    "Captain: Steers it.", "[Picture: A boat]", "include::/etc/passwd[]",
]  # fmt: skip


def written(reader: Reader, tmp_path: Path, text: str, name: str) -> ParsedDocument:
    (tmp_path / "stored").write_text(text, encoding="utf-8")
    return reader.read(tmp_path / "stored", name)


@pytest.mark.parametrize(
    ("name", "text", "said", "headings"),
    [
        ("a.rst", RST, RST_SAID, [("The ferry", 1), ("Fares", 2)]),
        ("a.org", ORG, ORG_SAID, [("The ferry", 1), ("TODO Fares", 2), ("Boats", 3)]),
        ("a.adoc", ADOC, ADOC_SAID, [("The ferry", 1), ("Fares", 2), ("Boats", 3)]),
    ],
    ids=["rst", "org", "adoc"],
)
def test_what_is_said_is_read_with_its_headings_lists_tables_and_code(
    reader: Reader, tmp_path: Path, name: str, text: str, said: list[str], headings: list[tuple[str, int]]
) -> None:
    parsed = written(reader, tmp_path, text, name)
    assert parsed.pages[0].text.split("\n\n") == said
    assert [(one.title, one.level) for one in parsed.sections] == headings
    assert (parsed.title, parsed.notes) == ("The ferry", ())


def test_no_file_is_taken_in_and_nothing_is_fetched(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("the secret,of the house\n", encoding="utf-8")
    (tmp_path / "docutils.conf").write_text(
        "[general]\nfile_insertion_enabled: yes\nraw_enabled: yes\n", encoding="utf-8"
    )
    for secret in (str(tmp_path / "secret.txt"), "secret.txt", "/etc/passwd", f"file://{tmp_path}/secret.txt"):
        attacks = [
            f".. include:: {secret}\n   :literal:", f".. csv-table:: T\n   :file: {secret}",
            f".. raw:: html\n   :file: {secret}", f".. csv-table:: T\n   :url: file://{secret}",
            f".. raw:: html\n   :url: {secret}", ".. raw:: html\n\n   <b>raw</b>",
            f".. figure:: {secret}\n   :figwidth: image",
            f".. |s| include:: {secret}\n\n|s|", f".. literalinclude:: {secret}",
            f".. code:: python\n   :file: {secret}", f".. INCLUDE:: {secret}",
            f"x\n\n   .. include:: {secret}", f".. math::\n   :file: {secret}",
        ]  # fmt: skip
        for attack in attacks:
            text = written(reader, tmp_path, f"Before.\n\n{attack}\n\nBehind.\n", "a.rst").pages[0].text
            assert text.startswith("Before.") and text.endswith("Behind."), attack
            assert "of the house" not in text and "root:" not in text and "raw</b>" not in text, attack
    for name, attack in (("a.org", "#+INCLUDE: /etc/passwd"), ("a.adoc", "include::/etc/passwd[]")):
        assert "root:" not in written(reader, tmp_path, f"Before.\n\n{attack}\n", name).pages[0].text


@pytest.mark.parametrize(
    "text",
    ["".join(" " * depth + "x\n" for depth in range(400)), "word " * 220_000, "*a " * 5_000],
    ids=["too deep", "too long", "a long line"],
)
def test_what_docutils_cannot_read_is_read_as_it_is_written(reader: Reader, tmp_path: Path, text: str) -> None:
    parsed = written(reader, tmp_path, text, "a.rst")
    assert parsed.pages[0].text.split() == text.split()
    assert parsed.notes == ("Its markup was not followed: it was read as text.",)


def test_what_a_text_defines_is_its_own(reader: Reader, tmp_path: Path) -> None:
    written(reader, tmp_path, ".. role:: emphasis(raw)\n   :format: html\n\nTea with :emphasis:`milk`.", "a.rst")
    assert written(reader, tmp_path, "Tea with :emphasis:`milk`.", "a.rst").pages[0].text == "Tea with milk."


def test_a_text_that_would_be_read_for_hours_is_given_up_alone(tmp_path: Path) -> None:
    bomb = "".join(f".. |a{n}| replace:: |a{n + 1}| |a{n + 1}|\n" for n in range(40)) + ".. |a40| replace:: x\n\n|a0|\n"
    with Reader(ReadingSettings(page_timeout_s=3)) as reader:
        with pytest.raises(LimitExceeded, match="seconds") as caught:
            written(reader, tmp_path, bomb, "a.rst")
        assert caught.value.help
        assert written(reader, tmp_path, RST, "a.rst").title == "The ferry"


@pytest.mark.parametrize("name", ["a.org", "a.adoc"])
def test_odd_lines_are_read_in_time(reader: Reader, tmp_path: Path, name: str) -> None:
    began = time.monotonic()
    for odd in (
        "*a ",
        "= x" + " " * 9,
        "| ",
        "[[a",
        "|1111",
        ":a: b\n",
        "{a}",
        "<<",
        "a:: ",
        "image::a[",
        "https://a[",
        "#+a\n",
    ):
        for start in ("", "* ", "== ", "|===\n", "#+begin_src\n", "----\n"):
            assert "Tea." in written(reader, tmp_path, f"Tea.\n{start}{odd * 30_000}\nEnd.", name).pages[0].text
    assert time.monotonic() - began < 120
