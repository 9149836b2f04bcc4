"""A list answers as a whole: its items together, behind the line that introduces them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_core import Library
from rag_core.answering.encoding import Encoder
from rag_core.answering.passages import merge_hits, quotes
from rag_core.answering.strategies.composing import MOST_WORDS
from rag_core.answering.strategies.extractive import extract
from rag_core.answering.strategies.listing import whole_list, whole_steps
from rag_core.domain import Section
from tests.conftest import add_text
from tests.rag_core.answering.parts import ENCODER, hit

TEXT = """Trip to the museum

The coach leaves at 8:45 and will be back at about 15:15.

Please bring:

• packed lunch
• a waterproof jacket
• at most 5 crowns for the shop

Telephones stay at home.
"""
WHOLE = "Please bring: packed lunch; a waterproof jacket; at most 5 crowns for the shop"


def found(text: str, wanted: str, most_words: int = 60) -> str | None:
    every = quotes(merge_hits([hit(text)]))
    place = next(place for place, quote in enumerate(every) if wanted in quote.text)
    whole = whole_list(every, place, most_words)
    assert whole is None or text[whole.start : whole.end].startswith("Please bring")
    return whole.text if whole else None


@pytest.mark.parametrize("wanted", ["Please bring", "packed lunch", "at most 5"])
def test_from_its_introduction_or_any_item(wanted: str) -> None:
    assert found(TEXT, wanted) == WHOLE


@pytest.mark.parametrize("wanted", ["The coach leaves", "Telephones"])
def test_none_where_a_sentence_stands_in_no_list(wanted: str) -> None:
    assert found(TEXT, wanted) is None


def test_within_one_chunk_alone_which_the_citation_shows() -> None:
    middle = TEXT.index("• at most")
    every = quotes(merge_hits([hit(TEXT[:middle]), hit(TEXT[middle:], start=middle, index=1)]))
    place = next(place for place, quote in enumerate(every) if "packed lunch" in quote.text)
    whole = whole_list(every, place, 60)
    assert whole is not None
    assert whole.text == "Please bring: packed lunch; a waterproof jacket"
    assert whole.exact == TEXT[whole.start : whole.end]


def test_a_second_list_is_another() -> None:
    text = "Bring please:\n\n• boots\n• a coat\n\nLeave this at home:\n\n– knives\n– telephones\n"
    every = quotes(merge_hits([hit(text)]))
    wholes = {whole.text for place in range(len(every)) if (whole := whole_list(every, place, 60))}
    assert wholes == {"Bring please: boots; a coat", "Leave this at home: – knives; – telephones"}


def test_short_lines_with_figures_are_rows() -> None:
    text = "Cash at the end:\n\ncash and cash equivalents at end 1,234\n\nreceivables due in a year 2,345\n"
    every = quotes(merge_hits([hit(text)]))
    assert not any(whole_list(every, place, 60) for place in range(len(every)))


def test_as_many_items_as_an_answer_may_have_words() -> None:
    assert found(TEXT, "Please bring", most_words=8) == "Please bring: packed lunch; a waterproof jacket; …"
    assert found(TEXT, "Please bring", most_words=3) is None


def test_a_list_that_is_asked_for_may_be_longer() -> None:
    items = [f"a thing for the trip to the museum called {name}" for name in "abcdefghij"]
    hits = [hit("For the trip to the museum children bring:\n\n" + "".join(f"• {item}\n" for item in items))]
    whole = extract("List what children bring for the trip to the museum", hits, ENCODER).quotes[0].text
    assert all(item in whole for item in items)
    short = extract("What do children bring for the trip to the museum?", hits, ENCODER).quotes[0].text
    assert short.endswith("; …")
    assert len(short.split()) <= MOST_WORDS + 1


def test_a_list_of_short_items_answers_where_two_of_them_would(real_encoder: Encoder) -> None:
    text = "Lentil soup\n\n- 250 g red lentils\n- 1 onion and 2 carrots\n- tomato paste\n\nSimmer for 25 minutes."
    found = extract("what do I need to buy for the lentil soup", [hit(text)], real_encoder)
    assert found.quotes[0].text == "Lentil soup: 250 g red lentils; 1 onion and 2 carrots; tomato paste"
    assert not found.abstained


def test_items_that_are_sentences_stay_sentences() -> None:
    every = quotes(merge_hits([hit("If you smell gas:\n\n1. Open all windows.\n2. Leave the house.\n")]))
    whole = whole_list(every, 1, 60)
    assert whole is not None
    assert whole.text == "If you smell gas: 1. Open all windows. 2. Leave the house."


def test_a_title_of_a_section_is_no_answer_but_with_its_list() -> None:
    text = "Before each journey\n\n• Close the windows.\n• Lock the door.\n\nCare\n\nClean windows with water.\n"
    sections = (Section("Before each journey", 1, 1, 0), Section("Care", 1, 1, text.index("Care")))
    found = hit(text)
    every = quotes(merge_hits([replace(found, document=replace(found.document, sections=sections))]))
    kinds = {quote.text: quote.kind for quote in every}
    assert kinds["Care"] == "heading"
    assert kinds["Before each journey"] != "heading"


STEPS = """# Setting up the weather station

