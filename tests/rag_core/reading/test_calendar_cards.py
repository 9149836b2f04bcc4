"""Calendars and address cards: what a person reads of them, on their own and within mail, however they are written."""

from __future__ import annotations

import time
from email.message import EmailMessage
from pathlib import Path

import pytest

from rag_core.domain import ParsedDocument
from rag_core.errors import UnreadableDocument
from rag_core.reading import Reader

EVENT = r"""BEGIN:VEVENT
UID:1
SUMMARY:Repair of the lighthouse\, part 2
DTSTART;TZID="Europe/Berlin":20260303T100000
DTEND;TZID=Europe/Berlin:20260303T113000
LOCATION:Old customs house\nRoom 4
RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,TH;COUNT=10
EXDATE;TZID=Europe/Berlin:20260317T100000
ORGANIZER;CN=Ada Moss:mailto:ada@example.org
ATTENDEE;CN="Reed, Bo";PARTSTAT=ACCEPTED:mailto:bo@example.org
ATTENDEE;PARTSTAT=NEEDS-ACTION:MAILTO:cy@example.org
DESCRIPTION:Bring the lamp that was ordered in Feb
 ruary.\n\nThe key is with Bo.
ATTACH;ENCODING=BASE64;VALUE=BINARY:QUJD
BEGIN:VALARM
DESCRIPTION:An alarm
END:VALARM
END:VEVENT
"""
SAID = """Repair of the lighthouse, part 2

When: Tuesday 3 March 2026, 10:00 to 11:30 (Europe/Berlin)
Where: Old customs house Room 4
Repeats: every 2 weeks on Tuesday and Thursday, 10 times
Not on: Tuesday 17 March 2026, 10:00 (Europe/Berlin)
Organiser: Ada Moss <ada@example.org>
Invited: Reed, Bo <bo@example.org> (accepted), cy@example.org

Bring the lamp that was ordered in February.

The key is with Bo."""
OTHERS = """BEGIN:VEVENT
SUMMARY:Holidays
DTSTART;VALUE=DATE:20260801
DTEND;VALUE=DATE:20260815
END:VEVENT
BEGIN:VEVENT
DTSTART:20261231T220000Z
DURATION:PT4H
DESCRIPTION:<p>Bring <b>cake</b>.</p><p>And tea.</p>
END:VEVENT
BEGIN:VTODO
SUMMARY:Paint the boat
DUE;VALUE=DATE:20260401
STATUS:IN-PROCESS
END:VTODO
"""
CALENDAR = "BEGIN:VCALENDAR\nX-WR-CALNAME:Harbour of Tarn\n%sEND:VCALENDAR\n"
CARDS = r"""BEGIN:VCARD
VERSION:3.0
N:Moss;Ada;;Dr.;
FN:Dr. Ada Moss
ORG:Lights of Tarn;Repairs
TITLE:Keeper
TEL;TYPE=WORK,VOICE:+49 30 1234
item1.EMAIL;TYPE=INTERNET;type=HOME:ada@example.org
ADR;TYPE=WORK:;;4 Quay Street;Tarn;;12345;Norland
BDAY:1980-02-03
NOTE:Knows the old lamp\; ask first.
PHOTO;ENCODING=b;TYPE=JPEG:%s
END:VCARD
BEGIN:VCARD
VERSION:2.1
N;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:M=FCller;J=
=F6rg
TEL;CELL;PREF:0171 5
NOTE;QUOTED-PRINTABLE;CHARSET=UTF-8:Gr=C3=BC=
=C3=9Fe
END:VCARD
"""


def written(reader: Reader, tmp_path: Path, data: str | bytes, name: str) -> ParsedDocument:
    (tmp_path / "stored").write_bytes(data if isinstance(data, bytes) else data.encode())
    return reader.read(tmp_path / "stored", name)


def test_events_are_sections_that_say_when_where_and_who(reader: Reader, tmp_path: Path) -> None:
    for data in (CALENDAR % (EVENT + OTHERS), (CALENDAR % (EVENT + OTHERS)).replace("\n", "\r\n")):
        parsed = written(reader, tmp_path, data, "harbour.ics")
        first, _, rest = parsed.pages[0].text.partition("\n\nHolidays\n\n")
        assert first == f"Harbour of Tarn\n\n{SAID}"
        assert rest == (
            "When: Saturday 1 August 2026 to Friday 14 August 2026, all day\n\nEvent without a title\n\n"
            "When: Thursday 31 December 2026, 22:00 to Friday 1 January 2027, 02:00 (UTC)\n\nBring cake.\n\n"
            "And tea.\n\nPaint the boat\n\nDue: Wednesday 1 April 2026\nStatus: in process"
        )
        assert parsed.title == "Harbour of Tarn"
        assert [(one.title, one.level) for one in parsed.sections][:2] == [
            ("Harbour of Tarn", 1), ("Repair of the lighthouse, part 2", 2),
        ]  # fmt: skip
        assert parsed.notes == ("Pictures, sounds and files within events and cards are not read: 1.",)


