"""What went while searches go on is known to each of them, and to nobody for longer."""

from __future__ import annotations

import random

from accelerator.removals import Removals


def test_without_a_search_nothing_is_remembered() -> None:
    removals = Removals()
    for number in range(1000):
        removals.note([f"key {number}"])
    assert len(removals) == 0
    event = removals.begin()
    assert removals.none_of(["key 1", "key 999"], event)
    removals.note(["key 1"])
    assert not removals.none_of(["key 999", "key 1"], event)
    removals.end(event)
    assert len(removals) == 0


def test_each_search_knows_what_went_since_it_began() -> None:
    """By chance, compared with what remembers everything for good."""
    chance = random.Random(1)
    removals, gone, searches, events = Removals(), dict[str, int](), list[tuple[int, int]](), 0
    for _ in range(5000):
        step = chance.random()
        if step < 0.4:
            keys = {str(chance.randrange(40)) for _ in range(chance.randint(1, 3))}
            removals.note(keys)
            events += 1
            gone.update(dict.fromkeys(keys, events))
        elif step < 0.7 or not searches:
            searches.append((removals.begin(), events))
        else:
            removals.end(searches.pop(chance.randrange(len(searches)))[0])
        for event, began in searches:
            for key in map(str, range(40)):
                assert removals.none_of([key], event) == (gone.get(key, 0) <= began)
        if len(searches) > 20:
            while searches:
                removals.end(searches.pop()[0])
            assert len(removals) == 0
