"""OpenVINO GenAI: opens the commoner GGUF files without a compiler, and reads long prompts fast on a processor."""

from __future__ import annotations

import json
import queue
import re
import secrets
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from rag_core.errors import Cancelled, ModelUnavailable
from rag_core.models.gguf_header import header_of
from rag_core.models.local_model import MIN_P, TOP_K, Drawing, LocalModel
from rag_core.models.openvino_files import converted
from rag_core.models.texts import THOUGHT_MARKS
from rag_core.settings import GenerationSettings

OPENVINO = "OpenVINO"
_ENDS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|end|>", "</s>")
_BLOCK = 32  # tokens that OpenVINO keeps together of what it read
_FIRST_STEP, _MOST_STEP = 4 * _BLOCK, 64 * _BLOCK
_STEP_S = 1.0
_KEPT = 1.25  # contexts
_LOOK_S = 0.05


class OpenVinoModel(LocalModel):
    """One GGUF file in OpenVINO, on the processor. Raises ModelUnavailable where it cannot be opened.

    folder: where converted copies are kept. What was read is kept, so a prompt is read in steps of about a second, and
    a stop is looked for between them.
    """

    runtime = OPENVINO
    failures = (ValueError, RuntimeError, OSError, TypeError)

    def __init__(self, path: Path, settings: GenerationSettings, folder: Path) -> None:
        super().__init__(path, settings)
        header = header_of(path)
        self.context_tokens = min(settings.context_tokens, header.context_tokens or settings.context_tokens)
        self._pipe: Any = _opened(converted(path, folder), settings.threads, self.context_tokens, path.name)
        self._tokenizer = self._pipe.get_tokenizer()
        numbers: dict[bytes, int] = self._tokenizer.get_vocab()
        self._texts_of = {number: text for text, number in numbers.items()}
        self._control = frozenset(header.control_tokens)
        self._hidden = self._control - {numbers.get(mark.encode(), -1) for mark in THOUGHT_MARKS}
        marks = sorted((self._texts_of.get(token, b"").decode("utf-8", "replace") for token in self._control), key=len)
        self._marks = re.compile("|".join(re.escape(mark) for mark in reversed(marks) if len(mark) > 1) or "(?!)")
        self._ends = {numbers[end.encode()] for end in _ENDS if end.encode() in numbers} & self._control
        self._ends |= {self._pipe.get_generation_config().eos_token_id}
        begin = self._tokenizer.get_bos_token_id()
        self._begin = begin if header.adds_begin and begin >= 0 else None
        spelt = (self._texts_of.get(token, b"").decode("utf-8", "replace") for token in (begin, header.end_token))
        self._use_template(header.chat_template, *spelt)
        self._read: list[int] = []
        self._step = _FIRST_STEP

    def _encode(self, text: str, *, special: bool) -> list[int]:
        if special:
            return self._encoded(text)
        # OpenVINO always takes a spelt control token for one, so each is given to it in two pieces.
        pieces, place = [], 0
        for found in self._marks.finditer(text):
            pieces.append(text[place : found.start() + 1])
            place = found.start() + 1
        return [token for piece in (*pieces, text[place:]) for token in self._encoded(piece)]

    def _encoded(self, text: str) -> list[int]:
        if not text:
            return []
        tokens: list[int] = self._tokenizer.encode(text, add_special_tokens=False).input_ids.data[0].tolist()
        return tokens

    def spelt(self, token: int) -> bytes:
        """See `LocalModel.spelt`."""
        return b"" if token in self._hidden else self._texts_of.get(token, b"")

    def _drawn(self, drawing: Drawing) -> Generator[int, None, None]:
        cancelled = drawing.request.cancelled
        self._read_on(drawing.tokens, cancelled)
        told: queue.SimpleQueue[int | BaseException | None] = queue.SimpleQueue()
        ended = threading.Event()
        arguments = (self._inputs(drawing.tokens), self._config(drawing), _streamer(told.put, ended))
        thread = threading.Thread(target=self._write, args=(arguments, told), name="lectern-openvino", daemon=True)
        thread.start()
        try:
            while (token := _next(told, cancelled)) is not None:
                if token in self._ends:
                    return
                yield token
        finally:
            ended.set()
            thread.join()

    def _read_on(self, tokens: list[int], cancelled: Callable[[], bool]) -> None:
        """Read what was not read yet of a prompt, all but its end. Raises Cancelled."""
        done = next((n for n, (a, b) in enumerate(zip(tokens, self._read, strict=False)) if a != b), len(self._read))
        place = min(done, len(tokens)) // _BLOCK * _BLOCK + self._step
        self._read = tokens
        while place < len(tokens):
            if cancelled():
                self._read = tokens[: place - self._step]
                raise Cancelled("Stopped while the model was reading.")
            began, step = time.monotonic(), self._step
            self._pipe.generate(self._inputs(tokens[:place]), self._plain(1))
            fitting = int(step * _STEP_S / max(time.monotonic() - began, 1e-6)) // _BLOCK * _BLOCK
            self._step = min(max(fitting, _BLOCK), 2 * step, _MOST_STEP)
            place += self._step

    def _write(self, arguments: tuple[Any, ...], told: queue.SimpleQueue[int | BaseException | None]) -> None:
        try:
            self._pipe.generate(*arguments)
        except self.failures as error:
            told.put(error)
        told.put(None)

    def _inputs(self, tokens: list[int]) -> Any:
        import numpy as np
        import openvino

        return openvino.Tensor(np.asarray([tokens], dtype=np.int64))

    def _plain(self, most: int) -> Any:
        config = self._pipe.get_generation_config()
        config.max_new_tokens = most
        config.apply_chat_template = False
        config.stop_token_ids = self._ends
        return config

    def _config(self, drawing: Drawing) -> Any:
        import openvino_genai

        config = self._plain(drawing.most)
        if drawing.temperature > 0:
            config.do_sample, config.rng_seed = True, secrets.randbits(31)
            config.temperature, config.top_p = drawing.temperature, drawing.top_p
            config.top_k, config.min_p = TOP_K, MIN_P
        if drawing.request.json_schema:
            shape = json.dumps(drawing.request.json_schema)
            config.structured_output_config = openvino_genai.StructuredOutputConfig(json_schema=shape)
        return config

    def _free(self) -> None:
        self._pipe = self._tokenizer = None


