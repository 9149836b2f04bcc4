"""The network guard: nothing but public addresses is reached, however it is asked for."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler

import pytest

from rag_core.errors import AddressRefused, Cancelled, LecternError, LimitExceeded, SourceUnavailable
from rag_core.network.guard import Resolver, check_address, is_public, resolve
from rag_core.settings import SourcesSettings
from rag_core.sources.web.addresses import Site as Within
from rag_core.sources.web.addresses import clean, joined, key
from rag_core.sources.web.fetching import Fetcher
from tests.rag_core.sources.site import Site, bomb, bytes_of, endless, moved, serving


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as served:
        yield served


def fetcher(site: Site, *, resolver: Resolver = resolve, **settings: object) -> Fetcher:
    return Fetcher(SourcesSettings(allowed_hosts=(site.host,), **settings), lambda: False, resolver)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "192.0.0.170",
        "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.88.99.1", "::", "::1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "::7f00:1", "2002:7f00:1::", "2002:a00:1::", "64:ff9b::7f00:1", "64:ff9b:1::a00:1",
        "2001:0:7f00:1::", "fe80::1", "fe80::1%eth0", "fc00::1", "fec0::1", "ff02::1", "2001:db8::1", "3fff::1",
    ],
)  # fmt: skip
def test_what_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_what_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "localhost", "[::1]", "[::ffff:7f00:1]", "0"],
)
def test_this_machine_is_not_reached_in_any_form(site: Site, host: str) -> None:
    port = site.host.partition(":")[2]
    with Fetcher(SourcesSettings(), lambda: False) as guarded, pytest.raises(LecternError) as refused:
        guarded.get(f"http://{host}:{port}/")
    assert isinstance(refused.value, AddressRefused | SourceUnavailable)  # some systems do not read octal numbers
    assert not site.asked


@pytest.mark.parametrize(
    "address",
    [
        "ftp://example.org/", "file:///etc/passwd", "gopher://example.org", "https://", "https://user:pw@example.org/",
        "https://user@example.org", "http://[::1", "https://example.org:99999/", "javascript:alert(1)", "example.org",
        "https://example.org/" + "a" * 3000,
    ],
)  # fmt: skip
def test_what_is_no_address_of_the_web(address: str) -> None:
    with pytest.raises(AddressRefused) as refused:
        check_address(address)
    assert refused.value.help


def test_a_name_is_resolved_once_and_what_it_stands_for_is_connected_to(site: Site) -> None:
    site.pages["/"] = "here"
    answers = [["127.0.0.1"], ["192.0.2.1"]]

    def once(host: str, port: int) -> Sequence[str]:
        return answers.pop(0)

    host = f"rebinding.example:{site.host.partition(':')[2]}"
    settings = SourcesSettings(allowed_hosts=("rebinding.example",))
    with Fetcher(settings, lambda: False, once) as guarded:
        assert guarded.get(f"http://{host}/").data == b"here"
    assert len(answers) == 1
    trap = [["8.8.8.8", "127.0.0.1"]]  # one public address does not make the other so
    with Fetcher(SourcesSettings(), lambda: False, lambda *_: trap.pop()) as guarded, pytest.raises(AddressRefused):
        guarded.get(f"http://{host}/")


def test_a_redirect_to_a_private_place_is_not_followed(site: Site) -> None:
    site.answers |= {"/to": moved("http://169.254.169.254/latest/meta-data"), "/file": moved("file:///etc/passwd")}
    site.answers |= {"/round": moved("/round"), "/local": moved(f"http://localhost:{site.host.partition(':')[2]}/")}
    with fetcher(site) as guarded:
        for path in ("/to", "/file", "/local"):
            with pytest.raises(AddressRefused):
                guarded.get(site.url(path))
        with pytest.raises(SourceUnavailable, match="on and on"):
            guarded.get(site.url("/round"))
    assert "/" not in site.asked


def test_bytes_and_time_are_limited(site: Site) -> None:
    site.answers |= {
        "/bomb": bomb(20), "/endless": endless(site, 0), "/slow": endless(site, 0.05),
        "/silent": lambda _: site.over.wait(9),
        "/short": bytes_of(b"half", content_length="100"), "/odd": bytes_of(b"x", content_encoding="br"),
        "/torn": bytes_of(b"\x1f\x8b\x08\0\0\0\0\0\0\x03", content_encoding="gzip"),
        "/wrong": bytes_of(b"no gzip", content_encoding="gzip"),
        "/double": bytes_of(b"x", content_encoding="gzip, gzip"),
    }  # fmt: skip
    with fetcher(site, max_bytes=2**20, timeout_s=0.6) as guarded:
        for path in ("/bomb", "/endless", "/slow", "/silent"):
            with pytest.raises(LimitExceeded):
                guarded.get(site.url(path))
        for path in ("/short", "/odd", "/torn", "/wrong", "/double"):
            with pytest.raises(SourceUnavailable):
                guarded.get(site.url(path))


def test_a_stop_is_heard_while_a_server_is_silent(site: Site) -> None:
    site.answers["/"] = lambda _: site.over.wait(30)
    began = time.monotonic()
    guarded = Fetcher(SourcesSettings(allowed_hosts=(site.host,)), lambda: time.monotonic() > began + 0.3)
    with guarded, pytest.raises(Cancelled):
        guarded.get(site.url())
    assert time.monotonic() - began < 10


def test_a_server_that_hangs_up_late_is_asked_on_a_new_connection(site: Site) -> None:
    def late(handler: BaseHTTPRequestHandler) -> None:
        bytes_of(b"here")(handler)
        time.sleep(0.2)  # it said nothing of closing, and closes

    site.answers |= {"/one": late, "/two": late}
    with fetcher(site) as guarded:
        assert [guarded.get(site.url(path)).data for path in ("/one", "/two")] == [b"here", b"here"]


def test_a_server_that_is_not_there(site: Site) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{closed.getsockname()[1]}"
        settings = SourcesSettings(allowed_hosts=(host,))
        with Fetcher(settings, lambda: False) as guarded, pytest.raises(SourceUnavailable):
            guarded.get(f"http://{host}/")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("HTTP://Example.ORG:80/A?utm_source=x&b=1#top", "http://example.org/A?b=1"),
        ("https://example.org:443", "https://example.org/"),
        ("https://example.org:8443/?q=&gclid=1", "https://example.org:8443/?q="),
        ("http://[::1]:80/", "http://[::1]/"),
        ("https://example.org/?source=a&game=b", "https://example.org/?source=a&game=b"),
    ],
)
def test_addresses_have_one_form(written: str, meant: str) -> None:
    assert clean(written) == meant


def test_what_belongs_to_a_site() -> None:
    assert key("https://e.org/docs/index.html") == key("https://e.org/docs/")
    assert joined("https://e.org/a/b", "../c?d#e") == "https://e.org/c?d"
    assert joined("https://e.org/", "mailto:x@e.org") is None
    assert joined("https://e.org/", "http://[::1") is None
    inside = Within.of("https://e.org/docs/intro.html")
    assert inside.holds("https://e.org/docs/more")
    assert inside.holds("http://e.org/docs/")
    assert not inside.holds("https://e.org/docs2/")
    assert not inside.holds("https://www.e.org/docs/")