def test_cards_are_sections_without_their_photos(reader: Reader, tmp_path: Path) -> None:
    photo = "\n ".join("QUJD" * 18 for _ in range(30_000))
    began = time.monotonic()
    parsed = written(reader, tmp_path, CARDS % photo, "people.vcf")
    assert time.monotonic() - began < 10
    assert parsed.pages[0].text == (
        "Dr. Ada Moss\n\nOrganisation: Lights of Tarn, Repairs\nPosition: Keeper\nTelephone (work): +49 30 1234\n"
        "Mail (home): ada@example.org\nAddress (work): 4 Quay Street, Tarn, 12345, Norland\n"
        "Birthday: Sunday 3 February 1980\n\nKnows the old lamp; ask first.\n\n"
        "Jörg Müller\n\nTelephone (mobile): 0171 5\n\nGrüße"
    )
    assert [one.title for one in parsed.sections] == ["Dr. Ada Moss", "Jörg Müller"]
    assert parsed.notes == ("Pictures, sounds and files within events and cards are not read: 1.",)


@pytest.mark.parametrize("name", ["a.txt", "a", "a.ics", "a.vcf"])
def test_a_file_is_told_by_how_it_begins(reader: Reader, tmp_path: Path, name: str) -> None:
    assert written(reader, tmp_path, "\ufeff" + CALENDAR % EVENT, name).pages[0].text.endswith(SAID)
    with pytest.raises(UnreadableDocument, match="holds none"):
        written(reader, tmp_path, "just words", "a.ics")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("RRULE:FREQ=MONTHLY;BYDAY=1MO,-1FR;UNTIL=20270101T000000Z",
         "Repeats: every month on the first Monday and the last Friday, until Friday 1 January 2027, 00:00 (UTC)"),
        ("RRULE:FREQ=YEARLY;BYMONTH=3,13;BYMONTHDAY=15;BYSETPOS=1",
         "Repeats: every year on day 15 in March and 13, BYSETPOS=1"),
        ("RRULE:FREQ=SECONDLY;COUNT=99999999999999", "Repeats: every second, 99999999999999 times"),
        ("RRULE:W1 MO #10", "Repeats: W1 MO #10"),
        ("DTSTART:20269999T000000", "When: 20269999T000000"),
        ("DTSTART:99991231\nDURATION:P999999W", "When: Friday 31 December 9999"),
        ("DTSTART:20260303T100000\nDTEND:yesterday", "When: Tuesday 3 March 2026, 10:00"),
        ("DTSTART;TZID=Asia/Tokyo:20260303T100000\nDTEND;TZID=Europe/Rome:20260303T120000",
         "When: Tuesday 3 March 2026, 10:00 (Asia/Tokyo) to 12:00 (Europe/Rome)"),
        ("ATTENDEE;CN=\"open:bo@x\nLOCATION:Pier", "Where: Pier"),
        (";;;:::\n:\nLOCATION;;X:Pier", "Where: Pier"),
    ],
)  # fmt: skip
def test_what_is_odd_costs_no_more_than_its_line(reader: Reader, tmp_path: Path, lines: str, said: str) -> None:
    for end in ("END:VEVENT\n", ""):  # a file may be cut off
        text = (
            written(reader, tmp_path, f"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Tea\n{lines}\n{end}", "a.ics")
            .pages[0]
            .text
        )
        assert text == f"Tea\n\n{said}"


@pytest.mark.slow
def test_a_hundred_thousand_events_and_lines_without_an_end_are_read_in_time(reader: Reader, tmp_path: Path) -> None:
    event = "BEGIN:VEVENT\nSUMMARY:Boat %d\nDTSTART:20260303T100000Z\nRRULE:FREQ=DAILY\nEND:VEVENT\n"
    began = time.monotonic()
    parsed = written(reader, tmp_path, CALENDAR % "".join(event % number for number in range(100_000)), "a.ics")
    assert sum(page.text.count("every day") for page in parsed.pages) == 100_000
    for evil in (
        "N" + ';A="b' * 200_000,
        "N;" + "A=,;" * 200_000,
        "BEGIN:VCARD\n" * 200_000 + "FN:Ada",
        "NOTE;QUOTED-PRINTABLE;CHARSET=UTF-8:Gr=C3=\n\n" * 1_000,
        "N:" + "\\;" * 500_000,
    ):
        written(reader, tmp_path, f"BEGIN:VCARD\nFN:Bo\n{evil}\n", "a.vcf")
    assert time.monotonic() - began < 120


def invitation(*, attached: bool) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ada@example.org", "bo@example.org", "Repair"
    message.set_content("You are invited.")
    message.add_alternative("<p>You are <b>invited</b>.</p>", subtype="html")
    message.add_alternative(CALENDAR % EVENT, subtype="calendar", params={"method": "REQUEST"})
    if attached:
        data = (CALENDAR % EVENT).encode()
        message.add_attachment(data, maintype="application", subtype="ics", filename="invite.ics")
        message.add_attachment((CARDS % "QUJD").encode(), maintype="text", subtype="vcard", filename="ada.vcf")
        message.add_attachment(b"x" * 600_000, maintype="text", subtype="calendar", filename="years.ics")
    return message


def test_an_invitation_is_a_part_of_its_message(reader: Reader, tmp_path: Path) -> None:
    text = written(reader, tmp_path, invitation(attached=False).as_bytes(), "a.eml").pages[0].text
    assert (
        text == f"Repair\n\nFrom: ada@example.org\nTo: bo@example.org\n\nYou are invited.\n\nHarbour of Tarn\n\n{SAID}"
    )
    parsed = written(reader, tmp_path, invitation(attached=True).as_bytes(), "a.eml")
    text = parsed.pages[0].text
    assert (text.count("Repair of the lighthouse"), text.count("Jörg Müller")) == (1, 1)
    assert "Attachments: invite.ics, ada.vcf, years.ics" in text
    assert "Attachments are not read: years.ics." in parsed.notes
