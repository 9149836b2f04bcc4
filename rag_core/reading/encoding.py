"""What bytes of text say: by their marks, as UTF-8 or UTF-16, by the encoding that is declared, else by their letters.

Letters are judged as a reader would: of all encodings and languages that a text may be in, those are likeliest whose
words have the letters that the language has, as often as it has them (charset-normalizer's lists), small within words.
"""

from __future__ import annotations

import codecs
import math
import re
from collections import Counter
from functools import cache

import regex

from rag_core.reading.detect import guess_utf16

# UTF-32's little-endian mark begins with UTF-16's, so it stands first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WESTERN, _USUAL = "cp1252", "utf-8"
# What programs call encodings by, or mean by others' names: their makers' larger forms.
_MEANT = {
    "ascii": _USUAL, "iso8859-1": _WESTERN, "iso8859-9": "cp1254", "euc_kr": "cp949", "gb2312": "gb18030",
    "gbk": "gb18030", "shift_jis": "cp932", "tis-620": "cp874", "iso8859-11": "cp874",
    "windows31j": "cp932", "windows949": "cp949", "windows874": "cp874", "windows936": "gb18030", "sjis": "cp932",
    "gb231280": "gb18030", "eucjp": "euc_jp", "koi8ru": "koi8_u", "dos866": "cp866", "utf8mb4": "utf-8",
    "macroman": "mac_roman", "maccyrillic": "mac_cyrillic",
}  # fmt: skip
_NO_TEXT = {"idna", "punycode", "raw_unicode_escape", "unicode_escape", "undefined", "palmos", "mbcs", "oem"}
_ISO_2022_JP = re.compile(rb"\x1b\$[@B]")

_SAMPLE_BYTES, _JUDGED_BYTES = 2**18, 6000
_CENTRAL, _BALTIC = ("cp1250", "iso8859_2", "mac_latin2", "cp852"), ("cp1257",)
_CYRILLIC = ("cp1251", "koi8_r", "iso8859_5", "cp866", "mac_cyrillic")
_LATIN = (_WESTERN, "iso8859_15", "mac_roman", "cp850")
# Languages: the encodings that they were written in, and letters beside those of the lists.
_LANGUAGES: dict[str, tuple[tuple[str, ...], str]] = {
    "English": (_LATIN, "éèêñçïö"), "German": (_LATIN, "äöüßé"), "French": (_LATIN, "éèàêçùâîôœëïûæ"),
    "Dutch": (_LATIN, "ëéïöèüê"), "Italian": (_LATIN, "àèéìòù"), "Spanish": (_LATIN, "áéíóúñü"),
    "Portuguese": (_LATIN, "ãõáéíóúâêôçà"), "Swedish": (_LATIN, "åäöé"), "Norwegian": (_LATIN, "æøåéòó"),
    "Danish": (_LATIN, "æøåé"), "Finnish": (_LATIN, "äöå"), "Icelandic": (_LATIN, "ðþæöáéíóúý"),
    "Polish": (_CENTRAL, "ąćęłńóśźż"), "Czech": (_CENTRAL, "áčďéěíňóřšťúůýž"),
    "Slovak": (_CENTRAL, "áäčďéíĺľňóôŕšťúýž"),
    "Hungarian": (_CENTRAL, "áéíóöőúüű"), "Romanian": (_CENTRAL, "ăâîşţ"), "Croatian": (_CENTRAL, "čćđšž"),
    "Slovene": (_CENTRAL, "čšž"), "Lithuanian": (_BALTIC, "ąčęėįšųūž"), "Latvian": (_BALTIC, "āčēģīķļņšūž"),
    "Estonian": (("cp1257", "cp1252"), "äöüõšž"), "Turkish": (("cp1254",), "çğıöşüâî"),
    "Russian": (_CYRILLIC, "ёщэюшфцъ"), "Bulgarian": (_CYRILLIC, "щшюфцьъ"),
    "Serbian": (("cp1251", "iso8859_5"), "ђјљњћџ"),
    "Ukrainian": (("cp1251", "koi8_u", "iso8859_5", "mac_cyrillic"), "ґєіїщшюфцж"),
    "Greek": (("cp1253", "iso8859_7"), "άέήίόύώϊϋΐξζψφχβθς"), "Hebrew": (("cp1255", "iso8859_8"), "ךםןףץ"),
    "Arabic": (("cp1256", "iso8859_6"), "ءآأؤإئةثذزشصضطظغى"), "Farsi": (("cp1256",), "پچژگآئ"),
    "Thai": (("cp874",), "".join(map(chr, range(0xE01, 0xE5A)))),
}  # fmt: skip
_LIKE = {"Icelandic": "Norwegian", "Latvian": "Lithuanian"}  # whose lists do for those without one
_OLD_FORM = "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡"
_FADING = 8.0  # ranks behind which a letter is e times as rare
_UNLISTED, _RARE, _ASCII, _MARK, _ALIEN, _BROKEN = map(math.log, (0.012, 0.004, 0.03, 0.1, 2e-5, 2e-6))
_FOR_ODD = math.log(1e-4)
_MARKS_OF_TEXT = frozenset(
    "“”„‟‘’‚‛«»‹›–—…•·°§©®™€£¥¢±×÷¿¡№\xa0´¨²³¹½¼¾ªº¶†‡‰、。「」『』（）！？，：；・《》〈〉－～〜％／"
)
_FOREIGN = re.compile(rb"[^\s\x00-\x1f]*[\x80-\xff][^\s\x00-\x1f]*")
# Signs right behind a letter, or before one, that stand there in no text; large letters behind small ones; words of two
# scripts.
_ODD = tuple(
    regex.compile(pattern, regex.V1)
    for pattern in (
        r"(?<=\p{L})[[\x80-\u2fff]--[\p{L}\p{M}’”“»«…–—®™©°²³\xa0\xad]]",
        r"[[\x80-\u2fff]--[\p{L}\p{M}“„‘‚«»¿¡–—…’©°£€§\xa0\xad]](?=\p{L})",
        r"(?<=\p{L})[”“»«®™©°²³](?=\p{L})",
        r"(?<=\p{Ll})\p{Lu}",
        r"[ªº](?=\p{L})",
        r"(?<!\p{L})’(?=\p{Greek})",
        r"[©®°±²³¹¼½¾×÷¶†‡¨¸´¯¬¦¢¥ªº][[\x80-\u2fff]--[\p{L}\xa0–—]]",
        r"(?<=\d)[\p{Latin}\p{Cyrillic}--[\x00-\x7f]](?=\d)",
        r"(?<=[\p{L}--\p{Latin}])[\[\\\]^{|}~@](?=\p{L})",
        r"(?<=[a-zA-Z])[\p{L}--\p{Latin}]|[\p{L}--\p{Latin}](?=[a-zA-Z])",
    )
)
# Languages that are written in two bytes a letter: their encodings, and the commonest letters.
_EASTERN = {
    "Korean": ("cp949",), "Japanese": ("cp932", "euc_jp"), "Chinese": ("gb18030",), "Chinese of old form": ("big5",),
}  # fmt: skip
# What speaks for the usual before the letters do, in natural logarithms.
_BEFOREHAND = {_WESTERN: 3.0, "mac_roman": -2.0, "cp850": -3.0, "cp852": -3.0, "mac_latin2": -4.0, "cp866": -1.0}
_BEFOREHAND |= {"mac_cyrillic": -7.0, "cp1257": -3.0}


