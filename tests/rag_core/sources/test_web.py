"""Pages of the web in a library: added, crawled within bounds, fetched again only where they changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from rag_core import AddEvent, Cancellation, Library, Settings, WebAddress
from rag_core.domain import SourceReport
from rag_core.errors import AddressRefused, ConfigurationError, SourceUnavailable
from tests.rag_core.sources.site import Site, bytes_of, endless, moved, page, serving
from tests.until import until

FERRY = "The ferry to Norden leaves the eastern pier at seven in the morning and returns at noon."
TICKETS = "A ticket of the ferry costs eleven euros, and children below six years travel free of charge."
MUSEUM = "The museum shows forty ships in bottles, made by the lighthouse keeper in long winters."


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as served:
        yield served


@pytest.fixture
def web(settings: Settings, site: Site) -> Iterator[Library]:
    """A library that may fetch from the site."""
    with Library.open(settings.changed("sources", allowed_hosts=(site.host,), timeout_s=120)) as opened:
        yield opened


def ends(events: Iterable[AddEvent]) -> dict[str, AddEvent]:
    return {event.source: event for event in events if event.stage in ("ready", "failed", "cancelled")}


def crawl(site: Site, path: str = "/docs/", depth: int = 1, pages: int = 50) -> WebAddress:
    return WebAddress(site.url(path), depth=depth, pages=pages, delay_s=0)


def test_an_address_becomes_a_document_that_is_called_by_it(web: Library, site: Site) -> None:
    site.pages["/ferry"] = page("The ferry", FERRY, head='<meta name="author" content="Ada Holm">')
    site.answers["/latin"] = bytes_of("<p>Der Kran am Käferweg hebt dreißig Tonnen.".encode("latin-1"),
                                      "text/html; charset=iso-8859-1")  # fmt: skip
    found = ends(web.add([site.url("/ferry#times"), site.url("/latin"), site.url("/none")]))
    document = found[site.url("/ferry")].document
    assert document is not None
    assert (document.title, document.media_type, document.address) == ("The ferry", "text/html", site.url("/ferry"))
    latin = found[site.url("/latin")].document
    assert latin is not None
    assert "Käferweg" in web.chunks(latin.id)[0].text
    assert isinstance(found[site.url("/none")].error, SourceUnavailable)
    answer = web.ask("When does the ferry leave?")
    assert "seven" in answer.text
    assert answer.citations[0].document_id == document.id
    assert web.maintenance.verify(deep=True).findings == ()


def test_a_host_of_ones_own_network_is_allowed_and_kept_beside_the_program(
    library: Library, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    site.pages["/ferry"] = page("The ferry", FERRY)
    refused = visited(library, site.url("/ferry"))
    assert [kept.removeprefix("127.0.0.1:").isdecimal() for kept in refused.private] == [True]
    assert refused.ready == 0
    library.preferences.fetch_from(refused.private[0], allowed=True)
    assert visited(library, site.url("/ferry")).ready == 1
    assert Settings(data_dir=tmp_path).sources.allowed_hosts == refused.private, "after a restart too"
    library.preferences.fetch_from(refused.private[0], allowed=False)
    assert "ALLOWED_HOSTS" not in (tmp_path / ".env").read_text()
    with pytest.raises(ConfigurationError):
        library.preferences.fetch_from('a"b', allowed=True)


def visited(library: Library, address: str) -> SourceReport:
    """How a visit to an address ended."""
    job = library.jobs.submit("visit", address, depth=0, pages=1, delay_s=0.0)
    until(lambda: not library.jobs.busy("visit"))
    found = next(one for one in library.jobs.all("visit") if one.id == job.id)
    library.jobs.dismiss(job.id)
    assert isinstance(found.result, SourceReport)
    return found.result


def test_a_site_is_crawled_within_its_path_as_it_asks(web: Library, site: Site) -> None:
    site.pages |= {
        "/robots.txt": f"User-agent: *\nDisallow: /docs/secret\nSitemap: {site.url('/map.xml')}",
        "/map.xml": "".join(["<urlset>", *(f"<url><loc>{site.url(p)}</loc></url>" for p in ("/docs/mapped", "/x"))]),
        "/docs/": page("Docs", FERRY, "tickets?utm_source=a", "tickets#b", "index.html", "/other", "secret", "a.png",
                       "away", "http://127.0.0.1:9/docs/", "/docs/gone"),
        "/docs/tickets": page("Tickets", TICKETS, "/docs/", "deep", "loop"),
        "/docs/mapped": page("The map", MUSEUM), "/docs/deep": page("Deep", "Further down than was asked for."),
        "/docs/secret": page("Secret", "Not for programs."), "/other": page("Other", "Elsewhere."),
    }  # fmt: skip
    site.answers["/docs/away"] = moved("/other")
    found = ends(web.add([crawl(site)]))
    told = {name.removeprefix(site.url("")): event.stage for name, event in found.items()}
    assert told == {
        "/docs/": "ready", "/docs/tickets": "ready", "/docs/mapped": "ready", "/docs/secret": "failed",
        "/docs/gone": "failed",
    }  # fmt: skip
    assert isinstance(found[site.url("/docs/secret")].error, AddressRefused)
    assert not {"/docs/secret", "/docs/deep", "/docs/a.png", "/docs/index.html"} & set(site.asked)
    assert len(site.asked) == len(set(site.asked))


def test_a_site_that_asks_for_days_between_two_requests_gives_its_first_page_alone(web: Library, site: Site) -> None:
    site.pages |= {
        "/robots.txt": "User-agent: *\nCrawl-delay: 99999999",
        "/docs/": page("Docs", FERRY, "tickets"), "/docs/tickets": page("Tickets", TICKETS),
    }  # fmt: skip
    found = ends(web.add([crawl(site)]))
    assert found[site.url("/docs/")].stage == "ready"
    assert "wait 99,999,999 seconds" in str(found[site.url("/docs/tickets")].error)


def test_nofollow_loops_and_calendars_end_at_the_limit_of_pages(web: Library, site: Site) -> None:
    def calendar(handler: object) -> None:
        day = int(handler.path.rpartition("=")[2])  # type: ignore[attr-defined]
        bytes_of(page(f"Day {day}", f"On day {day} nothing happened.", f"?day={day + 1}", f"?day={day + 2}").encode())(
            handler  # type: ignore[arg-type]
        )

    site.answers = {f"/cal?day={day}": calendar for day in range(40)}
    site.pages |= {
        "/closed": page("Closed", MUSEUM, "/cal?day=30", head='<meta name="robots" content="nofollow">'),
        "/part": page("Part", TICKETS).replace("<ul>", '<ul><li><a rel="nofollow" href="/part/a">a</a>'),
    }
    assert len(ends(web.add([crawl(site, "/cal?day=0", depth=99, pages=6)]))) == 6
    ends(web.add([crawl(site, "/closed", depth=3), crawl(site, "/part", depth=3)]))
    assert "/cal?day=30" not in site.asked
    assert "/part/a" not in site.asked


def test_only_what_changed_is_fetched_again_and_takes_the_old_ones_place(web: Library, site: Site) -> None:
    site.pages |= {"/docs/": page("Docs", FERRY, "tickets"), "/docs/tickets": page("Tickets", TICKETS)}
    first = ends(web.add([crawl(site)]))
    old = first[site.url("/docs/tickets")].document
    assert old is not None
    web.catalogue.rename(old.id, "What it costs")
    web.catalogue.tag([old.id], add=["prices"])
    site.pages["/docs/tickets"] = page("Tickets", TICKETS.replace("eleven", "twelve"), "new")
    site.pages["/docs/new"] = page("New", MUSEUM)
    again = ends(web.sources.update())
    assert {name.removeprefix(site.url("")): event.note for name, event in again.items()} == {
        "/docs/": "already in the library", "/docs/tickets": "",
    }  # fmt: skip
    assert site.unchanged == ["/docs/"]
    documents = {document.address: document for document in web.documents()}
    assert len(documents) == len(web.documents()) == 2
    new = documents[site.url("/docs/tickets")]
    assert new.id != old.id
    assert (new.title, new.tags) == ("What it costs", ("prices",))
    assert "twelve" in web.search("What does a ticket cost?")[0].text
    web.remove(new.id)
    assert site.url("/docs/tickets") not in ends(web.sources.update())
    assert web.maintenance.verify(deep=True).findings == ()


def test_a_version_that_cannot_be_read_does_not_take_the_old_ones_place(web: Library, site: Site) -> None:
    site.pages["/ferry"] = page("The ferry", FERRY)
    ends(web.add([site.url("/ferry")]))
    site.pages["/ferry"] = "<!DOCTYPE html><html></html>"
    assert ends(web.sources.update())[site.url("/ferry")].stage == "failed"
    del site.pages["/ferry"]
    assert ends(web.sources.update())[site.url("/ferry")].stage == "failed"
    assert "seven" in web.search("When does the ferry leave?")[0].text


def test_a_crawl_is_stopped_and_keeps_what_it_has(web: Library, site: Site) -> None:
    site.pages["/"] = page("Start", FERRY, "/slow", "/never")
    site.pages["/never"] = page("Never", MUSEUM)
    site.answers["/slow"] = endless(site, 0.05)
    token = Cancellation()
    wanted = crawl(site, "/")
    found = {}
    for event in web.add([wanted], cancellation=token):
        found[event.source] = event
        if event.stage == "ready":  # while the slow page is waited for
            token.cancel(wanted.address)
    assert found[site.url("/")].stage == "ready"
    assert found[site.url("/slow")].stage == "cancelled"
    assert "/never" not in site.asked


def test_a_visit_is_a_job_that_tells_of_pages_and_is_stopped(web: Library, site: Site) -> None:
    site.pages["/"] = page("Start", FERRY, "/gone", "/slow")
    site.answers["/slow"] = endless(site, 0.05)
    job = web.jobs.submit("visit", site.url("/"), depth=1, pages=9, delay_s=0)
    until(lambda: web.jobs.get(job.id).progress.note == site.url("/slow"))
    until(lambda: web.intake() == (1, 0))
    web.jobs.cancel(job.id)
    until(lambda: web.jobs.get(job.id).finished)
    ended = web.jobs.get(job.id)
    assert (ended.state, ended.result.ready) == ("cancelled", 1)
    assert [name for name, *_ in ended.result.failed] == [site.url("/gone")]
    assert web.intake() == (1, 0)
