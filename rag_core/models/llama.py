"""Language models in GGUF files, run on this machine by llama.cpp through llama-cpp-python."""

from __future__ import annotations

import ctypes
import json
import logging
import re
import secrets
from codecs import getincrementaldecoder
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import psutil

from rag_core.errors import Cancelled, LecternError, ModelUnavailable
from rag_core.models.base import ChatModel, Provider
from rag_core.models.gguf_files import GGUF_PREFIX, INSTALL_LLAMA, gguf_path, gguf_statuses, llama_missing
from rag_core.models.messages import ChatMessage, Request, Usage, never
from rag_core.models.texts import until_stop
from rag_core.settings import GenerationSettings, Settings

_log = logging.getLogger(__name__)
_LOADING_FAILS = (ValueError, RuntimeError, AssertionError, OSError, KeyError, TypeError, AttributeError)
_PATIENCE = 10  # a prompt takes minutes to read on a slow machine


class LlamaModel(ChatModel):
    """One GGUF file, loaded; takes one request at a time. Raises ModelUnavailable where it cannot be loaded.

    llama.cpp keeps what it read last: of messages that begin like those of the request before, only the rest is read.
    """

    failures = (ValueError, RuntimeError, OSError)

    def __init__(self, path: Path, settings: GenerationSettings) -> None:
        super().__init__()
        self.id = f"{GGUF_PREFIX}{path.name}"
        self.label = path.stem
        self.silence_s = _PATIENCE * settings.timeout_s
        self._temperature = settings.temperature
        self._llm = _load(path, settings)
        self.context_tokens = min(self._llm.n_ctx(), self._llm._model.n_ctx_train() or self._llm.n_ctx())
        self._template = _template(self._llm)
        self._stop_at = _stops(self._llm) if self._template else ("\nQuestion:",)
        self._takes_system = True
        self._try_template()
        self._asked_to_stop: Callable[[], bool] = never
        # Kept on the object: llama.cpp holds a bare pointer to it.
        self._abort = _abort_callback(lambda: self._asked_to_stop())

    def count_tokens(self, text: str) -> int:
        """Tokens of a text by the model's own vocabulary."""
        return len(self._tokens(text))

    def prompt_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """Tokens of messages in the model's chat template."""
        return len(self._prompt(messages))

    def _tokens(self, text: str, *, special: bool = False) -> list[int]:
        if self._closed:
            raise ModelUnavailable(f"{self.label} was closed.", help="Ask again: it is opened again.")
        # Only the template may hold control tokens: a passage that spells one stays plain text.
        tokens: list[int] = self._llm.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=special)
        return tokens

    def _try_template(self) -> None:
        """See at once whether the chat template can be used, and whether it knows system messages."""
        asked, told = ChatMessage("user", "x"), ChatMessage("system", "x")
        try:
            self._prompt((told, asked))
        except ModelUnavailable:
            self._takes_system = False
            self._prompt((asked,))
        after = self._rendered((asked,))[-1]
        self._thinks_first = bool(re.search(r"<think(?:ing)?>\s*$", after))

    def _prompt(self, messages: Sequence[ChatMessage]) -> list[int]:
        """The tokens of messages in the GGUF's own chat template, if it has one. Raises ModelUnavailable."""
        if not self._takes_system:
            messages = _system_joined(messages)
        between = self._rendered(messages)
        tokens = self._tokens(between[0], special=True)
        for message, after in zip(messages, between[1:], strict=True):
            tokens += self._tokens(message.text) + self._tokens(after, special=True)
        begin = [self._llm.token_bos()] if self._llm._model.add_bos_token() and self._llm.token_bos() >= 0 else []
        return tokens if tokens[:1] == begin else begin + tokens

    def _rendered(self, messages: Sequence[ChatMessage]) -> list[str]:
        """What the template puts before, between and behind the messages' texts: one text more than messages."""
        if self._template is None:
            return ["", *["\n\n"] * (len(messages) - 1), ""]
        # Marks stand for the texts, so that nothing in them is taken for a part of the template.
        mark = secrets.token_hex(16)
        marked = [{"role": message.role, "content": f"{mark}{place:04d}"} for place, message in enumerate(messages)]
        parts = re.split(rf"{mark}(\d{{4}})", _render(self._template, marked))
        if [int(place) for place in parts[1::2]] != list(range(len(messages))):
            raise ModelUnavailable(
                f"The chat template of {self.label} leaves the question out.", help="Use another model file."
            )
        return parts[::2]

    def _generate(self, request: Request) -> Generator[str | Usage, None, None]:
        tokens = self._prompt(request.messages)
        room = self.context_tokens - len(tokens)
        if room < 1:
            raise ModelUnavailable(
                f"The question and its passages have {len(tokens)} tokens; {self.label} takes {self.context_tokens}.",
                help="Ask a shorter question, or raise generation.context_tokens.",
            )
        written: list[int] = []
        with self._stoppable(request.cancelled):
            # Not create_completion: it turns the whole prompt back into text for every token that it streams.
            drawn = self._drawn(tokens, min(request.max_tokens, room), request.json_schema, written)
            yield from until_stop(self._texts(drawn), self._stop_at)
        yield Usage(len(tokens), len(written))

    def _drawn(
        self, tokens: list[int], most: int, json_schema: Mapping[str, Any] | None, written: list[int]
    ) -> Iterator[int]:
        """The tokens that the model draws after `tokens`, each added to `written`."""
        grammar = _grammar(json_schema) if json_schema else None
        for token in islice(self._llm.generate(tokens, temp=self._temperature, grammar=grammar), most):
            if not written:
                # llama.cpp asks for each step of a token, hundreds of times, and waits for Python's lock each time.
                _set_abort_callback(self._llm, None)
            if self._is_end(token):
                return
            written.append(token)
            yield token

    def _texts(self, tokens: Iterator[int]) -> Iterator[str]:
        """The text of tokens, one by one; a character split among tokens comes once whole."""
        decoder = getincrementaldecoder("utf-8")("replace")
        for token in tokens:
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
        _set_abort_callback(self._llm, self._abort)
        try:
            yield
        except RuntimeError as error:
            if not cancelled():
                raise
            raise Cancelled("Stopped while the model was reading.") from error
        finally:
            self._asked_to_stop = never
            if cancelled():
                self._llm.reset()

    def _explain(self, error: Exception) -> LecternError:
        return ModelUnavailable(
            f"{self.label} stopped with an error: {error}", help="Ask again, or choose another model."
        )

    def _free(self) -> None:
        self._llm.close()


