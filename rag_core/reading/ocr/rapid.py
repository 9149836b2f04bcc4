"""PaddleOCR's models by way of rapidocr-onnxruntime, whose package holds them: nothing is ever downloaded.

OpenVINO computes them where it is installed: with the same texts in a third of onnxruntime's time, or a fifth.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rag_core.errors import ModelUnavailable
from rag_core.reading.ocr.base import CERTAIN, TALL, Corner, FoundLine, Options, Recogniser
from rag_core.reading.ocr.gutters import split_at_gutters

if TYPE_CHECKING:
    from PIL.Image import Image

# Lines are found on a smaller picture: that takes a fourth of the time, and letters are read from the whole one.
_FINDING_PX = 1280
# From this probability on a space stands between two letters.
_SPACE = 0.06
# Lines that say which way up a page lies.
_SAMPLE = 6
# Pictures of lines are made as wide as a multiple of this: each width of its own would cost memory.
_WIDTH_STEP = 128


class RapidRecogniser(Recogniser):
    """Finds lines with DBNet and reads them with SVTR, both of PP-OCRv4. Raises ModelUnavailable."""

    def __init__(self, options: Options) -> None:
        try:
            import cv2
            from rapidocr_onnxruntime import RapidOCR
        except ImportError as error:
            raise ModelUnavailable(
                f"Text recognition is not installed ({error}).",
                help="Install it with `pip install rapidocr-onnxruntime`, or set LECTERN_OCR__ENGINE to tesseract.",
            ) from error
        cv2.setNumThreads(options.threads)
        self.name = "rapidocr"
        self._engine = RapidOCR(intra_op_num_threads=options.threads, inter_op_num_threads=1, use_cls=False)
        self._engine.text_rec.postprocess_op = _Decoder(self._engine.text_rec.postprocess_op.character)
        if find_spec("openvino"):
            self._engine.text_det.infer = _OpenVino("ch_PP-OCRv4_det_infer.onnx", options.threads)
            self._engine.text_rec.session = _OpenVino("ch_PP-OCRv4_rec_infer.onnx", options.threads, _WIDTH_STEP)

    def ways(self, picture: Image) -> Sequence[int]:
        """How its lines lie says two ways; the longest of them, read in both, which of the two."""
        corners = self._found(picture)
        tall = [where for where in corners if _is_tall(where)]
        is_on_its_side = sum(map(_length, tall)) > sum(map(_length, corners)) / 2
        sample = sorted(tall if is_on_its_side else corners, key=_length)[-_SAMPLE:]
        if not sample:
            return ()
        # What is tall is turned to the left before it is read.
        crops = self._engine.get_crop_img_list(_pixels(picture), sample)
        ways = (270, 90) if is_on_its_side else (0, 180)
        as_it_is = self._certainty(crops)
        if as_it_is >= CERTAIN:
            return ways[:1]
        over_head = self._certainty([crop[::-1, ::-1] for crop in crops])
        return ways if as_it_is >= over_head else ways[::-1]

    def lines(self, picture: Image) -> Sequence[FoundLine]:
        """The lines of an RGB picture."""
        pixels = _pixels(picture)
        corners = split_at_gutters(pixels, self._found(picture))
        if not corners:
            return []
        read, _ = self._engine.text_rec(self._engine.get_crop_img_list(pixels, corners))
        return [
            FoundLine(text, _corners(where), float(score)) for where, (text, score) in zip(corners, read, strict=True)
        ]

    def _certainty(self, crops: Sequence[NDArray[np.uint8]]) -> float:
        read, _ = self._engine.text_rec([np.ascontiguousarray(crop) for crop in crops])
        return float(np.mean([score for _, score in read]))

    def _found(self, picture: Image) -> list[NDArray[np.float32]]:
        """The corners of each line, float32 (4, 2), pixels of the picture."""
        scale = min(1.0, _FINDING_PX / max(picture.size))
        size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
        found, _ = self._engine.text_det(_pixels(picture.resize(size, reducing_gap=2.0)))
        shares = np.array([picture.width / size[0], picture.height / size[1]], np.float32)
        return [np.asarray(corners, np.float32) * shares for corners in ([] if found is None else found)]


class _Decoder:
    """Turns the model's probabilities into texts, called as the package calls its own decoder.

    The model was made for Chinese and runs English words together: where no letter is likely, a space that is not the
    likeliest either is one. So a seventh of the words that were lost is left, and half of the wrong characters.
    """

    def __init__(self, characters: Sequence[str]) -> None:
        self._characters = characters

    def __call__(
        self, probabilities: NDArray[np.float32], return_word_box: bool = False, **_: object
    ) -> list[tuple[str, float]]:
        """Text and mean certainty of each line. probabilities: float32 (lines, steps, characters), the last a space."""
        likeliest, certainties = probabilities.argmax(axis=2), probabilities.max(axis=2)
        return [self._text(*line) for line in zip(likeliest, certainties, probabilities[:, :, -1], strict=True)]

    def _text(
        self, likeliest: NDArray[np.int64], certainties: NDArray[np.float32], spaces: NDArray[np.float32]
    ) -> tuple[str, float]:
        # A character is said by the first of the steps that say the same; step 0 stands for none.
        begins = np.flatnonzero((likeliest != 0) & (np.diff(likeliest, prepend=0) != 0))
        if not len(begins):
            return "", 0.0
        pieces = [self._characters[likeliest[begins[0]]]]
        for before, step in pairwise(begins):
            between = spaces[before + 1 : step][likeliest[before + 1 : step] == 0]
            pieces.append(" " if between.max(initial=0.0) >= _SPACE else "")
            pieces.append(self._characters[likeliest[step]])
        return " ".join("".join(pieces).split()), float(certainties[begins].mean())


class _OpenVino:
    """A model of the package, called as the package calls onnxruntime."""

    def __init__(self, name: str, threads: int, width_step: int = 1) -> None:
        import openvino
        import rapidocr_onnxruntime

        path = Path(rapidocr_onnxruntime.__file__).parent / "models" / name
        # The precision is its own choice: bfloat16 where the processor has it reads no worse.
        how = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "CPU_RUNTIME_CACHE_CAPACITY": 0}
        self._request = openvino.Core().compile_model(path, "CPU", how).create_infer_request()
        self._step = width_step

    def __call__(self, pixels: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        missing = -pixels.shape[-1] % self._step
        wide = np.pad(pixels, ((0, 0), (0, 0), (0, 0), (0, missing))) if missing else np.ascontiguousarray(pixels)
        return [np.array(self._request.infer([wide])[0])]


def _pixels(picture: Image) -> NDArray[np.uint8]:
    """Blue, green, red, as the models were trained."""
    return np.ascontiguousarray(np.asarray(picture)[:, :, ::-1])


def _length(corners: NDArray[np.float32]) -> float:
    return float(np.ptp(corners, axis=0).max())


def _is_tall(corners: NDArray[np.float32]) -> bool:
    width, height = np.ptp(corners, axis=0)
    return bool(height > TALL * width)


def _corners(corners: NDArray[np.float32]) -> tuple[Corner, Corner, Corner, Corner]:
    first, second, third, fourth = ((float(x), float(y)) for x, y in corners)
    return first, second, third, fourth


def open_recogniser(options: Options) -> Recogniser:
    """Load the models. Raises ModelUnavailable."""
    return RapidRecogniser(options)
