"""Making a segment: rows of many dumps, and of older segments, rotated, clustered, rounded and written in one pass.

The rotation is that of principal components, which puts most of what tells rows apart into the leading dimensions
(measured on 41,000 passages and sentences of all-MiniLM-L6-v2: 90 % of the length in half of the dimensions), followed
by a random one within head and tail each, which spreads it evenly, so that 8 bits round every dimension alike.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from accelerator.clusters import clustered
from accelerator.errors import DumpCorrupt
from accelerator.quantise import Quantised, quantise
from accelerator.sections import SectionWriter, write_sections
from accelerator.segment import Floats, head_width, shapes

_BLOCK = 16_384
_SMALL_ROWS = 1024
_SAMPLE = 16_384
_ROWS_OF_CLUSTER = 32
_SEED = 384
# A length that float32 arithmetic found may be this much more.
_ROUNDED = np.float32(1 + 1e-5)


def _never() -> bool:
    return False


class CompactionStopped(Exception):
    """The caller wanted no more of it; nothing was written."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A dump's rows, or what an older segment holds of them.

    vectors: float32 (m, d), hashes: uint8 (m, 16). `places` says which of these rows, and in which order, are the
    dump's; None for all as they stand. `unit` says that they are of unit length.
    """

    key: str
    generation: int
    vectors: Floats
    hashes: NDArray[np.uint8]
    unit: bool
    places: NDArray[np.uint32] | None = None

    def __len__(self) -> int:
        return len(self.vectors if self.places is None else self.places)


def compact(path: Path, sources: Sequence[Source], *, profile: str, stopped: Callable[[], bool] = _never) -> None:
    """Write a segment of all rows of the sources, which are of one width, at least one row in all.

    Memory is bounded by the small dumps among them, some 100 bytes a row and a few hundred megabytes. `stopped` is
    asked now and then. Raises DumpCorrupt when a row is not finite, CompactionStopped, OSError.
    """
    rows = _Rows(sources, stopped)
    sample = rows.unit(np.linspace(0, rows.count - 1, min(rows.count, _SAMPLE)).astype(np.intp))
    axes = _axes(sample)
    heads = np.ascontiguousarray(axes[: head_width(rows.dimensions)].T)
    centroids, labels = clustered(lambda wanted: rows.unit(wanted) @ heads, rows.count, _ROWS_OF_CLUSTER, _SEED)
    order = np.argsort(labels, kind="stable")
    keys = json.dumps([[source.key, source.generation] for source in sources]).encode()
    starts = np.concatenate(([0], np.cumsum(np.bincount(labels, minlength=len(centroids)))))
    meta = {"profile": profile, "unit": all(source.unit for source in sources), "head_error": 0.0}
    filling = _Filling(rows, axes, centroids, labels, order)
    rounded = quantise(centroids)

    def fill(writer: SectionWriter) -> None:
        writer.append("keys", np.frombuffer(keys, np.uint8))
        writer.append("key_starts", rows.key_starts)
        writer.append("axes", axes)
        writer.append("centroids", rounded.codes)
        writer.append("cluster_scales", rounded.scales)
        writer.append("cluster_starts", starts)
        filling.write(writer)
        meta["head_error"] = filling.head_error

    write_sections(
        path, shapes(rows.count, rows.dimensions, len(sources), len(keys), len(centroids)), meta, fill, kind="segment"
    )


class _Rows:
    """All rows of the sources, one behind the other."""

    def __init__(self, sources: Sequence[Source], stopped: Callable[[], bool]) -> None:
        self._stopped = stopped
        self.dimensions = sources[0].vectors.shape[1]
        lengths = [len(source) for source in sources]
        self.key_starts = np.concatenate(([0], np.cumsum(lengths)))
        self.count = int(self.key_starts[-1])
        self.keys = np.repeat(np.arange(len(sources)), lengths)
        self._sources = sources
        self._vectors: list[Floats] = []
        self._hashes: list[NDArray[np.uint8]] = []
        self._table = np.empty(self.count, dtype=np.uint32)
        self._row = np.empty(self.count, dtype=np.uint32)
        self._place(sources)

    def unit(self, wanted: NDArray[np.intp]) -> Floats:
        """Rows made of unit length; rows of zeros stay so. Raises DumpCorrupt for what is not finite."""
        return self.made_unit(self.vectors(wanted), wanted)

    def made_unit(self, vectors: Floats, wanted: NDArray[np.intp]) -> Floats:
        """Those rows, of any length, made of unit length. Raises DumpCorrupt for what is not finite."""
        lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64))
        if not np.isfinite(lengths).all():
            key = self._sources[self.keys[wanted[np.flatnonzero(~np.isfinite(lengths))[0]]]].key
            raise DumpCorrupt(f"{key} has vectors that are not finite")
        lengths = np.where(lengths > 0, lengths, 1).astype(np.float32)
        units: Floats = vectors / lengths[:, None]
        return units

    def vectors(self, wanted: NDArray[np.intp]) -> Floats:
        """Rows as they stand, float32 (m, d). Raises CompactionStopped."""
        if self._stopped():
            raise CompactionStopped
        found = np.empty((len(wanted), self.dimensions), dtype=np.float32)
        for table, here, rows in self._by_table(wanted):
            found[here] = self._vectors[table][rows]
        return found

    def hashes(self, wanted: NDArray[np.intp]) -> NDArray[np.uint8]:
        """Their hashes, uint8 (m, 16)."""
        found = np.empty((len(wanted), 16), dtype=np.uint8)
        for table, here, rows in self._by_table(wanted):
            found[here] = self._hashes[table][rows]
        return found

    def _place(self, sources: Sequence[Source]) -> None:
        """Note where each row stands. Many small dumps are copied into one table, which a look then costs less in."""
        tables: dict[int, int] = {}
        small = [source for source in sources if source.places is None and len(source) < _SMALL_ROWS]
        beginnings: dict[int, int] = {}
        if small:
            beginnings = dict(zip(map(id, small), np.cumsum([0, *map(len, small)]).tolist(), strict=False))
            self._vectors.append(np.concatenate([source.vectors for source in small]))
            self._hashes.append(np.concatenate([source.hashes for source in small]))
        for source, start in zip(sources, self.key_starts.tolist(), strict=False):
            end = start + len(source)
            if id(source) in beginnings:
                self._table[start:end] = 0
                self._row[start:end] = np.arange(beginnings[id(source)], beginnings[id(source)] + end - start)
                continue
            if id(source.vectors) not in tables:
                tables[id(source.vectors)] = len(self._vectors)
                self._vectors.append(source.vectors)
                self._hashes.append(source.hashes)
            self._table[start:end] = tables[id(source.vectors)]
            self._row[start:end] = np.arange(end - start) if source.places is None else source.places

    def _by_table(self, wanted: NDArray[np.intp]) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.uint32]]]:
        tables = self._table[wanted]
        for table in np.unique(tables).tolist():
            here = np.flatnonzero(tables == table)
            yield table, here, self._row[wanted[here]]


class _Filling:
    """The sections that go by the row, written block by block in the order of the clusters."""

    def __init__(
        self, rows: _Rows, axes: Floats, centroids: Floats, labels: NDArray[np.intp], order: NDArray[np.intp]
    ) -> None:
        self._rows = rows
        self._rotation = np.ascontiguousarray(axes.T)
        self._centroids = centroids
        self._labels = labels
        self._order = order
        self._distances = np.zeros(len(centroids))
        self._scales = np.empty((2, rows.count), dtype=np.float32)
        self._bounds = np.empty((2, rows.count), dtype=np.float32)
        self.head_error = 0.0

    def write(self, writer: SectionWriter) -> None:
        places = np.empty(self._rows.count, dtype=np.uint32)
        places[self._order] = np.arange(self._rows.count, dtype=np.uint32)
        writer.append("places", places)
        for start in range(0, self._rows.count, _BLOCK):
            self._write_block(writer, start, self._order[start : start + _BLOCK])
        writer.append("scales", self._scales)
        writer.append("bounds", self._bounds)
        sizes = np.bincount(self._labels, minlength=len(self._centroids))
        writer.append("spreads", self._distances / np.maximum(sizes, 1))

    def _write_block(self, writer: SectionWriter, start: int, wanted: NDArray[np.intp]) -> None:
        keys = self._rows.keys[wanted]
        vectors = self._rows.vectors(wanted)
        writer.append("rows", vectors)
        writer.append("hashes", self._rows.hashes(wanted))
        writer.append("origins", np.column_stack((keys, wanted - self._rows.key_starts[keys])))
        rotated = self._rows.made_unit(vectors, wanted) @ self._rotation
        width = self._centroids.shape[1]
        heads, tails = rotated[:, :width], rotated[:, width:]
        head, tail = quantise(heads), quantise(tails)
        writer.append("head", head.codes)
        writer.append("tail", tail.codes)
        lengths = _lengths(tails)
        self._note(slice(start, start + len(wanted)), head, tail, lengths)
        distances = _lengths(heads - self._centroids[self._labels[wanted]])
        self._distances += np.bincount(self._labels[wanted], distances, minlength=len(self._centroids))

    def _note(self, span: slice, head: Quantised, tail: Quantised, lengths: Floats) -> None:
        self._scales[0, span], self._scales[1, span] = head.scales, tail.scales
        self._bounds[0, span] = lengths
        self._bounds[1, span] = np.hypot(head.errors, tail.errors)
        self.head_error = max(self.head_error, float(head.errors.max(initial=0)))


def _lengths(rows: Floats) -> Floats:
    lengths: Floats = np.sqrt(np.einsum("nd,nd->n", rows, rows)) * _ROUNDED
    return lengths


def _axes(sample: Floats) -> Floats:
    """Orthogonal axes, float32 (d, d): what tells rows apart lies along the first of them, evenly spread."""
    dimensions = sample.shape[1]
    moments = sample.T.astype(np.float64) @ sample
    basis = np.linalg.eigh(moments)[1][:, ::-1]
    head = head_width(dimensions)
    chance = np.random.default_rng(_SEED)
    for part in (slice(0, head), slice(head, dimensions)):
        width = basis[:, part].shape[1]
        if width:
            basis[:, part] = basis[:, part] @ np.linalg.qr(chance.standard_normal((width, width)))[0]
    axes: Floats = np.ascontiguousarray(basis.T, dtype=np.float32)
    return axes
