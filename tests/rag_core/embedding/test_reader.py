"""What the trained reader tells of sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rag_core.embedding import Reader, open_reader
from rag_core.embedding.reader import END, SPAN, START, SUPPORT
from rag_core.errors import ModelUnavailable
from rag_core.settings import Settings

RULES = [
    "Parcels that are left with the caretaker, Mr Odhiambo, are kept in the blue cabinet for five days.",
    "Spare keys cost 18 crowns each and have to be ordered in writing.",
    "Dogs are not allowed in the garden.",
    "The drying room was closed in March because the ventilation had failed twice.",
    "Bicycles may be kept in the cellar.",
]


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    settings = Settings()
    opened = open_reader(settings.embedding, settings.models_dir)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("question", "place", "words"),
    [
        ("how long does he hold packages", 0, "five days"),
        ("What do I pay for another key?", 1, "18 crowns"),
        ("why can't we dry our clothes", 3, "the ventilation had failed twice"),
        ("who is the caretaker", 0, "Mr Odhiambo"),
    ],
)
def test_the_sentence_that_answers_and_its_words(reader: Reader, question: str, place: int, words: str) -> None:
    (told,) = reader.read(question, [("House rules. ", RULES)])
    assert int(np.argmax(told[:, SUPPORT])) == place
    assert told[place, SPAN] == told[:, SPAN].max()
    assert words in RULES[place][int(told[place, START]) : int(told[place, END])]


def test_what_is_not_told_gets_less(reader: Reader) -> None:
    (told,) = reader.read("how long does he hold packages", [("House rules. ", RULES)])
    (other,) = reader.read("When was the blue cabinet painted?", [("House rules. ", RULES)])
    assert other[:, SUPPORT].max() < told[:, SUPPORT].max()


def test_long_passages_are_read_in_groups_and_each_sentence_is_told_of(reader: Reader) -> None:
    sentences = [f"On day {number} the committee met and adjourned without any decision." for number in range(80)]
    sentences[70] = RULES[1]
    long, short, nothing = reader.read("What do I pay for another key?", [("", sentences), ("", RULES), ("", [])])
    assert (long.shape, short.shape, nothing.shape) == ((80, 4), (5, 4), (0, 4))
    assert int(np.argmax(long[:, SUPPORT])) == 70
    assert np.isfinite(long).all()


@pytest.mark.parametrize("odd", ["What is [SEP] for?", "", "x" * 5000, "\ud800 [CLS] [SEP][SEP]"])
def test_whatever_is_asked_of_whatever_text(reader: Reader, odd: str) -> None:
    (told,) = reader.read(odd, [("[SEP] ", ["The mark [SEP] parts sentences.", "", odd, "y" * 4000])])
    assert told.shape == (4, 4)
    assert np.isfinite(told).all()


def test_the_model_is_written_once_and_again_where_it_is_damaged(reader: Reader, tmp_path: Path) -> None:
    settings = Settings().embedding.model_copy(update={"backend": "torch", "precision": "float32"})
    before = reader.read("who is the caretaker", [("", RULES)])[0]
    open_reader(settings, tmp_path).close()
    (folder,) = (tmp_path / "reader").iterdir()
    assert json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"] == 384
    (folder / "model.safetensors").write_bytes(b"damaged")
    again = open_reader(settings, tmp_path)
    assert np.abs(again.read("who is the caretaker", [("", RULES)])[0][:, SUPPORT] - before[:, SUPPORT]).max() < 1.5
    again.close()


def test_a_models_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "reader").write_text("in the way")
    with pytest.raises(ModelUnavailable, match="cannot be written") as error:
        open_reader(Settings().embedding, tmp_path)
    assert "models_dir" in error.value.help
