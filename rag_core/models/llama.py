"""Language models in GGUF files, run on this machine by llama.cpp through llama-cpp-python."""

from __future__ import annotations

import ctypes
import secrets
from codecs import getincrementaldecoder
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import psutil

from rag_core.errors import Cancelled, LecternError, ModelUnavailable
from rag_core.models.base import ChatModel
from rag_core.models.registry import GGUF_PREFIX, INSTALL_LLAMA
from rag_core.settings import GenerationSettings

_LOADING_FAILS = (ValueError, RuntimeError, AssertionError, OSError, KeyError, TypeError, AttributeError)


class LlamaModel(ChatModel):
    """One GGUF file, loaded; takes one request at a time. Raises ModelUnavailable where it cannot be loaded."""

    failures = (ValueError, RuntimeError, OSError)

    def __init__(self, path: Path, settings: GenerationSettings) -> None:
        super().__init__()
        self.id = f"{GGUF_PREFIX}{path.name}"
        self.label = path.stem
        self._temperature = settings.temperature
        self._llm = _load(path, settings)
        self.context_tokens = min(self._llm.n_ctx(), self._llm._model.n_ctx_train() or self._llm.n_ctx())
        self._before, self._after, self._stop_at = self._frame()
        self._asked_to_stop: Callable[[], bool] = _never
        # Kept on the object: llama.cpp holds a bare pointer to it.
        self._abort = _abort_callback(lambda: self._asked_to_stop())
        _set_abort_callback(self._llm, self._abort)

    def count_tokens(self, text: str) -> int:
        """Tokens of a text by the model's own vocabulary."""
        return len(self._tokens(text))

    def prompt_overhead(self) -> int:
        """Tokens of the model's chat template around a prompt."""
        return len(self._before) + len(self._after)

    def _tokens(self, text: str, *, special: bool = False) -> list[int]:
        if self._closed:
            raise ModelUnavailable(f"{self.label} was closed.", help="Ask again: it is opened anew.")
        # Only the template may hold control tokens: a passage that spells one stays plain text.
        tokens: list[int] = self._llm.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=special)
        return tokens

    def _frame(self) -> tuple[list[int], list[int], list[str]]:
        """Tokens before and after a prompt, and where to stop: by the GGUF's own chat template, if it has one."""
        begin = [self._llm.token_bos()] if self._llm._model.add_bos_token() and self._llm.token_bos() >= 0 else []
        template = self._llm.metadata.get("tokenizer.chat_template")
        if not template:
            return begin, [], ["\nQuestion:"]
        mark = secrets.token_hex(16)
        text, stop = _render(template, mark, self._llm)
        before, found, after = text.partition(mark)
        if not found:
            raise ModelUnavailable(
                f"The chat template of {self.label} leaves the question out.", help="Use another model file."
            )
        head = self._tokens(before, special=True)
        return (head if head[:1] == begin else begin + head), self._tokens(after, special=True), stop

    def _generate(self, prompt: str, max_tokens: int, cancelled: Callable[[], bool]) -> Generator[str, None, None]:
        tokens = [*self._before, *self._tokens(prompt), *self._after]
        room = self.context_tokens - len(tokens)
        if room < 1:
            raise ModelUnavailable(
                f"The question and its passages have {len(tokens)} tokens; {self.label} takes {self.context_tokens}.",
                help="Ask a shorter question, or raise generation.context_tokens.",
            )
        with self._stoppable(cancelled):
            # Not create_completion: it turns the whole prompt back into text for every token that it streams.
            yield from until_stop(self._texts(tokens, min(max_tokens, room)), self._stop_at)

    def _texts(self, tokens: list[int], most: int) -> Iterator[str]:
        """What the model writes after `tokens`, token by token; a character split among tokens comes once whole."""
        decoder = getincrementaldecoder("utf-8")("replace")
        for token in islice(self._llm.generate(tokens, temp=self._temperature), most):
            if self._is_end(token):
                break
            if text := decoder.decode(self._llm._model.detokenize([token])):
                yield text
        if rest := decoder.decode(b"", final=True):
            yield rest

    def _is_end(self, token: int) -> bool:
        from llama_cpp.llama_cpp import llama_vocab_is_eog

        return bool(llama_vocab_is_eog(self._llm._model.vocab, token))

    @contextmanager
    def _stoppable(self, cancelled: Callable[[], bool]) -> Iterator[None]:
        """Let a stop reach llama.cpp while it reads the prompt, which takes longer than any token."""
        self._asked_to_stop = cancelled
        try:
            yield
        except RuntimeError as error:
            if not cancelled():
                raise
            raise Cancelled("Stopped while the model was reading.") from error
        finally:
            self._asked_to_stop = _never
            if cancelled():
                self._llm.reset()

    def _explain(self, error: Exception) -> LecternError:
        return ModelUnavailable(
            f"{self.label} stopped with an error: {error}", help="Ask again, or choose another model."
        )

    def _free(self) -> None:
        self._llm.close()


