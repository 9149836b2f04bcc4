"""Names that texts introduce."""

from __future__ import annotations

import pytest

from rag_core.text.coined import coined_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We propose a novel solution, Zero Redundancy\nOptimizer (ZeRO), to optimize memory.", ["ZeRO"]),
        ("Our Retrieval-Enhanced Transformer (Retro) obtains comparable performance.", ["Retro"]),
        ("It also includes Skimmer, a new algorithm that we introduce here.", ["Skimmer"]),
        ("In this work we present the MuTern algorithm.", ["MuTern"]),
        ("In this paper we formally introduce a family of models, called TernNet, and study it.", []),
        ("We introduce TernNet. It differs from GullNet (Larsen 2019) and Puffin (2020).", ["TernNet"]),
        ("We present Open Pre-trained Transformers (OPT), a suite of decoders.", ["OPT"]),
        ("The council met on Monday and presented its plans for Harbour Street.", []),
        ("", []),
    ],
)
def test_names_that_a_text_introduces(text: str, names: list[str]) -> None:
    assert coined_names(text) == names
