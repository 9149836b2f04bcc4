"""What the reader is trained on: invented documents, and how their questions become samples."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from tests.benchmarks.coded import coded
from tests.benchmarks.drafted import drafted
from tests.benchmarks.reading_questions import Question
from tests.benchmarks.train_reader import Sampler, factored, targets

LETTER = """# Harbourside Flats: house rules | house rules
## Keys
1 Spare keys cost 18 crowns each and have to be ordered in writing.
2 They are not copied for guests.
## Laundry
3 The drying room was closed in March because the ventilation had failed twice.
? Can I get a key made for a visitor? => 2,1 | no
? why can't we use the drying room => 3 | because the ventilation had failed twice
? when will the drying room open again => none
"""


def test_documents_with_their_questions(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text(LETTER)
    (letter,) = drafted(tmp_path)
    assert (letter.title, letter.kind) == ("Harbourside Flats: house rules", "house rules")
    assert [section for _, section in letter.sentences] == ["Keys", "Keys", "Laundry"]
    assert [(one.where, one.answer) for one in letter.questions] == [
        ((1, 0), ("no",)), ((2,), ("because the ventilation had failed twice",)), ((), ()),
    ]  # fmt: skip


@pytest.mark.parametrize("line", ["? no arrow", "? who => 9 | x", "a sentence without a number"])
def test_a_line_that_is_none_of_the_format_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "letter.txt").write_text(f"{LETTER}{line}\n")
    with pytest.raises(ValueError, match=r"letter\.txt, line 10"):
        list(drafted(tmp_path))


def test_what_ships_can_be_read() -> None:
    documents = list(drafted())
    questions = [one for document in documents for one in document.questions]
    assert len(documents) > 700
    assert 0.3 < sum(not one.where for one in questions) / len(questions) < 0.4


def test_samples_point_at_the_answer() -> None:
    sentences = [(f"Sentence {number} tells of nothing much.", "One") for number in range(12)]
    sentences[7] = ("The spare key costs 18 crowns.", "Two")
    asked = Question("Rules", "rules", sentences, "how much is a key", (7,), ("18 crowns",))
    sampler = Sampler(0)
    for sample in sampler.samples([asked] * 20):
        assert sample.ids[sample.null] == 102
        if sample.where:
            first, last = sample.ranges[sample.where[0]]
            ((begin, end),) = sample.spans
            assert first <= begin < end < last
            assert end - begin == 1


def test_what_documents_of_another_kind_say_is_no_answer() -> None:
    here, there = [("The spare key costs 18 crowns.", "")], [("Keys of the piano are of lime.", ""), ("It is old.", "")]
    asked = Question("Rules", "rules", here, "how much is a key", (0,), ("18 crowns",))
    other = Question("Piano", "manual", there, "what is it made of", (0,), ("lime",))
    found = [Sampler(seed).samples([asked, other]) for seed in range(9)]
    assert any(not one.where and len(one.ranges) == len(there) for some in found for one in some)


def test_a_batch_marks_what_is_right() -> None:
    asked = [
        Question("", "", [("It is red.", ""), ("It is big.", "")], "what colour", (0,), ("red",)),
        Question("", "", [("It is red.", "")], "is it red", (0,), ("yes",)),
        Question("", "", [("It is red.", "")], "how old is it", ()),
    ]
    samples = [one for one in Sampler(1).samples(asked, whole=True) if one.where or not one.spans][:3]
    known = targets(samples)
    assert known.answering.sum(1).min() >= 1
    assert bool((known.answering <= known.real).all())


def test_a_change_of_low_rank_is_kept() -> None:
    change = torch.randn(40, 3) @ torch.randn(3, 30)
    left, right = factored(change)
    assert torch.allclose(torch.from_numpy(left).float() @ torch.from_numpy(right).float(), change, atol=0.05)


def test_what_a_code_tells_apart_is_asked_by_it() -> None:
    documents = list(coded())
    for document in documents:
        for one in document.questions:
            for place in one.where:
                text, _ = document.sentences[place]
                assert one.answer[0].lower() in text.lower()
                beside = [other for other, _ in document.sentences if other != text]
                assert beside, document.title
    asked = [one for document in documents for one in document.questions]
    assert len(asked) > 3000
    assert 0.2 < sum(not one.where for one in asked) / len(asked) < 0.4


def test_sentences_that_differ_by_a_code_stand_beside_the_one_asked_for() -> None:
    sentences = [("The tanks were filled.", ""), ("Tank T2 holds 3,850 litres.", ""), ("Nobody smokes here.", "")]
    asked = Question("Depot", "list", sentences, "How many litres are in tank T2?", (1,), ("3,850",))
    made = [Sampler(seed)._among_alike(asked, {}) for seed in range(20)]
    assert all(one.sentences[one.where[0]][0] == "Tank T2 holds 3,850 litres." for one in made)
    beside = {text for one in made for text, _ in one.sentences} - {text for text, _ in sentences}
    assert beside
    assert all(re.fullmatch(r"Tank T[0-5] holds \d,\d{3} litres\.", text) and "T2" not in text for text in beside)
