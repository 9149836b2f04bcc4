"""The backend on graphics processors, by PyTorch: CUDA, and MPS on Macs.

A block's int8 codes are copied to the device when it is first scored and stay there until it is forgotten. Sums are
exact, in integers on CUDA and in float32 elsewhere, which holds every sum of up to 1,040 products of two int8, so the
scores are those of the CPU bit for bit.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from accelerator.backends.base import Backend, BackendUnavailable, Block
from accelerator.quantise import RoundedQueries, round_queries

if TYPE_CHECKING:
    import torch
    from torch import Tensor

# CUDA's integer product wants widths and queries in eights, and more than 16 rows.
_EIGHT = 8
_LEAST_ROWS = 32
# Rows that are copied, or made float32, at once.
_PIECE = 16_384


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """A block on the device. codes: int8, head and tail side by side, padded with zeros. Scales: float32 (n,)."""

    codes: Tensor
    head_scales: Tensor
    tail_scales: Tensor


class TorchBackend(Backend):
    """PyTorch on one device. Importing it takes a second, and copying a block to the device some more."""

    name = "torch"

    def __init__(self, device: str, *, integers: bool | None = None) -> None:
        """device: "cuda", "mps" or "cpu". integers: how sums are made; None leaves it to the device.

        Raises BackendUnavailable where the device cannot be used.
        """
        with _translated():
            import torch

            self._device = torch.device(device)
            torch.zeros(1, device=self._device)
        self._lock = threading.Lock()
        self._blocks: dict[str, _Held] = {}
        self._integers = self._device.type == "cuda" and _sums_integers(self._device) if integers is None else integers

    @classmethod
    def best(cls) -> TorchBackend:
        """The backend on this machine's graphics processor. Raises BackendUnavailable where PyTorch knows none."""
        with _translated():
            import torch

            if torch.cuda.is_available():
                return cls("cuda")
            if torch.backends.mps.is_available():
                return cls("mps")
        raise BackendUnavailable(f"PyTorch {torch.__version__} finds neither CUDA nor MPS here")

    def scores(self, block: Block, queries: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Head and tail in 8 bits in one pass over the block, each query rounded by itself."""
        rounded = round_queries(queries, block.head.shape[1])
        if not len(block):
            return np.zeros((len(queries), 0), dtype=np.float32), rounded.errors
        with _translated():
            return _fetched(self._scored(block, rounded)), rounded.errors

    def forget(self, digest: str) -> None:
        """Free the block's memory on the device, once no search uses it."""
        with self._lock:
            self._blocks.pop(digest, None)
        with _translated():
            import torch

            if self._device.type == "cuda":
                torch.cuda.empty_cache()
            elif self._device.type == "mps":
                torch.mps.empty_cache()

    def describe(self) -> str:
        """The device, by its maker's name where that is known."""
        import torch

        known = torch.cuda.get_device_name(self._device) if self._device.type == "cuda" else self._device.type
        return f"torch ({known})"

    def _scored(self, block: Block, queries: RoundedQueries) -> Tensor:
        """The scores on the device. The order of the arithmetic is the CPU backend's."""
        held = self._held(block)
        scores, tails = self._integer_sums(held, queries) if self._integers else self._float_sums(held, queries)
        scores *= held.head_scales
        scores *= self._moved(queries.head.scales[:, None])
        if block.tail.shape[1]:
            tails *= held.tail_scales
            tails *= self._moved(queries.tail.scales[:, None])
            scores += tails
        return scores

    def _held(self, block: Block) -> _Held:
        with self._lock:
            held = self._blocks.get(block.digest)
            if held is None:
                held = _Held(self._codes(block), self._moved(block.head_scales), self._moved(block.tail_scales))
                self._blocks[block.digest] = held
            return held

    def _codes(self, block: Block) -> Tensor:
        import torch

        rows, width = max(_LEAST_ROWS, _up(len(block))), block.head.shape[1]
        codes = torch.zeros((rows, _up(block.dimensions)), dtype=torch.int8, device=self._device)
        for start in range(0, len(block), _PIECE):
            end = min(start + _PIECE, len(block))
            codes[start:end, :width] = self._moved(block.head[start:end])
            codes[start:end, width : block.dimensions] = self._moved(block.tail[start:end])
        return codes

    def _moved(self, values: NDArray[np.int8] | NDArray[np.float32]) -> Tensor:
        import torch

        # Copied, since PyTorch cannot hold that a mapped array is read-only.
        return torch.from_numpy(np.array(values)).to(self._device)

    def _integer_sums(self, held: _Held, queries: RoundedQueries) -> tuple[Tensor, Tensor]:
        """Sums of head and tail products, float32 (m, n) each: one product, each query in it twice."""
        import torch

        count, width = queries.head.codes.shape
        laid = np.zeros((_up(2 * count), held.codes.shape[1]), dtype=np.int8)
        laid[:count, :width] = queries.head.codes
        laid[count : 2 * count, width : width + queries.tail.codes.shape[1]] = queries.tail.codes
        sums = torch._int_mm(held.codes, self._moved(laid).T)[: len(held.head_scales), : 2 * count].T
        both = sums.to(torch.float32, memory_format=torch.contiguous_format)
        return both[:count], both[count:]

    def _float_sums(self, held: _Held, queries: RoundedQueries) -> tuple[Tensor, Tensor]:
        """The same by float32 products of a few rows at a time."""
        import torch

        rows, (count, width) = len(held.head_scales), queries.head.codes.shape
        end = width + queries.tail.codes.shape[1]
        head, tail = self._moved(queries.head.codes).float(), self._moved(queries.tail.codes).float()
        heads, tails = (torch.empty((count, rows), device=self._device) for _ in range(2))
        for start in range(0, rows, _PIECE):
            here = slice(start, min(start + _PIECE, rows))
            codes = held.codes[here].float()
            heads[:, here] = head @ codes[:, :width].T
            tails[:, here] = tail @ codes[:, width:end].T
        return heads, tails


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except BackendUnavailable:
        raise
    # A build of PyTorch without a device says so by an AssertionError.
    except (RuntimeError, AssertionError, ImportError) as error:
        message = str(error).strip().partition("\n")[0]
        raise BackendUnavailable(f"PyTorch failed: {message or type(error).__name__}") from error


def _sums_integers(device: torch.device) -> bool:
    """Whether the device has the product of integers, and has it right."""
    import torch

    codes = torch.arange(-127, 129, dtype=torch.int32).clamp(max=127).to(torch.int8).reshape(_LEAST_ROWS, _EIGHT)
    try:
        found = torch._int_mm(codes.to(device), codes[:_EIGHT].to(device).T).cpu()
    except RuntimeError:  # cards before 2018 have none
        return False
    return bool(torch.equal(found, codes.int() @ codes[:_EIGHT].int().T))


def _fetched(scores: Tensor) -> NDArray[np.float32]:
    import torch

    if scores.device.type != "cuda":
        return np.asarray(scores.cpu().numpy(), dtype=np.float32)
    # Into memory that the card writes by itself, which is several times as fast.
    pinned = torch.empty(scores.shape, dtype=torch.float32, pin_memory=True)
    pinned.copy_(scores)
    return np.asarray(pinned.numpy(), dtype=np.float32)


def _up(count: int) -> int:
    return -(-count // _EIGHT) * _EIGHT
