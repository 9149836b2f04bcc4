"""Where a model file is: a name on the hub, or an address."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from rag_core.errors import ModelUnavailable
from rag_core.models.addresses import is_here

if TYPE_CHECKING:
    import httpx

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PART = re.compile(r"-\d{5}-of-\d{5}\.gguf$")
# Of a repository's files the first of these is taken where nobody says which: small, and little worse than the whole.
_PREFERRED = ("q4_k_m", "q4_k_s", "q5_k_m", "q4_0", "q8_0")
_HELP = "Write owner/repository, owner/repository:Q4_K_M, owner/repository/file.gguf, or an address of a .gguf file."


@dataclass(frozen=True, slots=True)
class Remote:
    """A file that can be downloaded. `size_bytes` is 0 and `sha256` empty where the server does not tell them.

    `etag` tells one version of the file from another.
    """

    url: str
    name: str
    size_bytes: int
    sha256: str
    etag: str


def find(client: httpx.Client, wanted: str, hub: str) -> Remote:
    """The file that a name or an address means. Raises ModelUnavailable.

    The hub tells a file's SHA-256 and size in `X-Linked-Etag` and `X-Linked-Size` of the answer that redirects to it.
    """
    url = _url(client, wanted.strip(), hub)
    name = unquote(urlsplit(url).path.rpartition("/")[2])
    if not re.fullmatch(r"[\w.+ -]+\.gguf", name) or name.startswith("."):
        raise ModelUnavailable(f"{name[:100]!r} is no GGUF file.", help=_HELP)
    if _PART.search(name):
        raise ModelUnavailable(
            f"{name} is one of several parts of a model.", help="Choose a model that is one file, or a smaller one."
        )
    response = client.head(url, follow_redirects=False)
    linked = response.headers
    if response.is_redirect and "x-linked-etag" not in linked:
        response = client.head(url, follow_redirects=True)
    if response.status_code in (401, 403):
        raise ModelUnavailable(f"{name} may not be downloaded.", help="Its owner must allow it; choose another model.")
    if response.status_code >= 400:
        raise ModelUnavailable(f"There is no {name} at that place ({response.status_code}).", help=_HELP)
    etag = (linked.get("x-linked-etag") or response.headers.get("etag", "")).removeprefix("W/").strip('"')
    size = linked.get("x-linked-size") or response.headers.get("content-length", "")
    return Remote(url, name, int(size) if size.isdigit() else 0, etag if _SHA256.fullmatch(etag) else "", etag)


def default_hub() -> str:
    """The hub that huggingface_hub uses, which HF_ENDPOINT can change."""
    from huggingface_hub import constants

    return str(constants.ENDPOINT)


def _url(client: httpx.Client, wanted: str, hub: str) -> str:
    if "://" in wanted:
        return checked(wanted.replace("/blob/", "/resolve/", 1))
    repository, _, kind = wanted.partition(":")
    owner, _, rest = repository.partition("/")
    title, _, file = rest.partition("/")
    if not _REPOSITORY.fullmatch(f"{owner}/{title}") or (file and kind):
        raise ModelUnavailable(f"{wanted[:100]!r} is no model's name.", help=_HELP)
    file = file or _choose(_files(client, f"{owner}/{title}", hub), kind, f"{owner}/{title}")
    return checked(f"{hub.rstrip('/')}/{owner}/{title}/resolve/main/{quote(file)}")


def checked(url: str) -> str:
    """An address whose files travel encrypted, or from this machine. Raises ModelUnavailable."""
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise ModelUnavailable("The address holds a user name or password.", help="Leave out what stands before the @.")
    if parts.hostname and (parts.scheme == "https" or (parts.scheme == "http" and is_here(parts.hostname))):
        return url
    raise ModelUnavailable(f"{url[:200]} is not an https address.", help=_HELP)


def _files(client: httpx.Client, repository: str, hub: str) -> list[str]:
    response = client.get(f"{hub.rstrip('/')}/api/models/{repository}/tree/main")
    if response.status_code >= 400:
        raise ModelUnavailable(f"The hub has no {repository}, or does not show it.", help=_HELP)
    found: Any = response.json()
    names = [str(entry.get("path", "")) for entry in found if isinstance(entry, dict)]
    return sorted(name for name in names if name.endswith(".gguf") and not _PART.search(name))


def _choose(names: list[str], kind: str, repository: str) -> str:
    for wanted in [kind.casefold()] if kind else _PREFERRED:
        for name in names:
            if wanted in name.casefold():
                return name
    if names and not kind:
        return names[0]
    there = ", ".join(names[:8]) or "no GGUF file of one part"
    raise ModelUnavailable(f"{repository} has no {kind or 'GGUF file'}. It has: {there}.", help=_HELP)