1. Mount the mast.
   1. Dig a hole of 60 cm.
   2. Pour concrete.
2. Connect the sensor.
3. Run the script:

```bash
wxd --port
```
"""


@pytest.mark.parametrize("wanted", ["Setting up", "Mount", "Connect"])
def test_steps_within_a_step_stand_in_brackets_and_the_last_may_introduce(wanted: str) -> None:
    every = quotes(merge_hits([hit(STEPS)]))
    place = next(place for place, quote in enumerate(every) if wanted in quote.text)
    whole = whole_list(every, place, 60)
    assert whole is not None
    assert whole.text == (
        "Setting up the weather station: 1. Mount the mast. (1. Dig a hole of 60 cm. 2. Pour concrete.) "
        "2. Connect the sensor. 3. Run the script:"
    )


def test_lines_behind_a_colon_are_items_though_their_marks_were_lost() -> None:
    text = (
        "The following commands can be used to see or change who may do what:\nWork Function Usage (WRKFCNUSG)\n"
        "Change Function Usage (CHGFCNUSG)\nDisplay Function Usage (DSPFCNUSG)\nFor example, this one allows a user to"
        " administer all rules of the table.\n"
    ).replace("what:\n", "what:\n\n")
    every = quotes(merge_hits([hit(text)]))
    whole = whole_list(every, 0, 60)
    assert whole is not None
    assert whole.text == (
        "The following commands can be used to see or change who may do what: Work Function Usage (WRKFCNUSG);"
        " Change Function Usage (CHGFCNUSG); Display Function Usage (DSPFCNUSG)"
    )


TREATMENT = """## Treatment

1. **Screens.** Two screens keep out leaves. Clean them every week.
2. **Sand filters.** Four beds of slow sand. One is always resting.
3. **Lime.** The water is sour. Lime brings it to pH 8.0.

Chlorine is not used in ordinary times.
"""


@pytest.mark.parametrize("wanted", ["Treatment", "Screens", "Clean them", "Sand", "Lime."])
def test_of_steps_with_several_sentences_each_the_first(wanted: str) -> None:
    every = quotes(merge_hits([hit(TREATMENT)]))
    place = next(place for place, quote in enumerate(every) if wanted in quote.text)
    whole = whole_steps(every, place, 60)
    assert whole is not None
    assert whole.text == (
        "1. Screens. Two screens keep out leaves. 2. Sand filters. Four beds of slow sand. 3. Lime. The water is sour."
    )


def test_what_stands_behind_the_steps_is_none_of_them() -> None:
    every = quotes(merge_hits([hit(TREATMENT)]))
    assert whole_steps(every, len(every) - 1, 60) is None
    assert whole_steps(every, 1, 3) is None


def test_steps_that_are_asked_for_are_said_whole(real_encoder: Encoder) -> None:
    found = extract("List the steps of the treatment", [hit(TREATMENT)], real_encoder)
    assert "1. Screens." in found.quotes[0].text
    assert "3. Lime." in found.quotes[0].text


def test_what_says_only_what_is_asked_is_told_with_the_name_of_where_it_stands(real_encoder: Encoder) -> None:
    found = extract(
        "Which soup is vegan?", [hit("Serves 4. Vegan.\n\nFry the onion.", document="lentils")], real_encoder
    )
    assert found.quotes[0].text == "Lentils: Vegan."


POLICY = """## What is covered

- Fire and lightning
- Theft after forced entry

## What is not covered

- Wear and tear
- Floods from rivers or the sea
"""
ANSWERS = """## Which machines may I not use alone?

The table saw, the lathe and the welding set.

## What should I bring?

- Closed shoes
- Your own material

## What must I not bring?

- Dogs
- Paint with solvents
"""


@pytest.mark.parametrize(
    ("text", "question", "said"),
    [
        (POLICY, "Are floods covered?", "What is not covered: Floods from rivers or the sea"),
        (
            ANSWERS,
            "May I use the lathe alone?",
            "Which machines may I not use alone? The table saw, the lathe",
        ),
        (ANSWERS, "May I bring my dog?", "What must I not bring? Dogs"),
        (POLICY, "What is not covered?", "What is not covered: Wear and tear; Floods from rivers or the sea"),
        (ANSWERS, "What must I not bring?", "What must I not bring? Dogs; Paint with solvents"),
        (ANSWERS, "What should I bring?", "What should I bring? Closed shoes; Your own material"),
    ],
)
def test_where_something_stands_says_whether_it_is_so(library: Library, text: str, question: str, said: str) -> None:
    add_text(library, "rules.md", text)
    assert library.ask(question).sentences[0].text.startswith(said)
