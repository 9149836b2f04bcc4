"""Encodings of text: told by marks, by what is declared, else by the letters, of many languages in many encodings."""

from __future__ import annotations

import hypothesis
import hypothesis.strategies as st
import pytest

from rag_core.reading.encoding import decode, decode_as

WESTERN, CENTRAL = ("cp1252", "mac_roman", "cp850"), ("cp1250", "iso8859_2", "cp852")
CYRILLIC = ("cp1251", "koi8_r", "iso8859_5", "cp866")
TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "German": ("Die Bücherei öffnet früh. Größe und Maß der Tür.", WESTERN),
    "French": ("Le château a été fermé, où les élèves reçoivent un goûter.", WESTERN),
    "Spanish": ("¿Cuánto cuesta la entrada? El niño paga la mitad después de las ocho.", WESTERN),
    "Portuguese": ("A estação não abre às segundas. São dois pães.", WESTERN),
    "Danish": ("Færgen går kl. otte fra Ålborg. Køb billet på broen.", WESTERN),
    "English": ("The café’s “naïve” menu costs €7 – or £6.", ("cp1252",)),
    "signs": ("At 20 °C it costs 5 £ ½ © § 7", ("cp1252",)),
    "a euro": ("Empfänger;Betrag (€)\nMüller;12\n", ("cp1252", "iso8859_15")),
    "Polish": ("Biblioteka jest otwarta we wtorki. Zażółć gęślą jaźń, proszę.", CENTRAL),
    "Czech": ("Jméno;Částka\nNovák;12\nDvořák;15\nŠťastný;7\n", CENTRAL),
    "Hungarian": ("A könyvtár kedden nyitva van. Az idő jó, a fű zöld, őszi szünet.", CENTRAL),
    "Croatian": ("Knjižnica je otvorena četvrtkom. Što je više, to je ljepše, čuđenje.", CENTRAL),
    "Romanian": ("Biblioteca este deschisă marţi şi joi. Preţul este fără taxă.", ("cp1250", "iso8859_2")),
    "Romanian with a letter at the beginning": (
        "Ştergeţi şi această linie, fără greşeală: şase sau şapte.",
        ("cp1250",),
    ),
    "Greek with accents on large letters": ("Άλλη μέρα, πάλι. Άνοιξε ο Άγγελος τη θύρα.", ("cp1253", "iso8859_7")),
    "Turkish": ("Kütüphane salı günü açıktır. Çocuklar için ücretsizdir, ışık ve ağaç.", ("cp1254",)),
    "Lithuanian": ("Biblioteka dirba antradieniais. Kainos didesnės, žąsys ir ąžuolai.", ("cp1257",)),
    "Russian": ("Библиотека открывается в девять утра. Ключ у сторожа.", (*CYRILLIC, "mac_cyrillic")),
    "Russian in large letters": ("ОБЪЯВЛЕНИЕ О СОБРАНИИ ЖИЛЬЦОВ", CYRILLIC),
    "Ukrainian": ("Бібліотека відкрита щовівторка. Її ганок зелений, є ключ.", ("cp1251", "koi8_u", "iso8859_5")),
    "Greek": ("Η βιβλιοθήκη είναι ανοιχτή κάθε Τρίτη. Κοστίζει πέντε ευρώ.", ("cp1253", "iso8859_7")),
    "Hebrew": ("הספרייה פתוחה ביום שלישי. המחיר הוא חמישה שקלים.", ("cp1255", "iso8859_8")),
    "Arabic": ("المكتبة مفتوحة يوم الثلاثاء. السعر خمسة دراهم.", ("cp1256", "iso8859_6")),
    "Thai": ("ห้องสมุดเปิดวันอังคาร ราคาห้าบาท", ("cp874",)),
    "Korean": ("도서관은 화요일에 엽니다. 열쇠는 김하늘에게 있습니다.", ("cp949",)),
    "Chinese": ("图书馆星期二开放。价格是五元，报销单交给王芳。", ("gb18030",)),
    "Chinese of old form": ("圖書館星期二開放。價格是五元，請把收據交給王小姐。", ("big5",)),
    "Japanese": ("図書館は火曜日に開いています。料金は五百円です。", ("cp932", "euc_jp", "iso2022_jp")),
    "code, Korean": ("/* 재고 수량 */\nint left(int a, int b) {\n    return a - b; /* 반품 제외 */\n}\n", ("cp949",)),
    "code, Chinese": ("# 计算库存数量\ndef left(a, b):\n    return a - b  # 不含退货\n", ("gbk",)),
    "code, Japanese": ("# 在庫の数量\ndef left(a, b):\n    return a - b  # 返品は含まない\n", ("cp932", "euc_jp")),
    "code, Russian": ("# Считает остаток\ndef left(a, b):\n    return a - b  # без возврата\n", CYRILLIC),
    "code, German": ("# Zählt die übrigen Stücke\ndef left(a, b):\n    return a - b  # für alle\n", WESTERN),
}
CASES = [(name, encoding) for name, (_, encodings) in TEXTS.items() for encoding in encodings]


@pytest.mark.parametrize(("name", "encoding"), CASES)
def test_a_text_is_read_in_the_encoding_that_its_letters_tell(name: str, encoding: str) -> None:
    text = TEXTS[name][0]
    read, note = decode(text.encode(encoding))
    assert read == text
    assert note.startswith("Read as")


@pytest.mark.parametrize("size", [1, 100])
def test_how_long_a_text_is_changes_nothing(size: int) -> None:
    for text in ("Привет, Мир. ", "Žluťoučký kůň. ", "東京の図書館。"):
        encoding = "koi8_r" if text[0] == "П" else "cp1250" if text[0] == "Ž" else "euc_jp"
        assert decode((text * size).encode(encoding))[0] == text * size


@hypothesis.settings(max_examples=200, deadline=None, database=None)
@hypothesis.given(st.binary(max_size=200), st.sampled_from(["", "utf-8", "x-none", "idna", "base64", "gbk", "a\0b"]))
def test_any_bytes_are_read_as_some_text(data: bytes, declared: str) -> None:
    assert isinstance(decode_as(data, declared)[0], str)


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("iso-8859-8-i", "iso8859_8"), ("x-sjis", "cp932"), ("ks_c_5601-1987", "cp949"), ("GB2312", "gbk"),
        ("cp-850", "cp850"), ('"utf-8;"', "utf-8"), ("x-mac-cyrillic", "mac_cyrillic"), ("windows-874", "cp874"),
        ("us-ascii", "utf-8"), ("unknown-8bit", "cp1252"), ("iso-8859-1", "cp1252"),
    ],
)  # fmt: skip
def test_an_encoding_is_known_by_whatever_name_programs_call_it(declared: str, encoding: str) -> None:
    words = {"iso8859_8": "שלום", "cp932": "海①", "cp949": "뷁 안녕", "gbk": "镕基", "cp850": "für", "utf-8": "für"}
    text = words.get(encoding, {"mac_cyrillic": "Мир", "cp874": "ราคา"}.get(encoding, "für €"))
    assert decode_as(text.encode(encoding), declared)[0] == text


def test_what_does_not_fit_the_declared_encoding_is_replaced_and_said() -> None:
    text, note = decode_as("в среду".encode("koi8_r") + b" \x81", "cp949")
    assert "\ufffd" in text
    assert "cp949" in note
