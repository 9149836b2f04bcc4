"""The trained reader: a question and sentences go through the encoder together, and each sentence is told how far it
answers the question.

It is the packaged encoder with other weights in its layers and a small head on its tokens, trained on questions
of invented documents by `python -m tests.benchmarks.train_reader` (Devlin et al. 2019, "BERT", whose reading head this
is, with one more for whole sentences). What ships, `reader.npz`, is how these layers differ, in low rank; on its first
use the whole model is written into the models folder, where every runtime of embedding can open it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from accelerator.atomic import work_path
from rag_core.embedding.base import Embedder
from rag_core.embedding.exported import clear, is_whole, publish
from rag_core.embedding.opening import open_embedder
from rag_core.embedding.source import PACKAGED, ModelSource, find_source
from rag_core.errors import ModelUnavailable
from rag_core.settings import EmbeddingSettings

WEIGHTS = Path(__file__).with_name("reader.npz")
MOST_TOKENS = 384
"""Of a question with its sentences, marks and title."""

SUPPORT, SPAN, START, END = range(4)
"""Columns of what `Reader.read` tells of a sentence."""

_SEPARATOR, _NO_SEPARATOR = "[SEP]", "(SEP)"  # as the tokenizer writes it, and the same length for who writes about it
_LONGEST_QUESTION = 200
_ROOM = 24  # tokens for marks and what is counted twice
_LONGEST_SPAN = 30  # tokens
_NEVER = -30.0


class Reader:
    """Reads sentences for a question. Thread-safe."""

    def __init__(self, embedder: Embedder, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> None:
        self._embedder = embedder
        self._weight, self._bias = weight, bias

    def read(self, question: str, passages: Sequence[tuple[str, Sequence[str]]]) -> list[NDArray[np.float64]]:
        """What each sentence of some passages says to a question, float64 (sentences, 4) for each passage.

        passages: what is to be known of each (`context_of`), and its sentences in order. Columns: SUPPORT and SPAN, the
        log odds that the sentence, and its best span of words, answer, against that nothing in what was read with it
        does; START and END, that span's characters in the sentence. The last 200 characters of a question are read.
        Raises ModelUnavailable.
        """
        asked = _clean(question)[-_LONGEST_QUESTION:]
        parts = [
            (place, first, context, group)
            for place, (context, sentences) in enumerate(passages)
            for first, group in self._groups(asked + context, sentences)
        ]
        texts = [joined(asked, context, group) for _, _, context, group in parts]
        read = self._embedder.encode_tokens([text for text, _ in texts])
        found = [np.zeros((len(sentences), 4)) for _, sentences in passages]
        for (place, first, _, group), (_, starts), (vectors, spans) in zip(parts, texts, read, strict=True):
            logits = vectors @ self._weight.T + self._bias
            null = int(np.searchsorted(spans[:, 0], len(asked) + 1))
            for number, (start, sentence) in enumerate(zip(starts, group, strict=True)):
                low, high = np.searchsorted(spans[:, 0], (start, start + len(sentence)))
                found[place][first + number] = _told(logits[low:high], spans[low:high] - start, logits[null])
        return found

    def close(self) -> None:
        """Let the model go."""
        self._embedder.close()

    def _groups(self, head: str, sentences: Sequence[str]) -> list[tuple[int, list[str]]]:
        """Sentences that are read together, with the place of the first of each group."""
        used, *counts = self._embedder.count_tokens([head, *sentences])
        most = MOST_TOKENS - used - _ROOM
        groups: list[tuple[int, list[str]]] = []
        room = 0
        for place, (sentence, count) in enumerate(zip(sentences, counts, strict=True)):
            if not groups or count > room:
                groups.append((place, []))
                room = most
            groups[-1][1].append(_clean(sentence))
            room -= count
        return groups


def open_reader(settings: EmbeddingSettings, models_dir: Path) -> Reader:
    """Open the reader as embedding is set to run, writing and exporting it first where it never was (half a minute,
    once). Raises ModelUnavailable."""
    try:
        with np.load(WEIGHTS) as known:
            weights = dict(known)
        heads = weights.pop("heads.weight"), weights.pop("heads.bias")
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise ModelUnavailable(
            f"The reader's weights cannot be read: {error}", help="Install Lectern again."
        ) from error
    folder = _folder(models_dir, weights)
    return Reader(open_embedder(settings.model_copy(update={"model": str(folder)}), models_dir), *heads)


def joined(question: str, context: str, sentences: Sequence[str]) -> tuple[str, list[int]]:
    """The text that is read, and where each sentence begins in it."""
    text = f"{question} {_SEPARATOR} {_clean(context)}"
    starts = []
    for sentence in sentences:
        starts.append(len(text))
        text += f"{sentence} "
    return text, starts


def with_added(
    tensors: Mapping[str, NDArray[np.float32]], weights: Mapping[str, NDArray[np.floating]]
) -> dict[str, NDArray[np.float32]]:
    """The packaged encoder's tensors with what training added to some of them, matrices as two thin factors.

    Raises ValueError where something was added to what is not there.
    """
    found = dict(tensors)
    for name in {name.removesuffix(".left").removesuffix(".right") for name in weights}:
        if name not in tensors:
            raise ValueError(f"the packaged model has no {name}")
        parts = [weights[key].astype(np.float32) for key in (name, f"{name}.left", f"{name}.right") if key in weights]
        found[name] = tensors[name] + (parts[0] if len(parts) == 1 else parts[0] @ parts[1])
    return found


def _told(logits: NDArray[np.float32], spans: NDArray[np.int64], null: NDArray[np.float32]) -> NDArray[np.float64]:
    if not len(logits):
        return np.array([_NEVER, _NEVER, 0, 0])
    pairs = logits[:, 0][:, None] + logits[:, 1][None]
    allowed = np.triu(np.ones(pairs.shape, bool)) & ~np.triu(np.ones(pairs.shape, bool), _LONGEST_SPAN)
    best = int(np.argmax(np.where(allowed, pairs, -np.inf)))
    first, last = divmod(best, len(logits))
    support = float(logits[:, 2].mean() - null[2])
    span = float(pairs[first, last] - null[0] - null[1])
    return np.array([support, span, spans[first, 0], spans[last, 1]])


def _clean(text: str) -> str:
    return text.replace(_SEPARATOR, _NO_SEPARATOR)


def _folder(models_dir: Path, weights: Mapping[str, NDArray[np.floating]]) -> Path:
    """The folder of the reader as sentence-transformers keeps models, written now if it is not there."""
    source = find_source(PACKAGED)
    revision = hashlib.sha256(source.revision.encode() + WEIGHTS.read_bytes()).hexdigest()
    target = models_dir / "reader" / revision[:16]
    if not is_whole(target):
        try:
            _write(source, weights, target)
        except (OSError, ValueError) as error:
            raise ModelUnavailable(
                f"The reader cannot be written to {target}: {error}", help="Choose another models_dir in the settings."
            ) from error
    return target


def _write(source: ModelSource, weights: Mapping[str, NDArray[np.floating]], target: Path) -> None:
    from safetensors.numpy import load_file, save_file

    target.parent.mkdir(parents=True, exist_ok=True)
    clear(target)
    work = work_path(target)
    unwanted = shutil.ignore_patterns("model.safetensors", "*.md", ".git*", "data_*")
    try:
        shutil.copytree(source.folder, work, ignore=unwanted)
        (work / "sentence_bert_config.json").write_text(
            json.dumps({"max_seq_length": MOST_TOKENS, "do_lower_case": False}), encoding="utf-8"
        )
        tensors = with_added(load_file(source.folder / "model.safetensors"), weights)
        save_file(tensors, work / "model.safetensors", {"format": "pt"})
        publish(work, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
