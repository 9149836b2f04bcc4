"""A real server with the doors of a real library on a free port."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.http.h11_impl import H11Protocol

from rag_core import Library, Settings
from rag_core.api import heads
from rag_core.api.doors import Doors
from rag_core.api.guard import Guard
from rag_core.settings import DoorSettings

HANDBOOK = (
    "The annual leave of employees is 27 days.\n\nMeals on journeys are paid up to 54 euros a day.\n\n"
    "The notice period is three months."
)
TRAVEL = "Trains are booked by the office in Utrecht.\n\nFlights below 600 kilometres are not paid."


@dataclass(frozen=True)
class Served:
    """A running server."""

    url: str
    doors: Doors
    library: Library

    def client(self, key: str = "", **headers: str) -> httpx.Client:
        sent = {**headers, **({"Authorization": f"Bearer {key}"} if key else {})}
        return httpx.Client(base_url=self.url, headers=sent, timeout=60)


@contextmanager
def serve(
    library: Library, address: str = "127.0.0.1", settings: DoorSettings | None = None, *, http: str = "auto"
) -> Iterator[Served]:
    """The doors of a library, bound to `address` as far as the guard knows; in truth on 127.0.0.1 always.

    Beside them a page, one that fails, and one that says back what it is told over a WebSocket.
    """
    doors = Doors(lambda: library, address=address, settings=settings or DoorSettings())
    pages = [
        Route("/", lambda request: PlainTextResponse("a page")), Route("/fails", _fails),
        WebSocketRoute("/_stcore/stream", _echo), Route("/{path:path}", lambda request: PlainTextResponse("a part"),
                                                        methods=["GET", "PUT"]),
    ]  # fmt: skip
    app = Starlette(routes=[doors.route, *pages], middleware=[Middleware(Guard, doors=doors)])
    listening = socket.create_server(("127.0.0.1", 0))
    for protocol in (AutoHTTPProtocol, H11Protocol):
        heads.limit(protocol)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="websockets-sansio", http=http))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Served(f"http://127.0.0.1:{listening.getsockname()[1]}", doors, library)
    finally:
        doors.closing.set()
        server.should_exit = True
        thread.join(30)
        listening.close()


def _fails(request: Request) -> PlainTextResponse:
    raise ZeroDivisionError


async def _echo(socket: WebSocket) -> None:
    await socket.accept("streamlit")
    async for text in socket.iter_text():
        await socket.send_text(text)


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[Library]:
    """A library with a handbook, tagged work, and a guide for journeys; shared by this folder's tests.

    They leave its documents as they are; keys, conversations and the audit grow, so none counts them.
    """
    from tests.conftest import add_text

    folder = tmp_path_factory.mktemp("l")
    with Library.open(Settings(_env_file=None, data_dir=folder / "library", database_url=new_database())) as library:
        handbook = add_text(library, "handbook.txt", HANDBOOK)
        travel = add_text(library, "travel.txt", TRAVEL)
        library.catalogue.rename(handbook.id, "handbook")
        library.catalogue.rename(travel.id, "travel")
        library.catalogue.tag([handbook.id], add=["work"])
        yield library


@pytest.fixture(scope="session")
def served(filled: Library) -> Iterator[Served]:
    """The doors of that library, for whoever is on this machine."""
    with serve(filled) as running:
        yield running


@pytest.fixture(scope="session")
def rest(served: Served) -> Iterator[httpx.Client]:
    """A client without a key."""
    with served.client() as client:
        yield client


@pytest.fixture
def abroad(filled: Library) -> AbstractContextManager[Served]:
    """The doors as they are where others reach them."""
    return serve(filled, "192.0.2.7")