def _opened(folder: Path, threads: int, context_tokens: int, name: str) -> Any:
    import openvino_genai

    kept = openvino_genai.SchedulerConfig()
    kept.enable_prefix_caching = True
    kept.num_kv_blocks = int(_KEPT * context_tokens) // _BLOCK + 1  # else what was read is kept without end
    how = {"scheduler_config": kept, **({"INFERENCE_NUM_THREADS": threads} if threads else {})}
    try:
        return openvino_genai.LLMPipeline(str(folder), "CPU", **how)
    except (RuntimeError, ValueError, OSError) as error:
        raise ModelUnavailable(
            f"OpenVINO cannot open {name}: {str(error).strip()[-200:]}", help="Choose llama.cpp, or another model."
        ) from error


def _streamer(put: Callable[[int], None], ended: threading.Event) -> Any:
    """What OpenVINO gives each token to; it ends once nobody wants more."""
    from openvino_genai import StreamerBase, StreamingStatus

    class Streamer(StreamerBase):  # type: ignore[misc]
        def write(self, tokens: int | list[int]) -> Any:
            for token in [tokens] if isinstance(tokens, int) else tokens:
                put(token)
            return StreamingStatus.CANCEL if ended.is_set() else StreamingStatus.RUNNING

        def end(self) -> None:
            return

    return Streamer()


def _next(told: queue.SimpleQueue[int | BaseException | None], cancelled: Callable[[], bool]) -> int | None:
    """The next token, None after the last. Raises Cancelled, and what OpenVINO failed with."""
    while True:
        try:
            found = told.get(timeout=_LOOK_S)
        except queue.Empty:
            if cancelled():
                raise Cancelled("Stopped while the model was writing.") from None
            continue
        if isinstance(found, BaseException):
            raise found
        return found
