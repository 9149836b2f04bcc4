"""What captions of figures look like, in any language: a word, a number, and what the figure shows."""

from __future__ import annotations

import re

from rag_core.text.tables import is_caption as is_table_caption

_NUMBER = r"((?-i:[A-Z]){0,2}\.?\d{1,3}(?:[.\-–]\d{1,3})*[a-z]?|(?-i:[IVXLC]{1,6}))"
# Of the languages that documents are often in; a figure by any other word is known by the mark behind its number.
_WORDS = (
    r"(?:supplementary |extended data )?(?:fig(?:ure|ura|uur)?s?|chart|graph|diagram|plate|photo(?:graph)?|picture"
    r"|image|illustration|map|scheme|abb(?:ildung)?|bild|grafik|schaubild|diagramm|foto|karte|graphique|carte|schéma"
    r"|gráfic[oa]|ilustración|imagen|imagem|immagine|grafico|grafiek|afbeelding|kuva|rys(?:unek)?|obr(?:ázek)?"
    r"|рис(?:унок)?|график|диаграмма|фото|図|图|圖|그림|شكل)"
)
_MARK = r"\s?[.:|—–](?!\d)"
_BY_WORD = rf"{_WORDS}\.?\s*{_NUMBER}(?!\w)"
_BY_MARK = rf"(?-i:(?![a-z]))[^\W\d_]{{2,15}}\.?\s{_NUMBER}{_MARK}"
_CAPTION = re.compile(rf"\W{{0,2}}(?:{_BY_WORD}(?P<mark>{_MARK})?|{_BY_MARK})", re.IGNORECASE)


def caption_likelihood(line: str) -> int:
    """Whether a line may be the beginning of a figure's caption: "Figure 3: ..." 3, "Abb. 2" 2, "Panel 4." 1, others 0.

    A sentence that begins with a figure's name does so too: what stands beside the line tells them apart.
    """
    found = _CAPTION.match(line)
    if found is None or is_table_caption(line):
        return 0
    return 3 if found["mark"] else 2 if found[1] else 1
