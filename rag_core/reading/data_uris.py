"""Pictures that stand in a text as data URIs (RFC 2397), as those of saved web pages and notes do."""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode
from urllib.parse import unquote_to_bytes

DATA_URI = re.compile(r"data:image/[\w.+-]{1,40};base64,[\w+/=%-]{40,}", re.IGNORECASE)
# As web pages may have them, on several lines.
_BROKEN_URI = re.compile(r"data:image/[\w.+-]{1,40};base64,[\w+/=%\s-]{40,}", re.IGNORECASE)
DATA_PART = "data:"
"""What the names of such pictures begin with: the rest is the MD5 sum of the URI without blanks."""
_SUM_CHARS = 16
_BLANKS = re.compile(r"\s+")


def data_part(address: str) -> str:
    """What a picture is called whose address holds it; nothing for other addresses."""
    bare = _BLANKS.sub("", address)
    if not DATA_URI.fullmatch(bare):
        return ""
    return DATA_PART + hashlib.md5(bare.encode(), usedforsecurity=False).hexdigest()[:_SUM_CHARS]


def data_of(text: str, part: str) -> bytes:
    """The bytes of a picture that a text holds. Raises KeyError where it does not, ValueError for damaged ones."""
    addresses = (one[0] for kind in (DATA_URI, _BROKEN_URI) for one in kind.finditer(text))
    found = next((one for one in addresses if data_part(one) == part), None)
    if found is None:
        raise KeyError(part)
    return b64decode(unquote_to_bytes(_BLANKS.sub("", found).partition(",")[2]))
