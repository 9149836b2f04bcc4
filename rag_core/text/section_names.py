"""What sections of papers and reports are, whatever a document calls them: in "2 Materials and Methods" the methods
stand."""

from __future__ import annotations

import re
from functools import cache

_COMMON = {
    "abstract": "abstract, summary, executive summary, kurzfassung, zusammenfassung, résumé, resumen, riassunto",
    "introduction": "introduction, motivation, einleitung, einführung, introducción, introduzione",
    "background": "background, related work, related works, previous work, prior work, literature review,"
    " state of the art, preliminaries, hintergrund, stand der forschung, verwandte arbeiten, état de l'art",
    "methods": "method, methods, methodology, proposed method, our method, approach, our approach, proposed approach,"
    " experimental setup, experimental design, experimental methods, study design, methode, methoden, methodik,"
    " methodologie, méthode, méthodes, método, métodos, metodología, metodi",
    "results": "result, results, main results, experimental results, findings, experiments, evaluation, ergebnis,"
    " ergebnisse, résultats, resultados, risultati",
    "discussion": "discussion, general discussion, diskussion, discusión, discussione",
    "conclusion": "conclusion, conclusions, concluding remarks, final remarks, fazit, schluss, schlussfolgerung,"
    " schlussfolgerungen, conclusión, conclusiones, conclusioni",
    "limitations": "limitation, limitations, threats to validity, einschränkungen",
    "future work": "future work, outlook, ausblick, perspectives",
    "references": "references, bibliography, works cited, literature cited, literatur, literaturverzeichnis, quellen,"
    " références, bibliographie, referencias, bibliografía, bibliografia",
    "acknowledgements": "acknowledgement, acknowledgements, acknowledgment, acknowledgments, danksagung, remerciements",
    "appendix": "appendix, appendices, supplement, supplementary material, supplementary materials, anhang, annexe",
}
_NAMES = {name: common for common, names in _COMMON.items() for name in names.split(", ")}
# "2", "2.1", "II.", "A.": what a heading is numbered by, alone or before its words.
_NUMBER = re.compile(
    r"[#\s]*(?:(?:section|chapter|appendix|abschnitt|kapitel|anhang)\s+)?"
    r"(?P<number>\d+(?:\.\d+)*|(?=[IVX])X{0,3}(?:IX|IV|V?I{0,3})(?=[.)])|[A-Z](?=[.)]))[.):]*(?:\s+|$)",
    re.IGNORECASE,
)
_AND = re.compile(r"\s*(?:,|;|/|&|\band\b|\bund\b|\bet\b|\by\b|\be\b)\s*")


def number_of(title: str) -> str:
    """What a heading is numbered by ("2.1"); "" where it is not."""
    match = _NUMBER.match(title)
    return match["number"].casefold() if match else ""


def is_called(title: str, name: str) -> bool:
    """Whether a section with this title is one that people call so: by its words, its number, or what such sections of
    papers are commonly called ("Methods"), of which one title may join several ("Results and Discussion")."""
    if name.strip().strip(".").casefold() == number_of(title) != "":
        return True
    words = bare(name)
    return bool(words) and (words == bare(title) or not _common(words).isdisjoint(_common(bare(title))))


@cache
def bare(title: str) -> str:
    """A heading's words without number and marks, each apart by one blank, in small letters."""
    match = _NUMBER.match(title)
    return " ".join(title[match.end() if match else 0 :].casefold().split()).strip(" .:#*_")


@cache
def _common(words: str) -> frozenset[str]:
    return frozenset(_NAMES[part] for part in (words, *_AND.split(words)) if part in _NAMES)
