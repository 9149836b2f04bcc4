"""A house of three people: what a library has of Ada, which no other is to learn of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from rag_core import Library, Settings, Upload
from rag_core.domain import Document
from rag_core.personal import library_of
from rag_core.settings import DoorSettings
from tests.rag_core.api.conftest import Served, serve

HOST = "192.0.2.7"
ADA, BOB, EVE = "ada@example.org", "bob@example.org", "eve@example.org"
SECRET = (
    "# Orchestra\n\n## Instruments\n\nThe xylophone of Igor Vantablack is named Blueheron and costs 7715533 euros.\n\n"
    "The quixotron is kept in the cellar of Zanzibarra."
)
PRICES = "Instrument,Price\nxylophone,7715533\nquixotron,8815533\nblueheron,9915533\n"
WORDS = (
    "xylophone",
    "vantablack",
    "blueheron",
    "quixotron",
    "zanzibarra",
    "7715533",
    "8815533",
    "topsecret",
    "orchestra",
)
GUESSED = "f" * 32
QUESTION = "What does the xylophone of Igor Vantablack cost?"
# What differs in answers to the same: times, and what was made up for each.
_PASSING = re.compile(r"\d{4}-\d\d-\d\dT[\d:.+Z-]+|\"took_ms\": ?[\d.]+")


@dataclass(frozen=True)
class House:
    """A library of three people, with what Ada has in it."""

    served: Served
    keys: dict[str, str]
    secret: Document
    prices: Document
    collection: str
    conversation: str
    message: str

    def client(self, person: str, role: str = "write") -> httpx.Client:
        return self.served.client(self.keys[f"{person} {role}"], Host=HOST)


@contextmanager
def opened(folder: Path, database_url: str) -> Iterator[House]:
    """The house, served from a folder."""
    settings = Settings(_env_file=None, data_dir=folder / "library", database_url=database_url)
    with Library.open(settings) as library:
        everybodys(library, "rules.txt", "The annual leave of employees is 27 days.")
        ada, bob = library_of(library, ADA), library_of(library, BOB)
        secret, prices = added(ada, "vantablack.md", SECRET), added(ada, "prices.csv", PRICES)
        ada.catalogue.tag([secret.id, prices.id], add=["TopSecret"])
        collection = ada.collections.make("TopSecret", instructions="Name the orchestra.").id
        answer = ada.ask(QUESTION, conversation="adas-own")
        assert "7715533" in answer.text
        added(bob, "note.txt", "Trains are booked by the office in Utrecht.")
        library.storage.settle()
        keys = {
            f"{person} {role}": library.access.create(f"{person} {role}", role, person=person)[1]
            for person in (ADA, BOB, EVE) for role in ("read", "write")
        }  # fmt: skip
        (folder / "given").mkdir()
        (folder / "given" / "vantablack.md").write_text(SECRET)
        with serve(library, HOST, DoorSettings(rate_per_s=1e6, folders=(folder / "given",))) as served:
            yield House(served, keys, secret, prices, collection, answer.conversation, answer.message_id)


def everybodys(library: Library, name: str, text: str) -> Document:
    return added(library, name, text)


def added(library: Library, name: str, text: str) -> Document:
    *_, last = library.add([Upload(name, text.encode())])
    assert last.document is not None, last.error
    return last.document


def secrets_in(text: str) -> list[str]:
    return [word for word in WORDS if word in text.casefold()]


def same(house: House, text: str) -> str:
    """An answer with every id of a thing as one word."""
    for one in (house.secret.id, house.prices.id, house.collection, house.conversation, house.message, GUESSED):
        text = text.replace(one, "ID")
    return _PASSING.sub("T", text)


def assert_whole(house: House) -> None:
    """What Ada has is as it was."""
    ada = library_of(house.served.library, ADA)
    assert {one.title for one in ada.documents()} >= {house.secret.title, house.prices.title}
    assert ada.document(house.secret.id).tags == ("TopSecret",)
    assert [one.question for one in ada.messages(house.conversation)] == [QUESTION]
    assert ada.messages(house.conversation)[0].rating is None
    assert [one.name for one in ada.collections.all()] == ["TopSecret"]
    assert ada.people.members(house.collection) == {}
    assert ada.search(QUESTION)[0].document.id == house.secret.id
