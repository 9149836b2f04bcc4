"""Methods from afar that are one request each: a line of a table says verb, path, what is answered and what is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from functools import partial
from inspect import Parameter, Signature
from string import Formatter
from types import NoneType
from typing import Any, Generic, NoReturn, TypeVar, get_origin
from urllib.parse import parse_qsl

from pydantic import ValidationError

from rag_core.cancellation import Cancellation
from rag_core.domain import StreamEvent
from rag_core.domain.serialiser import from_json, to_json
from rag_core.errors import LecternError, StoreUnavailable
from rag_core.remote.wire import Wire

ROOT = "/api/v1"
Made = TypeVar("Made")


def received(kind: type[Made], told: Any) -> Made:
    """An object of a kind as a server tells of it. Raises StoreUnavailable where the server is of another version."""
    try:
        return from_json(kind, told)
    except ValidationError as error:
        raise StoreUnavailable(
            f"The server's answer is not understood: {error.errors()[0]['msg']}.",
            help="Use the same version of Lectern here and there.",
        ) from error


def answer_told(told: dict[str, Any] | None) -> dict[str, Any] | None:
    """An answer with what is not told of one: its hits, and where its citations stand on their pages."""
    return told and {**told, "hits": (), "citations": [{**one, "boxes": ()} for one in told["citations"]]}


def answer_events(
    wire: Wire, path: str, given: dict[str, Any], cancellation: Cancellation | None
) -> Iterator[StreamEvent]:
    """The events of an answer as it is written, the last with all of it."""
    token = cancellation or Cancellation()
    for name, told in wire.events(path, given):
        yield received(StreamEvent, {"answer": answer_told(told)} if name == "answer" else told)
        if token.is_set():
            return


class NotOffered(LecternError, AttributeError):
    """What only an open library can do; AttributeError, so that `hasattr` is False for it."""


class Remote:
    """What speaks to a server. What only an open library can do raises NotOffered."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        help_text = "Close the application, then try again; in Python with Library.open on its machine."
        error = NotOffered(f"The server {self._wire.url} does not offer this ({name}).", help=help_text)
        error.add_note(help_text)  # shown in a traceback
        raise error


class Call(Generic[Made]):
    """A method of a `Remote` that is one request, `line`, and makes a `kind` of its answer.

    Its arguments are the names in braces, in their order, and then those that it `takes`, which are sent as JSON, or as
    the query by GET and DELETE. What is no object of its own is the first field of the answer; a list of what is not
    there is empty, as in an open library.
    """

    def __init__(self, line: str, kind: type[Made], takes: str = "") -> None:
        self._verb, target = line.split()
        self._path, _, query = target.partition("?")
        self._fixed = parse_qsl(query)
        self._kind = kind
        self._named = [name for _, name, *_ in Formatter().parse(target) if name]
        self.signature = Signature(
            [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in self._named]
            + [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=None) for name in takes.split()]
        )

    def __get__(self, remote: Remote, owner: type) -> Callable[..., Made]:
        return partial(self._ask, remote._wire)

    def _ask(self, wire: Wire, /, *args: object, **named: object) -> Made:
        given = self.signature.bind(*args, **named).arguments
        sent = {name: to_json(value) for name, value in given.items() if name not in self._named}
        query: dict[str, Any] = {name: value.format(**given) for name, value in self._fixed}
        path, body = ROOT + self._path.format(**given), None
        if self._verb in ("GET", "DELETE"):
            query |= sent
        else:
            body = sent
        if self._kind is bytes:
            return wire.bytes(path, query=query)  # type: ignore[return-value]
        try:
            return self._made(wire.ask(self._verb, path, body, query=query))
        except KeyError:
            if self._verb == "GET" and self._named and not is_dataclass(self._kind):
                return (get_origin(self._kind) or self._kind)()
            raise

    def _made(self, answer: Any) -> Made:
        if self._kind is NoneType:
            return None  # type: ignore[return-value]
        return received(self._kind, answer if is_dataclass(self._kind) else next(iter(answer.values())))
