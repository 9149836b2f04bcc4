"""Closed lists of words that splitting and scoring go by; English where nothing else is said."""

from __future__ import annotations

from rag_core.text.function_words import FUNCTION_WORDS


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = _set("""
a about above after again against all also am an and any are aren as at be because been before being below between both
but by can cannot could did didn do does doesn doing don down during each else ever few for from further get gets give
given gives got had has have having he her here hers herself him himself his how i if in into is isn it its itself just
kind let like many may me might more most much must my myself name named no nor not now of off on once only or other our
ours out over own please same shall she should so some such tell than that the their theirs them themselves then there
these they this those through to too type under until up upon us used using very was wasn we were weren what when where
which while who whom whose why will with within without would you your yours yourself
""")
"""Words that say nothing of what a question is about."""


def stop_words(language: str) -> frozenset[str]:
    """Words of a language (ISO 639-1) that are no search terms; none where there is no list."""
    return STOP_WORDS if language == "en" else FUNCTION_WORDS.get(language, frozenset())


DECIMAL_COMMA = _set("bg ca cs da de el es fi fr hu id it nl no pl pt ro ru sr sv tr uk vi")
"""Languages that write 1.577,5 or 1 577,5 where English writes 1,577.5."""

_UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty"""
_TENS = "thirty forty fifty sixty seventy eighty ninety"

NUMBER_WORDS = {word: str(value) for value, word in enumerate(_UNITS.split())} | {
    word: str(10 * value) for value, word in enumerate(_TENS.split(), start=3)
}
"""Numbers written as one word, with their figures."""

NEVER_ENDS = _set("""
adm art capt cf ch col dr ed eds e.g eq esp fig figs gen gov hon i.e lt messrs mr mrs ms mt no nos nr op p pp para pres
prof ref refs rep rev sec sect sen sgt st v vol vols vs viz approx ca
abs aufl bd bzw evtl gem ggf hrsg inkl lfd max mind nr rn tel vgl zzgl
mme mlle pág núm sra srta
""")
"""Abbreviations after which a full stop does not end a sentence."""

SOMETIMES_ENDS = _set("""
a.m al bros co corp dept est etc inc jr ltd p.m ph.d sr u.k u.n u.s u.s.a univ jan feb mar apr jun jul aug sep sept oct
nov dec
""")
"""Abbreviations after which it does when a sentence starter follows."""

_ORDINALS = _set("cs da de et fi hr hu lv nb no pl sk sl sr tr")
BEFORE_ORDINALS = frozenset[str]().union(*(FUNCTION_WORDS.get(one, ()) for one in _ORDINALS)) - STOP_WORDS | {"am"}
"""Words behind which a number with a full stop is an ordinal, in languages that write these so: "am 4. Juni"."""

STARTERS = _set("""
A According After Although An And As At Because Before But By During Each For From He Her His How However I If In It Its
Most My No On One Our She Since So Some That The Their There These They This Those Through To Under Until We What When
Where While Who With You
""")
"""Words that begin sentences more often than names."""
