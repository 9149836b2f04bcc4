"""PNG files from rows of pixels, without a picture library (PNG specification, third edition)."""

from __future__ import annotations

import struct
import zlib


def encode_rgb(pixels: bytes | memoryview, width: int, height: int, stride: int) -> bytes:
    """Return a PNG of 8-bit RGB `pixels`: `height` rows of `stride` bytes, the first 3 * `width` of each used."""
    packer = zlib.compressobj(6)
    body = bytearray()
    for row in range(height):
        # Each row begins with the number of its filter; 0 is none.
        body += packer.compress(b"\x00")
        body += packer.compress(pixels[row * stride : row * stride + 3 * width])
    body += packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _part(b"IHDR", header) + _part(b"IDAT", bytes(body)) + _part(b"IEND", b"")


def _part(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
