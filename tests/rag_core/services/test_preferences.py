"""What a user decided about a library, where several decide at once."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from rag_core import Library, Settings
from rag_core.services.preferences import Preferences


def test_settings_that_several_apply_at_once_are_all_kept(library: Library, settings: Settings) -> None:
    # Each has a lock of its own, as the callers of two processes have.
    both = [library.preferences, Preferences(settings, library.storage)]
    together = Barrier(2)

    def apply(number: int) -> None:
        for turn in range(30):
            together.wait(30)
            name = "retrieval.k" if number else "retrieval.fetch_k"
            both[number].apply({name: 20 + turn})

    for _ in range(2):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(apply, range(2)))
        kept = json.loads(library.preferences.get("settings") or "")
        assert (kept["retrieval.k"], kept["retrieval.fetch_k"]) == (49, 49)
        library.preferences.set("settings", None)
    assert both[0].settings.retrieval.fetch_k == 49


def test_the_model_is_applied_beside_other_settings(library: Library, settings: Settings) -> None:
    library.preferences.apply({"generation.model": "extractive", "retrieval.k": 9})
    library.preferences.apply({"retrieval.mmr_lambda": 0.7})
    again = Preferences(settings, library.storage)
    assert (again.model, again.settings.retrieval.k, again.settings.retrieval.mmr_lambda) == ("extractive", 9, 0.7)
    library.preferences.set("settings", "{damaged")
    library.preferences.apply({"retrieval.k": 8})
    assert json.loads(library.preferences.get("settings") or "") == {"retrieval.k": 8}