def decode(data: bytes) -> tuple[str, str]:
    """Return the text of `data` and a note, empty unless something had to be guessed or replaced."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode_marked(data, encoding)
    guessed = guess_utf16(data[:4096])
    if guessed:
        return data.decode(guessed, errors="replace"), "Read as UTF-16 without a byte order mark."
    if _ISO_2022_JP.search(data, 0, _SAMPLE_BYTES) and data.isascii():
        return data.decode("iso2022_jp_ext", errors="replace"), "Read as ISO-2022-JP, by its marks."
    try:
        return data.decode(_USUAL), ""
    except UnicodeDecodeError:
        return _decode_legacy(data)


def decode_as(data: bytes, declared: str) -> tuple[str, str]:
    """The same as `decode` of text whose encoding is declared, by a name or nothing: what fits is taken for true."""
    encoding = _codec(declared)
    found, note = decode(data)
    if not note or encoding in ("", _USUAL):
        return found, note
    try:
        return data.decode(encoding), ""
    except UnicodeDecodeError:
        return data.decode(encoding, errors="replace"), f"Not all of it is {declared}, as it says: some was replaced."


def _codec(declared: str) -> str:
    """Python's name of an encoding; nothing for one that nobody knows."""
    name = declared.strip(" \t\"';").lower()
    bare = re.sub(r"[^a-z0-9]", "", re.sub(r"-[ei]$", "", name)).removeprefix("x")
    for known in (name, bare, _MEANT.get(bare, "")):
        try:
            b"text".decode(known, errors="ignore")  # some names are not of text, as base64
            found = codecs.lookup(known).name
        except (LookupError, ValueError):
            continue
        if found not in _NO_TEXT:
            return _MEANT.get(found, found)
    return ""


def _decode_marked(data: bytes, encoding: str) -> tuple[str, str]:
    text = data.decode(encoding, errors="replace")
    damaged = text.count("\ufffd")
    return text, f"{damaged} damaged characters were replaced." if damaged else ""


