"""The tree of clusters on the library page, walked over a played library."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from pages.parts.clusters import named
from rag_core.domain import Chunk, ClusterTree, DocumentCluster
from rag_core.errors import StoreUnavailable
from tests.pages.conftest import FakeLibrary, a_document
from tests.pages.test_pages import draw, said


def labels(test: AppTest) -> list[str]:
    return [button.label for button in test.button if str(button.key).startswith("upload_cluster")]


def press(test: AppTest, key: str) -> AppTest:
    test.button(key=f"upload_cluster_{key}").click().run()
    assert not test.exception
    return test


def fill(library: FakeLibrary) -> None:
    library.held = [a_document("bridges.txt"), a_document("rivers.txt")]
    clusters = (DocumentCluster(("steel", "stone"), ("bridges.txt", "gone.txt")), DocumentCluster((), ("rivers.txt",)))
    library.tree = ClusterTree(clusters, waiting=1)
    library.cut = [
        Chunk(document_id="bridges.txt", index=index, page=2, text=f"Part *{index}* of steel.", start=0, end=9, md5="")
        for index in range(5)
    ]


def test_without_clusters_there_is_no_tree(library: FakeLibrary) -> None:
    library.held = [a_document()]
    assert not draw("upload").expander


def test_the_tree_is_walked_down_to_a_chunk_and_back(library: FakeLibrary) -> None:
    fill(library)
    test = draw("upload")
    assert "1 document to be grouped still" in said(test)
    assert labels(test) == ["steel, stone · 2 documents", "No words · 1 document"]
    assert labels(press(test, "0")) == ["Back", "Bridges · 5 passages"]
    assert labels(press(test, "bridges.txt")) == ["Back", "steel, bridges · 2 passages", "No words · 1 passage"]
    assert labels(press(test, "0"))[1:] == [f"p. 2 · Part \\*{index}\\* of steel\\." for index in range(2)]
    assert labels(press(press(test, "back"), "back")) == ["Back", "Bridges · 5 passages"]


def test_a_chunk_opens_its_page(library: FakeLibrary) -> None:
    fill(library)
    test = press(press(press(press(draw("upload"), "0"), "bridges.txt"), "0"), "chunk_1")
    assert (test.query_params["d"], test.query_params["p"]) == ("bridges.txt", "2")
    assert test.session_state["upload_marked"] == 1


def test_a_cluster_that_went_leads_back_to_all(library: FakeLibrary) -> None:
    fill(library)
    test = press(draw("upload"), "1")
    library.tree = ClusterTree(library.tree.clusters[:1])
    assert "steel, stone · 2 documents" in labels(test.run())


def test_a_store_that_fails_is_told(library: FakeLibrary) -> None:
    def fail() -> ClusterTree:
        raise StoreUnavailable("PostgreSQL is away.")

    library.clusters.tree = fail
    assert "PostgreSQL is away" in said(draw("upload"))


def test_a_name_has_a_few_words_and_no_marks() -> None:
    assert named(("a_b", "two", "three", "four", "five", "six")) == "a\\_b, two, three, four, five"
