"""Small texts for tests of the whole library: several subjects, so that a question has one right document."""

from __future__ import annotations

TEXTS = {
    "lighthouse.txt": (
        "The lighthouse at Cape Varn was lit for the first time in 1887. Its lamp turns once every nine seconds and "
        "can be seen from twenty-two nautical miles. The last keeper, Ada Holm, left in 1974."
    ),
    "bakery.md": (
        "# The bakery\n\nThe bakery on Mill Street opens at six in the morning. Its rye bread is made with a sourdough "
        "that is forty years old.\n\n## Prices\n\nA loaf of rye bread costs 4.20 euros. A cinnamon roll costs 2.80."
    ),
    "glacier.txt": (
        "The Norden glacier lost eleven metres of thickness between 2001 and 2019. Scientists measure it every "
        "September with poles drilled into the ice."
    ),
    "chess.txt": (
        "In chess the bishop moves along diagonals and never changes the colour of its square. A knight jumps over "
        "other pieces. Castling is allowed once in a game."
    ),
}
