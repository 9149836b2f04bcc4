"""Texts that others are compared with by meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.answering.encoding import Encode

_SAME = 0.99


class Examples:
    """Knows the nearest of some texts. Thread-safe: what it keeps is replaced as a whole."""

    def __init__(self, texts: Sequence[str], encode: Encode) -> None:
        self._texts = list(texts)
        self._encode = encode
        self._vectors: NDArray[np.float32] | None = None

    def nearest(self, text: str) -> tuple[int, float]:
        """The place of the text that is nearest in meaning, and its cosine."""
        asked, probe = self._encode([text, self._texts[0]])
        cosines = self._known(probe) @ asked
        best = int(np.argmax(cosines))
        return best, float(cosines[best])

    def _known(self, probe: NDArray[np.float32]) -> NDArray[np.float32]:
        """The vectors of the texts; made again where the first is not as it was, for the model was changed."""
        vectors = self._vectors
        if vectors is None or vectors.shape[1] != len(probe) or float(vectors[0] @ probe) < _SAME:
            vectors = self._vectors = self._encode(self._texts)
        return vectors
