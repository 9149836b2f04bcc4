"""What the road through the chain costs a written answer: `python -m tests.benchmarks.generation`.

A model of the shape of one of 0.5 billion parameters with random weights, see `random_gguf`, answers questions through
`Library.stream`, in turn with a bare loop of llama.cpp over the same prompt tokens, for as many new tokens, with the
same context and threads, in a second context of its own. Each first question is read from its beginning by both and
has two follow-ups in its conversation: one for more of it, one for something else. One JSON object with medians: tokens
a second after the first token (`tokens_per_s`) and with reading the prompt, for the chain from the question to the last
text, search included (`whole_tokens_per_s`), each with the chain's share of the bare loop's; seconds to the first
token, for follow-ups also as a share of the first question's; `read_tokens` of the three questions of each round.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

from rag_core import Library, Settings
from rag_core.models.llama import LlamaModel
from rag_core.settings import GenerationSettings
from tests.benchmarks.measure import emit, library_of, sentences
from tests.benchmarks.random_gguf import QUANTISATIONS, write_random_gguf

MORE, OTHER = "And what else is known of it?", "And what of its {} {}?"
_NAME = "random-0.5b.gguf"


@dataclass(frozen=True)
class Written:
    """Seconds since it was asked for at which an answer's first and last text came, and its tokens."""

    first_s: float
    last_s: float
    tokens: int

    @property
    def tokens_per_s(self) -> float:
        """After the first token."""
        return (self.tokens - 1) / (self.last_s - self.first_s)

    @property
    def whole_tokens_per_s(self) -> float:
        return self.tokens / self.last_s


def clocked(pieces: Iterable[object]) -> Iterator[float]:
    """Seconds from now at which each of the pieces came."""
    began = time.perf_counter()
    for _ in pieces:
        yield time.perf_counter() - began


def bare(llm: Any, prompt: Sequence[int], most: int, temperature: float) -> Written:
    """The same by llama.cpp alone, which has read nothing yet.

    In a thread of its own, as the chain is: OpenMP keeps a team of threads for each that computed and still lives, and
    lets all of them sleep between two steps once they are more than the processor's cores.
    """
    llm.reset()
    with ThreadPoolExecutor(1) as thread:
        loop = thread.submit(lambda: list(clocked(islice(llm.generate(prompt, temp=temperature), most))))
    came = loop.result()
    return Written(came[0], came[-1], len(came))


class Chain:
    """Questions to a library whose language model tells what it reads."""

    def __init__(self, library: Library) -> None:
        model = library.asking.language_model(library.settings.generation.model, library.settings)
        assert isinstance(model, LlamaModel)
        self.llm = model._llm
        self._library = library
        self.prompt: list[int] = []
        self.read = 0
        self.conversation: str | None = None

    def ask(self, question: str) -> Written:
        """Ask in the conversation; `prompt` has the tokens that the model was asked, `read` how many it had not yet."""
        before = self.llm.input_ids[: self.llm.n_tokens].tolist()
        answers: list[Any] = []

        def texts() -> Iterator[str]:
            for piece in self._library.stream(question, conversation=self.conversation):
                if piece.answer is not None:
                    answers.append(piece.answer)
                elif piece.text:
                    yield piece.text

        came = list(clocked(texts()))
        tokens = answers[-1].trace.tokens
        self.conversation = answers[-1].conversation
        self.prompt = self.llm.input_ids[: tokens["prompt"]].tolist()
        known = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, self.prompt, strict=False)))
        self.read = len(self.prompt) - known
        return Written(came[0], came[-1], tokens["answer"])

    def begin(self) -> None:
        """A new conversation, for a model that has read nothing."""
        self.llm.reset()
        self.conversation = None


def measure(library: Library, path: Path, rounds: int, quantisation: str) -> None:
    """Ask and compare; the first round warms up and does not count."""
    import llama_cpp

    settings, chain = library.settings.generation, Chain(library)
    llm = llama_cpp.Llama(
        str(path), n_ctx=settings.context_tokens, n_gpu_layers=settings.gpu_layers, n_threads=chain.llm.n_threads,
        n_threads_batch=chain.llm.n_threads_batch, verbose=False,
    )  # fmt: skip
    firsts, bares, more, others, read = [], [], [], [], []
    for words in islice((words for words in map(str.split, sentences()) if len(words) > 7), rounds + 1):
        chain.begin()
        firsts.append(chain.ask(f"What is known of {' '.join(words[1:5])}?"))
        reads = [chain.read]
        bares.append(bare(llm, chain.prompt, firsts[-1].tokens, settings.temperature))
        for follow_ups, question in ((more, MORE), (others, OTHER.format(*words[5:7]))):
            follow_ups.append(chain.ask(question))
            reads.append(chain.read)
        read.append(reads)
    llm.close()
    firsts, bares, more, others = firsts[1:], bares[1:], more[1:], others[1:]
    emit(
        benchmark="generation", quantisation=quantisation, threads=chain.llm.n_threads, rounds=rounds,
        answer_tokens=_median(one.tokens for one in firsts),
        tokens_per_s=_median(one.tokens_per_s for one in firsts),
        bare_tokens_per_s=_median(one.tokens_per_s for one in bares),
        share=_median(a.tokens_per_s / b.tokens_per_s for a, b in zip(firsts, bares, strict=True)),
        whole_tokens_per_s=_median(one.whole_tokens_per_s for one in firsts),
        bare_whole_tokens_per_s=_median(one.whole_tokens_per_s for one in bares),
        whole_share=_median(a.whole_tokens_per_s / b.whole_tokens_per_s for a, b in zip(firsts, bares, strict=True)),
        first_token_s=_median(one.first_s for one in firsts), bare_first_token_s=_median(one.first_s for one in bares),
        more_first_token_s=_median(one.first_s for one in more), more_share=_median(_shares(more, firsts)),
        other_first_token_s=_median(one.first_s for one in others), other_share=_median(_shares(others, firsts)),
        other_shares=_shares(others, firsts), read_tokens=read[1:],
    )  # fmt: skip


def _shares(follow_ups: Sequence[Written], firsts: Sequence[Written]) -> list[float]:
    """The follow-ups' seconds to the first token, as shares of the first questions'."""
    return [round(after.first_s / first.first_s, 3) for after, first in zip(follow_ups, firsts, strict=True)]


def _median(values: Iterable[float]) -> float:
    return round(statistics.median(values), 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=128, help="of an answer")
    parser.add_argument("--threads", type=int, default=0, help="0 for what Lectern chooses")
    parser.add_argument("--quantisation", default="IQ4_NL", choices=list(QUANTISATIONS))
    options = parser.parse_args()
    if find_spec("llama_cpp") is None:
        emit(benchmark="generation", skipped="llama-cpp-python is not installed")
        return
    with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder:
        models = Path(folder) / "models"
        models.mkdir()
        exported = Settings(_env_file=None).models_dir / "embedding"
        if exported.is_dir():
            (models / "embedding").symlink_to(exported)
        words = sorted({word for sentence in sentences() for word in sentence.split()})
        path = write_random_gguf(models / _NAME, words, quantisation=options.quantisation)
        generation = GenerationSettings(
            model=f"gguf:{_NAME}", max_tokens=options.tokens, threads=options.threads, idle_s=0
        )
        data_dir = Path(folder) / "library"
        with library_of(options.chunks, data_dir, models_dir=models, generation=generation) as library:
            for _ in library.clusters.update():
                pass
            library.warm_up()
            measure(library, path, options.rounds, options.quantisation)


if __name__ == "__main__":
    main()
