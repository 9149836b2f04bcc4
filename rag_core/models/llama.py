"""llama.cpp, through llama-cpp-python: opens every GGUF file, on the graphics card where it was built for one."""

from __future__ import annotations

import ctypes
import json
import logging
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import psutil

from rag_core.errors import Cancelled, ModelUnavailable
from rag_core.models.gguf_files import INSTALL_LLAMA, llama_missing
from rag_core.models.local_model import MIN_P, TOP_K, Drawing, LocalModel
from rag_core.models.messages import never
from rag_core.models.texts import THOUGHT_MARKS
from rag_core.settings import GenerationSettings

_log = logging.getLogger(__name__)
_LOADING_FAILS = (ValueError, RuntimeError, AssertionError, OSError, KeyError, TypeError, AttributeError)
LLAMA = "llama.cpp"


class LlamaModel(LocalModel):
    """One GGUF file in llama.cpp. Raises ModelUnavailable where it cannot be loaded.

    llama.cpp keeps what it read last: of messages that begin like those of the request before, only the rest is read.
    threads: 0 for as many as the settings say, or as the processor has cores.
    """

    runtime = LLAMA

    def __init__(self, path: Path, settings: GenerationSettings, threads: int = 0) -> None:
        super().__init__(path, settings)
        self._llm = _load(path, settings)
        if threads:
            self.use_threads(threads)
        self.context_tokens = min(self._llm.n_ctx(), self._llm._model.n_ctx_train() or self._llm.n_ctx())
        model, begin, end = self._llm._model, self._llm.token_bos(), self._llm.token_eos()
        self._begin = begin if model.add_bos_token() and begin >= 0 else None
        spelt = [model.token_get_text(token) if token >= 0 else "" for token in (begin, end)]
        self._use_template(self._llm.metadata.get("tokenizer.chat_template") or "", *spelt)
        marks = ((mark, self._encode(mark, special=True)) for mark in THOUGHT_MARKS)
        self._thoughts = {tokens[0]: mark.encode() for mark, tokens in marks if len(tokens) == 1}
        self._asked_to_stop: Callable[[], bool] = never
        # Kept on the object: llama.cpp holds a bare pointer to it.
        self._abort = _abort_callback(lambda: self._asked_to_stop())

    def use_threads(self, threads: int) -> None:
        """Compute on so many threads from now on."""
        from llama_cpp.llama_cpp import llama_set_n_threads

        llama_set_n_threads(self._llm._ctx.ctx, threads, threads)

    def _encode(self, text: str, *, special: bool) -> list[int]:
        tokens: list[int] = self._llm.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=special)
        return tokens

    def spelt(self, token: int) -> bytes:
        """See `LocalModel.spelt`."""
        return self._thoughts.get(token) or bytes(self._llm._model.detokenize([token]))

    def _drawn(self, drawing: Drawing) -> Generator[int, None, None]:
        grammar = _grammar(drawing.request.json_schema) if drawing.request.json_schema else None
        with self._stoppable(drawing.request.cancelled):
            # Not create_completion: it turns the whole prompt back into text for every token that it streams.
            tokens = self._llm.generate(
                drawing.tokens, temp=drawing.temperature, top_p=drawing.top_p, top_k=TOP_K, min_p=MIN_P, grammar=grammar
            )
            for place, token in enumerate(islice(tokens, drawing.most)):
                if not place:
                    # llama.cpp asks for each step of a token, hundreds of times, and waits for Python's lock each time.
                    _set_abort_callback(self._llm, None)
                if self._is_end(token):
                    return
                yield token

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
        use_mlock=settings.memory_lock,
        n_threads=threads,
        n_threads_batch=threads,
        verbose=False,
    )


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
