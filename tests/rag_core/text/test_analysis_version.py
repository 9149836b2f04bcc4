"""Terms are what the index of words on people's disks was made of."""

from __future__ import annotations

import hashlib
import json

from rag_core.text.terms import ANALYSIS_VERSION, terms

TEXTS = {
    "en": "The B-52's rye-bread costs $1,234.50 (AquaSieve 700), isn't it? Ferries' crossings; a.b@c.org v2.1",
    "de": "Die Häuser der Donaudampfschifffahrtsgesellschaft kosteten 3.456,78 € am 5. März.",
    "fr": "L'été dernier, les œuvres d'aujourd'hui coûtaient 1 234,00 €.",
    "ru": "Библиотека открывается в 9:15; книги ёжиков.",
    "zh": "报销单交给王芳，年假有10天。",
    "ja": "駐車場の料金は一万二千円です。ツ",
    "ar": "كم رسوم البطاقة السنوية؟",
    "ko": "재고 수량을 확인",
    "th": "ตารางเวลา",
    "hi": "किताबों की दुकान",
}
DIGEST = {2: "b6adc84f8cacb251"}


def test_the_version_rises_when_terms_change() -> None:
    """Where this fails: raise ANALYSIS_VERSION, which has every index made anew, and put the digest here."""
    cut = json.dumps({language: terms(text, language) for language, text in TEXTS.items()}, ensure_ascii=False)
    assert hashlib.sha256(cut.encode()).hexdigest()[:16] == DIGEST.get(ANALYSIS_VERSION), cut