def _decode_legacy(data: bytes) -> tuple[str, str]:
    """Tell slightly damaged UTF-8 from older encodings: that of Western languages, or what the letters say."""
    text = data.decode(_USUAL, errors="replace")
    damaged = text.count("\ufffd")
    sound = sum(1 for character in text if character > "\x7f") - damaged
    if sound > 3 * damaged:
        return text, f"{damaged} damaged characters were replaced."
    encoding = _likeliest(data[:_SAMPLE_BYTES])
    if encoding != _WESTERN:
        return data.decode(encoding, errors="replace"), f"Read as {encoding}, by its letters, as it is not UTF-8."
    try:
        return data.decode(_WESTERN), "Read as Windows-1252, as it is not UTF-8."
    except UnicodeDecodeError:
        return data.decode("latin-1"), "Read as Latin-1, as it is not UTF-8."


def _likeliest(sample: bytes) -> str:
    """The encoding in which a text has the likeliest letters, judged by its first words that are not all ASCII."""
    words: list[bytes] = []
    length = 0
    for found in _FOREIGN.finditer(sample):
        words.append(found[0])
        length += len(found[0])
        if length > _JUDGED_BYTES:
            break
    judged = b" ".join(words)
    return max(_candidates(), key=lambda encoding: _likelihood(judged, encoding))


def _likelihood(judged: bytes, encoding: str) -> float:
    """How likely the text is, in natural logarithms, in the likeliest of the languages that it may be in."""
    text = judged.decode(encoding, errors="replace")
    form = _BEFOREHAND.get(encoding, 0.0) + _form(text)
    counts = Counter(text.lower())
    return form + max(_letters(counts, language) for language in _candidates()[encoding])


def _form(text: str) -> float:
    """What speaks against a text whose signs and letters stand as they do in none."""
    return sum(len(odd.findall(text)) for odd in _ODD) * _FOR_ODD


def _letters(counts: Counter[str], language: str) -> float:
    known = _alphabet(language)
    return sum(count * known.get(letter, _cost(letter)) for letter, count in counts.items())


def _cost(letter: str) -> float:
    """The cost of a letter or sign that a language has not."""
    if letter.isascii():
        return _ASCII if letter.isalpha() else 0.0
    if letter in _MARKS_OF_TEXT:
        return _MARK
    return _ALIEN if letter.isalpha() else _BROKEN


@cache
def _candidates() -> dict[str, list[str]]:
    """Encodings, each with the languages that were written in it."""
    found: dict[str, list[str]] = {}
    for language, (encodings, _) in _LANGUAGES.items():
        for encoding in encodings:
            found.setdefault(encoding, []).append(language)
    for language, encodings in _EASTERN.items():
        found |= {encoding: [language] for encoding in encodings}
    return found


@cache
def _alphabet(language: str) -> dict[str, float]:
    """The letters of a language with the logarithms of their shares."""
    from charset_normalizer.constant import FREQUENCIES

    if language in _EASTERN:
        return _signs(language)
    ranked = FREQUENCIES[_LIKE.get(language, language)]
    shares = [math.exp(-rank / _FADING) for rank in range(len(ranked))]
    known = {letter: math.log(share / sum(shares)) for letter, share in zip(ranked, shares, strict=True)}
    return {letter: _UNLISTED if language in _LIKE else _RARE for letter in _LANGUAGES[language][1]} | known


def _signs(language: str) -> dict[str, float]:
    """The usual signs of a language that has thousands, each as likely as others of its kind."""
    from charset_normalizer.constant import FREQUENCIES

    if language == "Korean":
        usual, common = _rows("euc_kr", 0xB0, 0xC8), FREQUENCIES["Korean"]
    elif language == "Japanese":
        usual, common = _rows("euc_jp", 0xB0, 0xCF), [*_rows("euc_jp", 0xA4, 0xA5), *"ー々"]
    elif language == "Chinese":
        usual, common = _rows("gb2312", 0xB0, 0xD7), FREQUENCIES["Chinese"]
    else:
        usual, common = _rows("big5", 0xA4, 0xC6), list(_OLD_FORM)
    shares = {letter: math.log(0.3 / len(usual)) for letter in usual}
    return shares | {letter: math.log(0.6 / len(common)) for letter in common}


def _rows(encoding: str, first: int, last: int) -> str:
    """The signs of an encoding's rows, by their first bytes."""
    pairs = (bytes((row, place)) for row in range(first, last + 1) for place in range(0x40, 0xFF))
    found = (pair.decode(encoding, errors="ignore") for pair in pairs)
    return "".join(sign for sign in found if not sign.isascii())
