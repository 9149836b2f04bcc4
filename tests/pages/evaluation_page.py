"""Drawing the evaluation page by AppTest, and pressing its buttons."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.conftest import PROJECT
from tests.made_runs import a_question
from tests.pages.conftest import FakeLibrary, a_document


def draw(**query: str) -> AppTest:
    test = AppTest.from_file(str(PROJECT / "pages" / "evaluation.py"), default_timeout=20)
    for name, value in query.items():
        test.query_params[name] = value
    return again(test)


def again(test: AppTest) -> AppTest:
    test.run()
    assert not test.exception
    return test


def said(test: AppTest) -> str:
    return "\n".join(element.value for element in (*test.markdown, *test.caption, *test.text)).replace("\\", "")


def press(test: AppTest, key: str) -> AppTest:
    test.button(key=key).click()
    return again(test)


def filled(library: FakeLibrary, size: int = 4) -> str:
    library.held = [a_document()]
    return library.evaluation.create("Bridges", [a_question(n) for n in range(size)]).id
