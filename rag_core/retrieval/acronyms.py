"""Acronyms of a question, written out as the library's own documents write them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from rag_core.text.acronyms import acronyms, defined, long_forms

_NEAR = 0.3  # least cosine of an acronym and what it may stand for, where no text says so itself
_OFTEN = 2
_FUNCTION = 3  # letters of words like "and" and "of" that names have in lower case


def written_out(question: str, texts: Callable[[str], Sequence[str]], cosine: Callable[[str, str], float]) -> str:
    """The question with "chief executive officer (CEO)" for "CEO", where texts near it have such words.

    texts: those of the chunks nearest to a question. cosine: of the vectors of two texts.
    """
    known = {question[start:end] for start, end in defined(question)}
    asked = [acronym for acronym in acronyms(question) if acronym not in known]
    near = texts(question) if asked else ()
    for acronym in asked:
        if form := _long_form(acronym, near, cosine):
            question = re.sub(rf"(?<![\w&]){re.escape(acronym)}(?![\w&])", f"{form} ({acronym})", question, count=1)
    return question


def _long_form(acronym: str, texts: Sequence[str], cosine: Callable[[str, str], float]) -> str:
    found = [each for text in texts for each in long_forms(acronym, text)]
    said = Counter(form for form, is_defined in found if is_defined)
    for form, count in (*said.most_common(1), *Counter(form for form, _ in found).most_common(3)):
        if form in said or "&" in acronym or (count >= _OFTEN and cosine(acronym, form) >= _NEAR):
            return _as_written(form, texts)
    return ""


def _as_written(form: str, texts: Sequence[str]) -> str:
    """A name with its capitals: what the texts never write without them."""
    spelling = re.escape(form).replace(r"\ ", r"\s+")
    found = (each for text in texts for each in re.findall(spelling, text, re.IGNORECASE))
    written = Counter(" ".join(each.split()) for each in found)
    is_name = not any(word.islower() and len(word) > _FUNCTION for each in written for word in each.split())
    return written.most_common(1)[0][0] if written and is_name else form
