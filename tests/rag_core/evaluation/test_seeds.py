"""The five seeds as configurations: each can be tried on a library of one's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core import Library, Settings, Upload
from rag_core.domain import Configuration
from rag_core.evaluation.configurations import LABELS, applied
from rag_core.evaluation.seeds import SEEDS
from rag_core.retrieval import for_passages

LINES = {
    "ferry.txt": "The ferry crosses the strait at noon. It carries cars and cattle. A ticket costs four crowns. " * 40,
    "bread.txt": "The baker kneads dough before dawn. Rye bread is sold by the loaf. The oven burns beech wood. " * 40,
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, new_database: object) -> Iterator[Library]:
    assert callable(new_database)
    folder = tmp_path_factory.mktemp("seeds") / "library"
    with Library.open(Settings(_env_file=None, data_dir=folder, database_url=new_database())) as opened:
        for event in opened.add([Upload(name, text.encode()) for name, text in LINES.items()]):
            assert event.error is None
        opened.storage.settle()
        assert list(opened.clusters.update())[-1].stage == "done"
        yield opened


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.name.partition(":")[0])
def test_each_finds_passages_as_it_cuts_and_chooses_them(library: Library, seed: Configuration) -> None:
    assert seed.changes.keys() <= LABELS.keys()
    settings = applied(seed, library.settings)
    corpus = library.asking.corpus(settings)
    list(corpus.prepare(lambda: False))
    (found,) = corpus.search(["When does the baker knead?"], for_passages(settings))
    assert found.hits[0].document.title.startswith("bread")
    assert len(found.hits) <= seed.changes["retrieval.k"]
    assert found.trace.searched is not None
    assert found.trace.searched.mode == seed.changes["retrieval.mode"]
    longest = max(len(hit.text) for hit in found.hits)
    assert longest <= seed.changes.get("chunking.size", 20_000)


def test_vbrag_cuts_at_the_ends_of_sentences(library: Library) -> None:
    settings = applied(SEEDS[0], library.settings)
    corpus = library.asking.corpus(settings)
    list(corpus.prepare(lambda: False))
    (found,) = corpus.search(["When does the baker knead?"], for_passages(settings))
    assert all(hit.text.startswith((". ", "The ")) for hit in found.hits)
