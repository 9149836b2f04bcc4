"""A library of a module's own documents, opened once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core import Library, Settings, Upload


@pytest.fixture(scope="module")
def texts_library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The module's TEXTS by their names, which every index has."""
    with Library.open(Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("data"))) as opened:
        for event in opened.add([Upload(name, text.encode()) for name, text in request.module.TEXTS.items()]):
            assert event.error is None
        opened.storage.settle()
        yield opened