def until_stop(pieces: Iterable[str], stops: Sequence[str]) -> Iterator[str]:
    """Pieces of text up to the first of `stops`; what may be its beginning is held back until that is clear."""
    held = ""
    for piece in pieces:
        held += piece
        found = [place for place in (held.find(stop) for stop in stops) if place >= 0]
        if found:
            held = held[: min(found)]
            break
        kept = max((n for stop in stops for n in range(1, len(stop)) if held.endswith(stop[:n])), default=0)
        if ready := held[: len(held) - kept]:
            yield ready
        held = held[len(held) - kept :]
    if held:
        yield held


def _load(path: Path, settings: GenerationSettings) -> Any:
    """The file as llama_cpp.Llama, on the GPU where llama.cpp was built for one."""
    if find_spec("llama_cpp") is None:
        raise ModelUnavailable("The package llama-cpp-python is not installed.", help=INSTALL_LLAMA)
    try:
        import llama_cpp
        from jinja2 import TemplateError
    except (ImportError, OSError, RuntimeError) as error:
        raise ModelUnavailable(f"llama-cpp-python cannot be loaded: {error}", help=INSTALL_LLAMA) from error
    threads = settings.threads or psutil.cpu_count(logical=False) or 1
    try:
        return llama_cpp.Llama(
            model_path=str(path),
            n_ctx=settings.context_tokens,
            n_gpu_layers=settings.gpu_layers if llama_cpp.llama_supports_gpu_offload() else 0,
            n_threads=threads,
            n_threads_batch=threads,
            verbose=False,
        )
    except (*_LOADING_FAILS, TemplateError) as error:
        raise ModelUnavailable(
            f"The model file {path.name} cannot be loaded: it is damaged, or of a kind that this llama.cpp is too old "
            f"for ({error}).",
            help="Download it again, or update llama-cpp-python.",
        ) from error


def _render(template: str, mark: str, llm: Any) -> tuple[str, list[str]]:
    """The chat template around `mark`, and the texts at which an answer ends."""
    from jinja2 import TemplateError
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    begin, end = (
        llm._model.token_get_text(token) if token >= 0 else "" for token in (llm.token_bos(), llm.token_eos())
    )
    try:
        # llama-cpp-python renders templates in a sandbox: they come with the file, not from us.
        shaped = Jinja2ChatFormatter(template, eos_token=end, bos_token=begin)(
            messages=[{"role": "user", "content": mark}]
        )
    except (TemplateError, ValueError, TypeError) as error:
        raise ModelUnavailable(f"The model's chat template cannot be used: {error}") from error
    stop = [shaped.stop] if isinstance(shaped.stop, str) else list(shaped.stop or [])
    return shaped.prompt, [text for text in stop if text]


def _abort_callback(asked: Callable[[], bool]) -> Any:
    """`asked` as a C function of the kind that llama.cpp calls while it computes."""
    from llama_cpp.llama_cpp import ggml_abort_callback

    return ggml_abort_callback(lambda _: asked())


def _set_abort_callback(llm: Any, callback: Any) -> None:
    from llama_cpp.llama_cpp import llama_set_abort_callback

    llama_set_abort_callback(llm._ctx.ctx, callback, ctypes.c_void_p())


def _never() -> bool:
    return False
