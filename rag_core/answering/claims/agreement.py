"""Whether a figure of a passage is the one that a sentence gives: by amount, scale, unit and currency."""

from __future__ import annotations

from dataclasses import replace

from rag_core.answering.claims.measures import Mention, same_amount, same_currency
from rag_core.answering.claims.source import Occurrence, Source

_ANY_SCALE = (1.0, 1e3, 1e6, 1e9)


def agrees(said: Mention, held: Occurrence, source: Source) -> bool:
    """Whether the passage's figure is the sentence's, as far as is known what the two measure."""
    if not (_share_agrees(said, held, source) and _unit_agrees(said, held, source)):
        return False
    if said.currency and not _currency_agrees(said.currency, held.mention, source):
        return False
    other = held.mention
    if said.unit and other.unit is None:
        said = replace(said, unit=None, worth=1.0)
    if other.unit and said.unit is None and not other.percent:
        other = replace(other, unit=None, worth=1.0)
    return any(same_amount(said, replace(other, scale=scale)) for scale in _scales(said, held, source))


def _share_agrees(said: Mention, held: Occurrence, source: Source) -> bool:
    """A share is a share; "10 to 30 %" and a column of per cent have one sign for several figures."""
    if said.percent == held.mention.percent:
        return True
    if not said.percent:
        return False
    return held.share or (held.loose and held.mention.unit is None and "%" in source.passage.text)


def _unit_agrees(said: Mention, held: Occurrence, source: Source) -> bool:
    """A unit that does not stand with the passage's figure stands in its heads, or at least in the passage."""
    if said.unit is None or said.percent or held.mention.unit is not None:
        return True
    alike = {unit for unit in held.units if unit[0] == said.unit[0]}
    return said.unit in (alike or source.units) or said.unit[0] == "clock"


def _currency_agrees(said: str, held: Mention, source: Source) -> bool:
    if not held.currency:
        return not held.unit and (
            not source.currencies or any(same_currency(said, other) for other in source.currencies)
        )
    # "dollars" beside a head that says "NT dollars" are those.
    nearer = {other for other in source.currencies if other != held.currency and same_currency(other, held.currency)}
    return same_currency(said, held.currency) or any(same_currency(said, other) for other in nearer)


def _scales(said: Mention, held: Occurrence, source: Source) -> tuple[float, ...]:
    """The scales under which the passage's figure may be read: a table's may stand in its heads, its caption, or not
    in the passage at all."""
    own = held.mention.scale
    if not held.loose:
        return (own,)
    if held.mention.percent or not said.scale:
        return (0.0, own)
    return (own,) if own else tuple(source.scales) or _ANY_SCALE
