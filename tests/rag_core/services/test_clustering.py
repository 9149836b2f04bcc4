"""A library's clusters: kept up to date by themselves, walked from clusters of documents down to chunks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from rag_core import Cancellation, Library, Settings, Upload
from rag_core.errors import ModelUnavailable
from rag_core.runtime.low_priority import LowPriorityProcess
from rag_core.services.clustering import Clustering
from tests.conftest import add_text
from tests.rag_core.evaluation.scripted import Scripted

TEXTS = {
    "ferry": "The ferry of hour {n} crosses the strait with cars when the wind allows its captain to sail.",
    "bread": "The baker of street {n} kneads dough with flour and yeast before the oven is hot for bread.",
}


@pytest.fixture
def quiet(tmp_path: Path, new_database: Callable[[], str]) -> Iterator[Library]:
    """A library that clusters only when it is asked to."""
    settings = Settings(_env_file=None, data_dir=tmp_path / "quiet", database_url=new_database())
    with Library.open(settings.changed("hierarchy", background=False)) as opened:
        uploads = [
            Upload(f"{subject} {number}.txt", text.format(n=number).encode())
            for subject, text in TEXTS.items()
            for number in range(4)
        ]
        list(opened.add(uploads))
        yield opened


def test_the_tree_is_walked(quiet: Library) -> None:
    assert quiet.clusters.tree().waiting == 8
    assert quiet.clusters.tree().clusters == ()
    assert list(quiet.clusters.update())[-1].stage == "done"
    tree = quiet.clusters.tree()
    assert tree.waiting == 0
    titles = [[quiet.document(key).title.split()[0].lower() for key in cluster.documents] for cluster in tree.clusters]
    assert sorted(map(set, titles), key=min) == [{"bread"}, {"ferry"}]
    first = tree.clusters[0].documents[0]
    assert [cluster.chunks for cluster in quiet.clusters.of_document(first)] == [(0,)]
    assert quiet.clusters.of_document(first)[0].terms
    assert quiet.clusters.summary(first) == quiet.chunks(first)[0].text


def test_what_is_unknown_has_no_clusters(quiet: Library) -> None:
    assert quiet.clusters.of_document("none such") == ()
    assert quiet.clusters.summary("none such") == ""


def test_everything_is_made_anew_when_asked(quiet: Library) -> None:
    list(quiet.clusters.update())
    assert len(list(quiet.clusters.update())) == 1
    assert len(list(quiet.clusters.update(anew=True))) > 8


def test_a_stop_keeps_what_was_made(quiet: Library) -> None:
    token = Cancellation()
    steps = quiet.clusters.update(cancellation=token)
    next(steps)
    next(steps)
    token.cancel()
    assert list(steps)[-1].stage == "cancelled"
    assert 0 < quiet.clusters.tree().waiting < 8


def test_a_model_that_is_not_there_leaves_extracts(quiet: Library) -> None:
    def missing(name: str, settings: Settings) -> None:
        raise ModelUnavailable(f"There is no {name}.")

    chosen = quiet.settings.changed("hierarchy", background=False, summaries="gguf:none.gguf")
    clustering = Clustering(quiet.storage, lambda: chosen, missing, quiet.asking.embed)  # type: ignore[arg-type]
    list(clustering.update())
    clustering.close()
    assert all(quiet.clusters.summary(document.id) for document in quiet.documents())


def test_what_a_model_wrote_is_embedded(quiet: Library) -> None:
    """So a document is found by what its summary says, in words that it does not have itself."""
    list(quiet.clusters.update())
    before = quiet.storage.hierarchy.summaries()
    chosen = quiet.settings.changed("hierarchy", background=False, summaries="gguf:any.gguf")
    reply = "Boats that carry passengers over the sea, and how loaves are baked."
    clustering = Clustering(quiet.storage, lambda: chosen, lambda name, settings: Scripted(reply), quiet.asking.embed)
    list(clustering.update())
    after = quiet.storage.hierarchy.summaries()
    assert {quiet.clusters.summary(key) for key in after.ids} == {reply}
    (said,) = quiet.asking.embed([reply])
    assert (after.vectors @ said > 0.999).all()
    assert (before.vectors @ said).max() < 0.8
    list(quiet.clusters.update())
    assert np.allclose(quiet.storage.hierarchy.summaries().vectors, before.vectors)


@pytest.mark.parametrize(("context_tokens", "writes"), [(100, False), (700, True)])
def test_a_model_of_a_small_context_writes_less_or_nothing(quiet: Library, context_tokens: int, writes: bool) -> None:
    chosen = quiet.settings.changed("hierarchy", background=False, summaries="gguf:any.gguf")
    model = Scripted("Boats, and how loaves are baked.", context_tokens=context_tokens)
    clustering = Clustering(quiet.storage, lambda: chosen, lambda name, settings: model, quiet.asking.embed)
    list(clustering.update())
    summaries = {quiet.clusters.summary(document.id) for document in quiet.documents()}
    assert ("Boats, and how loaves are baked." in summaries) == writes


def test_a_summary_that_is_not_about_the_document_is_not_kept(quiet: Library) -> None:
    chosen = quiet.settings.changed("hierarchy", background=False, summaries="gguf:any.gguf")
    said = "The document contains a summary of the document, and is quoted material. " * 3
    clustering = Clustering(quiet.storage, lambda: chosen, lambda name, settings: Scripted(said), quiet.asking.embed)
    list(clustering.update())
    assert all(quiet.clusters.summary(one.id) == quiet.chunks(one.id)[0].text for one in quiet.documents())


def test_other_settings_have_all_of_it_made_again(quiet: Library) -> None:
    list(quiet.clusters.update())
    chosen = quiet.settings.changed("hierarchy", background=False, method="kmeans")
    clustering = Clustering(quiet.storage, lambda: chosen, lambda *_: Scripted(""), quiet.asking.embed)
    assert len(list(clustering.update())) > 8
    assert len(list(clustering.update())) == 1
    assert clustering.tree().waiting == 0


@pytest.mark.slow
def test_clusters_come_by_themselves(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere: list[str] = []
    call = LowPriorityProcess.__call__

    def counted(self: LowPriorityProcess, function: Callable[..., object], /, *arguments: object) -> object:
        elsewhere.append(function.__name__)
        return call(self, function, *arguments)

    monkeypatch.setattr(LowPriorityProcess, "__call__", counted)
    with Library.open(settings.changed("hierarchy", background=True)) as library:
        document = add_text(library, "one.txt", TEXTS["ferry"].format(n=1))
        deadline = time.monotonic() + 90
        while not library.clusters.tree().clusters and time.monotonic() < deadline:
            time.sleep(0.2)
        assert library.clusters.tree().clusters[0].documents == (document.id,)
        assert library.clusters.of_document(document.id)
    own = [name for name in elsewhere if name.startswith("_")]
    assert own == ["_described", "_grouped"]  # neither held up a search
