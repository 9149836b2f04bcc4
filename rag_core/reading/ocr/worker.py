"""The recognising process: takes requests on standard input, answers on standard output, one at a time.

Started by `rag_core.reading.ocr.process` as `python -m rag_core.reading.ocr.worker MEMORY_BYTES`. A request has "path",
"media_type", "password", "page" and the options of a recogniser; a response has "page" or "error".
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

from rag_core.errors import LecternError, LimitExceeded, UnreadableDocument
from rag_core.reading import wire
from rag_core.reading.ocr.base import Options, Recogniser
from rag_core.reading.ocr.drawing import draw
from rag_core.reading.ocr.layout import page_of
from rag_core.reading.worker import limit_memory
from rag_core.runtime.confinement import confine
from rag_core.unexpected import is_failure

RECOGNISERS = {
    "rapidocr": "rag_core.reading.ocr.rapid",
    "tesseract": "rag_core.reading.ocr.tesseract",
}
# Everything else that the machine does comes first.
_NICENESS = 10
_RESERVED = 2


class Worker:
    """Answers requests. The recogniser of the last one stays loaded for the next."""

    def __init__(self) -> None:
        self._options: Options | None = None
        self._recogniser: Recogniser | None = None

    def answer(self, request: wire.Message) -> wire.Message:
        """Return the response to one request; what goes wrong becomes its "error"."""
        try:
            recogniser = self._opened(Options(request["engine"], request["languages"], request["threads"]))
            picture, size = draw(Path(request["path"]), request["media_type"], request["password"], request["page"])
            raw = page_of(request["page"], recogniser.read(picture), size, recogniser.name)
            return {"page": wire.page_out(raw)}
        except LecternError as error:
            return {"error": wire.error_out(error)}
        except MemoryError:
            return {"error": wire.error_out(LimitExceeded("Recognising the page takes more memory than it may."))}
        except OSError as error:
            reason = UnreadableDocument(f"The file cannot be read: {error.strerror or error}.")
            return {"error": wire.error_out(reason)}
        except BaseException as error:
            if not is_failure(error):
                raise
            return {"error": wire.unexpected_out(error, "recognition")}

    def _opened(self, options: Options) -> Recogniser:
        if self._recogniser is None or options != self._options:
            self._recogniser = import_module(RECOGNISERS[options.engine]).open_recogniser(options)
            self._options = options
        return self._recogniser


def serve(requests: BinaryIO, responses: BinaryIO) -> None:
    """Answer requests until the parent closes its end."""
    worker = Worker()
    for line in requests:
        responses.write(wire.dump(worker.answer(wire.load(line))))
        responses.flush()


def main() -> None:
    """Serve on standard input and output; what libraries print goes to standard error instead."""
    confine()
    with suppress(OSError):
        os.nice(_NICENESS)
    # Models reserve more than they use; what is used the parent watches.
    limit_memory(_RESERVED * int(sys.argv[1]))
    responses = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        serve(sys.stdin.buffer, responses)
    except (BrokenPipeError, KeyboardInterrupt):
        # The parent is gone or going; nobody is left to be told.
        os._exit(0)


if __name__ == "__main__":
    main()
