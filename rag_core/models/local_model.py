"""What every runtime of GGUF files is: its author turns text into tokens, draws tokens, and says what they spell.

Prompt, chat template, stops, counts and messages are the same whichever runtime reads the file.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from codecs import getincrementaldecoder
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import ClassVar

from rag_core.errors import Cancelled, LecternError, ModelUnavailable
from rag_core.models.base import ChatModel
from rag_core.models.chat_template import ChatTemplate
from rag_core.models.gguf_files import GGUF_PREFIX
from rag_core.models.messages import ChatMessage, Cut, Request, Usage
from rag_core.models.texts import until_stop
from rag_core.settings import GenerationSettings

TOP_K, MIN_P = 40, 0.05  # llama.cpp's own; every runtime draws alike
_SMALL_BYTES = 2_200_000_000  # three billion parameters at 4 to 5 bits each
_PATIENCE = 10  # a prompt takes minutes to read on a slow machine
TRIAL_READ, TRIAL_WRITTEN = 128, 12


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens a second of a prompt and of an answer, 0 where none came in time; and what was written."""

    read: float
    written: float
    text: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a runtime is to draw: at most `most` tokens after `tokens`; see `ChatModel.stream` for the request."""

    tokens: list[int]
    most: int
    temperature: float
    top_p: float
    request: Request


class LocalModel(ChatModel):
    """One GGUF file, loaded; takes one request at a time. `_begin` goes before every prompt, where there is one."""

    failures: tuple[type[Exception], ...] = (ValueError, RuntimeError, OSError)
    runtime: ClassVar[str]

    def __init__(self, path: Path, settings: GenerationSettings) -> None:
        super().__init__()
        self.id = f"{GGUF_PREFIX}{path.name}"
        self.label = path.stem
        self.is_small = path.stat().st_size < _SMALL_BYTES
        self.silence_s = _PATIENCE * settings.timeout_s
        self._settings = settings
        self._begin: int | None = None

    def _use_template(self, text: str, begin: str, end: str) -> None:
        """Take the file's own template, if it has one. Raises ModelUnavailable for one that cannot be used."""
        self._template = ChatTemplate(text, begin, end, self.label)
        self._thinks_first = self._template.thinks_first
        self.goes_on = not self._thinks_first
        # The text at which an answer ends, where the model spells it instead of drawing its token.
        self._stop_at = tuple(filter(None, [end])) if self._template.is_there else ("\nQuestion:",)

    @abstractmethod
    def _encode(self, text: str, *, special: bool) -> list[int]:
        """See `tokens`."""

    @abstractmethod
    def _drawn(self, drawing: Drawing) -> Generator[int, None, None]:
        """The tokens that the model draws, without the one that ends its answer. Raises Cancelled."""

    @abstractmethod
    def spelt(self, token: int) -> bytes:
        """What a token adds to the text; nothing for a control token."""

    def count_tokens(self, text: str) -> int:
        """Tokens of a text by the model's own vocabulary."""
        return len(self.tokens(text))

    def prompt_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """Tokens of messages in the model's chat template."""
        return len(self.prompt(messages))

    def trial(self, begin: int, limit_s: float) -> Speed:
        """How fast the model reads and writes, tried for at most about `limit_s` seconds.

        It is given numbers from `begin` on, whose going on no model mistakes; each trial begins at another, for what
        was read before is not read again. Raises ModelUnavailable.
        """
        tokens = self.tokens(", ".join(str(number) for number in range(begin, begin + TRIAL_READ)))[:TRIAL_READ]
        began = time.monotonic()
        request = Request((), TRIAL_WRITTEN, cancelled=lambda: time.monotonic() - began > limit_s)
        moments, written = [began], b""
        try:
            with closing(self._drawn(Drawing(tokens[-4:], 2, 0.0, 1.0, request))) as drawn:
                list(drawn)  # what a runtime does once is not taken for its speed
            moments = [time.monotonic()]
            with closing(self._drawn(Drawing(tokens, TRIAL_WRITTEN, 0.0, 1.0, request))) as drawn:
                for token in drawn:
                    moments.append(time.monotonic())
                    written += self.spelt(token)
                    if request.cancelled():
                        break
        except Cancelled:
            moments.append(time.monotonic())
        except self.failures as error:
            raise self._explain(error) from error
        moments = moments if len(moments) > 1 else [*moments, time.monotonic()]
        read_s, written_s = moments[1] - moments[0], moments[-1] - moments[1]
        pace = (len(moments) - 2) / written_s if written_s > 0 else 0.0
        return Speed(len(tokens) / max(read_s, 1e-6), pace, written.decode("utf-8", "replace"))

    def tokens(self, text: str, *, special: bool = False) -> list[int]:
        """A text's tokens; only with `special` do control tokens that it spells count as such."""
        if self._closed:
            raise ModelUnavailable(f"{self.label} was closed.", help="Ask again: it is opened again.")
        return self._encode(text, special=special)

    def prompt(self, messages: Sequence[ChatMessage]) -> list[int]:
        """The tokens of messages in the file's own chat template, if it has one. Raises ModelUnavailable.

        Only the template may hold control tokens: a passage that spells one stays plain text. An answer that they end
        with is left open.
        """
        begun = messages[-1].text if messages[-1].role == "assistant" else ""
        messages = self._template.fitted(messages[:-1] if begun else messages)
        between = self._template.between(messages)
        tokens = self.tokens(between[0], special=True)
        for message, after in zip(messages, between[1:], strict=True):
            tokens += self.tokens(message.text) + self.tokens(after, special=True)
        tokens += self.tokens(begun)
        begin = [] if self._begin is None else [self._begin]
        return tokens if tokens[:1] == begin else begin + tokens

    def _generate(self, request: Request) -> Generator[str | Usage | Cut, None, None]:
        tokens = self.prompt(request.messages)
        room = self.context_tokens - len(tokens)
        if room < 1:
            raise ModelUnavailable(
                f"The question and its passages have {len(tokens)} tokens; {self.label} takes {self.context_tokens}.",
                help="Ask a shorter question, or raise generation.context_tokens.",
            )
        drawing = Drawing(
            tokens, min(request.max_tokens, room), self._settings.temperature, self._settings.top_p, request
        )
        written: list[int] = []
        with closing(self._drawn(drawing)) as drawn:
            yield from until_stop(self._texts(islice(drawn, drawing.most), written), self._stop_at)
        yield Usage(len(tokens), len(written))
        if len(written) >= drawing.most:
            yield Cut()

    def _texts(self, tokens: Iterator[int], written: list[int]) -> Iterator[str]:
        """The text of tokens, one by one, each added to `written`; a character split among tokens comes once whole."""
        decoder = getincrementaldecoder("utf-8")("replace")
        for token in tokens:
            written.append(token)
            if text := decoder.decode(self.spelt(token)):
                yield text
        if rest := decoder.decode(b"", final=True):
            yield rest

    def _explain(self, error: Exception) -> LecternError:
        return ModelUnavailable(
            f"{self.label} stopped with an error: {error}", help="Ask again, or choose another model."
        )
