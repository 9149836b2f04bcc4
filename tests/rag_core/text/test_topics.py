"""What a question is about."""

from __future__ import annotations

import pytest

from rag_core.text.topics import topic


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("What is the annual leave of employees?", "Annual leave of employees"),
        ("How many employees does Netflix have?", "Employees: Netflix"),
        ("How many chapters has the book?", "Chapters: book"),
        ("How many documents do I have?", "Documents"),
        ("How many ships are there?", "Ships"),
        ("What are my documents about?", "My documents"),
        ("Why did marketing expenses increase?", "Marketing expenses increase"),
        ("List the ships and their wind limits", "Ships and their wind limits"),
        ("Please summarise the storm report.", "Storm report"),
        ('What were revenues? @"The good year"', "Revenues The good year"),
        ("Whatever happens", "Whatever happens"),
        ("Wie viele Mitarbeiter hat Apple?", "Wie viele Mitarbeiter hat Apple"),
        ("What were iPhone net sales in 2020?", "iPhone net sales in 2020"),
        ("Why?", "Why?"), ("What is it", "It"),
    ],
)  # fmt: skip
def test_the_topic_of_a_question(question: str, title: str) -> None:
    assert topic(question) == title
