"""PDF files written by hand, object by object."""

from __future__ import annotations

from collections.abc import Sequence

CATALOG, PAGES = b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
FONT = b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R " + FONT + b" >>"
SHOWN = b"BT /F1 12 Tf 72 700 Td (Hello from a good page) Tj ET"


def stream(data: bytes, entries: bytes = b"") -> bytes:
    """A stream object's body."""
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (entries, len(data), data)


def pdf_of(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    """A file of these objects, numbered from 1; the first is the catalog."""
    out = bytearray(b"%PDF-1.5\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R %s>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, table)
    return bytes(out)


def good(**changed: bytes) -> bytes:
    """A file of one page that says hello; its objects by name, or more behind them."""
    objects = {"catalog": CATALOG, "pages": PAGES, "page": PAGE, "contents": stream(SHOWN)}
    trailer = changed.pop("trailer", b"")
    return pdf_of([*(objects | changed).values()], trailer)
