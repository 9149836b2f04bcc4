"""The command `chat`: one question after another, answers streamed.

In a terminal Enter asks, Alt-Enter begins a new line, the arrows bring earlier questions back, and Ctrl-C stops an
answer, not the program. Elsewhere each line is a question, and an empty one ends it.
"""

from __future__ import annotations

import re
import signal
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from rag_core.cancellation import Cancellation
from rag_core.cli import ask as asking
from rag_core.cli.output import complain, is_terminal, say
from rag_core.cli.scoping import narrowed, scoped
from rag_core.cli.session import Session, command
from rag_core.errors import LecternError

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

_HISTORY = "chat-history"
_COMMAND = re.compile(r"/(\w*)(?:\s+(.*))?", re.DOTALL)


@command("chat", help="Talk: one question after another, answers streamed. /help tells more; Ctrl-D ends it.")
@asking.model_option
@asking.agent_option
@asking.conversation_option
@scoped
def chat(
    session: Session, model: str | None, agent: bool | None, conversation: str | None, **given: Any
) -> None:  # fmt: skip
    """Talk until there is no more question."""
    talk = Talk(session, model, conversation, narrowed(session, given), agent)
    live = sys.stdin.isatty() and is_terminal() and not session.as_json
    for said in _typed(session) if live else _lines(session):
        if not talk.take(said.strip()):
            return


class Talk:
    """A conversation on its way."""

    def __init__(
        self, session: Session, model: str | None, conversation: str | None, scope: dict[str, Any] | None,
        agent: bool | None,
    ) -> None:  # fmt: skip
        self._session = session
        self._model = model
        self._conversation = conversation or uuid.uuid4().hex  # known even where the first answer is stopped
        self._scope = scope
        self._agent = agent
        self._answer: dict[str, Any] | None = None

    def take(self, said: str) -> bool:
        """Answer a question, or do what a word after `/` says. Returns False at the end of the conversation."""
        command = _COMMAND.fullmatch(said)
        try:
            if command is not None and command[1] in COMMANDS:
                return COMMANDS[command[1]](self, (command[2] or "").strip())
            if command is not None and not command[2]:
                say(f"There is no {said}; /help tells what there is.")
            elif said:
                self._ask(said)
        except LecternError as error:
            complain(error)
        except click.UsageError as error:
            say(error.message)
        return True

    def _ask(self, question: str) -> None:
        token = Cancellation()
        events = self._session.asked(
            question, self._scope, token, model=self._model, agent=self._agent, conversation=self._conversation
        )  # fmt: skip
        try:
            with _ctrl_c(token, here=self._session.wire is None):
                asking.show(self._session, self._noted(events))
        except KeyboardInterrupt:
            events.close()  # the server stops its work when the connection ends
            say("\nStopped.")
            return
        except LecternError:
            if not token.is_set():
                raise
            say("\nStopped.")

    def _noted(self, events: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        """The events; with the answer, what the next question needs of it."""
        for name, told in events:
            if name == "answer":
                self._answer = told
                self._scope = None  # kept with the conversation, where `@name` may change it
            yield name, told

    def _help(self, rest: str) -> bool:
        """what there is to type"""
        for name, method in COMMANDS.items():
            say(f"  /{name:8} {method.__doc__}")
        say("  @name     in a question: keeps to documents or a tag of that name")
        return True

    def _new(self, rest: str) -> bool:
        """begin a new conversation"""
        self._conversation = uuid.uuid4().hex
        self._scope = self._answer = None
        return True

    def _choose(self, rest: str) -> bool:
        """have another model answer: /model extractive; without a name, list them"""
        if rest:
            self._model = rest
        else:
            for one in self._session.library.language_models.statuses():
                say(f"  {one.id}" + ("" if one.ready else f" (not ready: {one.reason})"))
        return True

    def _narrow(self, rest: str) -> bool:
        """ask of documents or tags of these names alone: /in report, work (/new asks of all again)"""
        names = [name.strip() for name in rest.split(",") if name.strip()]
        self._scope = narrowed(self._session, {"names": names, "documents": (), "tags": ()})
        return True

    def _sources(self, rest: str) -> bool:
        """show the passages of the last answer once more"""
        if self._answer is not None:
            asking.cite(self._session, self._answer)
        return True

    def _export(self, rest: str) -> bool:
        """write this conversation to a file: /export talk.md (or .pdf, .json, .bib)"""
        from rag_core.cli.export import write

        if not rest:
            say("Name a file: /export talk.md")
            return True
        try:
            write(self._session, self._conversation, None, rest)
        except KeyError:
            say("Nothing was asked yet.")
        return True

    def _quit(self, rest: str) -> bool:
        """leave, as Ctrl-D does"""
        return False


COMMANDS: dict[str, Callable[[Talk, str], bool]] = {
    "help": Talk._help, "new": Talk._new, "model": Talk._choose, "in": Talk._narrow, "sources": Talk._sources,
    "export": Talk._export, "quit": Talk._quit,
}  # fmt: skip


def _lines(session: Session) -> Iterator[str]:
    """Lines of standard input until an empty one."""
    while True:
        try:
            line = input("" if session.as_json else "\n› ")
        except EOFError:
            return
        if not line.strip():
            return
        yield line


def _typed(session: Session) -> Iterator[str]:
    """What is typed at a prompt until Ctrl-D."""
    prompt = _prompt(session)
    while True:
        try:
            yield prompt.prompt("\n› ")
        except KeyboardInterrupt:  # the line is given up
            continue
        except EOFError:
            return


def _prompt(session: Session) -> PromptSession[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    keys = KeyBindings()

    @keys.add("enter")
    def ask(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    path = session.folder / _HISTORY
    session.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    words = WordCompleter([f"/{name}" for name in COMMANDS], sentence=True)
    return PromptSession(
        history=FileHistory(path), completer=words, complete_while_typing=False, key_bindings=keys, multiline=True,
        prompt_continuation="  ", enable_open_in_editor=True,
    )  # fmt: skip


@contextmanager
def _ctrl_c(token: Cancellation, *, here: bool) -> Iterator[None]:
    """Ctrl-C sets the token where the answer is made in this process, so that it ends between two steps."""
    if not here:
        yield
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: token.cancel())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