def _load(path: Path, settings: GenerationSettings) -> Any:
    """The file as llama_cpp.Llama, on the GPU where llama.cpp was built for one."""
    if missing := llama_missing():
        raise ModelUnavailable(missing)
    try:
        import llama_cpp
        from jinja2 import TemplateError
    except (ImportError, OSError, RuntimeError) as error:
        raise ModelUnavailable(f"llama-cpp-python cannot be loaded: {error}", help=INSTALL_LLAMA) from error
    offloads = bool(llama_cpp.llama_supports_gpu_offload())
    try:
        if offloads and settings.gpu_layers:
            try:
                return _loaded(path, settings, settings.gpu_layers)
            except _LOADING_FAILS as error:  # the GPU's memory is too small: the processor has the machine's
                _log.warning("%s does not fit on the GPU: %s", path.name, error)
        return _loaded(path, settings, 0)
    except (*_LOADING_FAILS, TemplateError) as error:
        raise ModelUnavailable(
            f"The model file {path.name} cannot be loaded: it is damaged, too large for the memory, or of a kind that "
            f"this llama.cpp is too old for ({error}).",
            help="Download it again, choose a smaller one, or update llama-cpp-python.",
        ) from error


def _loaded(path: Path, settings: GenerationSettings, gpu_layers: int) -> Any:
    import llama_cpp

    threads = settings.threads or psutil.cpu_count(logical=False) or 1
    return llama_cpp.Llama(
        model_path=str(path),
        n_ctx=settings.context_tokens,
        n_gpu_layers=gpu_layers,
        n_threads=threads,
        n_threads_batch=threads,
        verbose=False,
    )


def _template(llm: Any) -> Any:
    """The GGUF's own chat template, or None. Raises ModelUnavailable for one that is no template."""
    from jinja2 import TemplateError
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    text = llm.metadata.get("tokenizer.chat_template")
    begin, end = (
        llm._model.token_get_text(token) if token >= 0 else "" for token in (llm.token_bos(), llm.token_eos())
    )
    try:
        # llama-cpp-python renders templates in a sandbox: they come with the file, not from us.
        return Jinja2ChatFormatter(text, eos_token=end, bos_token=begin) if text else None
    except TemplateError as error:
        raise ModelUnavailable(f"The model's chat template cannot be used: {error}") from error


def _stops(llm: Any) -> tuple[str, ...]:
    """The text at which an answer ends, where the model spells it instead of drawing its token."""
    end = llm._model.token_get_text(llm.token_eos()) if llm.token_eos() >= 0 else ""
    return (end,) if end else ()


def _render(template: Any, messages: list[dict[str, str]]) -> str:
    from jinja2 import TemplateError

    try:
        # Of the models that think aloud only if they are asked to, the answer is wanted alone.
        return str(template(messages=messages, enable_thinking=False).prompt)
    except (TemplateError, ValueError, TypeError) as error:
        raise ModelUnavailable(f"The model's chat template cannot be used: {error}") from error


def _system_joined(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Messages whose system's text stands at the head of the user's first."""
    told = "\n\n".join(message.text for message in messages if message.role == "system")
    rest = [message for message in messages if message.role != "system"]
    if told and rest:
        rest[0] = ChatMessage(rest[0].role, f"{told}\n\n{rest[0].text}")
    return tuple(rest)


def _grammar(json_schema: Mapping[str, Any]) -> Any:
    """A JSON schema as the grammar that llama.cpp draws by. Raises ValueError."""
    from llama_cpp import LlamaGrammar

    return LlamaGrammar.from_json_schema(json.dumps(json_schema), verbose=False)


def _abort_callback(asked: Callable[[], bool]) -> Any:
    """`asked` as a C function of the kind that llama.cpp calls while it computes."""
    from llama_cpp.llama_cpp import ggml_abort_callback

    return ggml_abort_callback(lambda _: asked())


def _set_abort_callback(llm: Any, callback: Any | None) -> None:
    """Let llama.cpp call `callback` while it computes, or nothing."""
    from llama_cpp.llama_cpp import ggml_abort_callback, llama_set_abort_callback

    llama_set_abort_callback(llm._ctx.ctx, callback or ggml_abort_callback(), ctypes.c_void_p())


def _open(model_id: str, settings: Settings) -> LlamaModel:
    return LlamaModel(gguf_path(model_id.removeprefix(GGUF_PREFIX), settings.models_dir), settings.generation)


PROVIDER = Provider(GGUF_PREFIX, lambda settings: gguf_statuses(settings.models_dir), _open)
