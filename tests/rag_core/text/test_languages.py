"""Languages told by script, function words and letters."""

from __future__ import annotations

import pytest

from rag_core.text.languages import language_of

SENTENCES = {
    "en": "The quarterly report shows that sales of the company have grown in all of its markets.",
    "de": "Der Bericht zeigt, dass die Umsätze des Unternehmens in allen Märkten gestiegen sind.",
    "fr": "Le rapport montre que les ventes de la société ont augmenté sur tous ses marchés.",
    "es": "El informe muestra que las ventas de la empresa han crecido en todos los mercados.",
    "it": "Il rapporto mostra che le vendite della società sono cresciute in tutti i mercati.",
    "pt": "O relatório mostra que as vendas da empresa cresceram em todos os seus mercados, e não só em um.",
    "nl": "Het verslag laat zien dat de verkoop van het bedrijf in alle markten is gestegen.",
    "sv": "Rapporten visar att företagets försäljning har ökat på alla marknader och att det är bra.",
    "da": "Rapporten viser, at virksomhedens salg er steget på alle markeder, og hvad det betyder for os.",
    "no": "Rapporten viser at selskapets salg har økt i alle markeder, og hva det betyr for oss etter sommeren.",
    "fi": "Raportti osoittaa, että yhtiön myynti on kasvanut kaikilla markkinoilla, mutta ei niin paljon kuin ennen.",
    "pl": "Raport pokazuje, że sprzedaż firmy wzrosła na wszystkich rynkach, ale nie tak jak przed rokiem.",
    "cs": "Zpráva ukazuje, že prodej společnosti se zvýšil na všech trzích, ale ne tak jako před rokem.",
    "ro": "Raportul arată că vânzările companiei au crescut în toate piețele și nu sunt mai mici decât anul trecut.",
    "hu": "A jelentés azt mutatja, hogy a cég eladásai minden piacon nőttek, de nem úgy, mint tavaly.",
    "tr": "Rapor, şirketin satışlarının tüm pazarlarda arttığını ve bu yıl için daha iyi olduğunu gösteriyor.",
    "ca": "L'informe mostra que les vendes de l'empresa han crescut en tots els mercats amb els quals treballa.",
    "id": "Laporan ini menunjukkan bahwa penjualan perusahaan telah meningkat di semua pasar dan akan naik.",
    "vi": "Báo cáo cho thấy doanh số của công ty đã tăng trong các thị trường và sẽ được mở rộng.",
    "ru": "Отчёт показывает, что продажи компании выросли на всех рынках, но не так, как раньше.",
    "uk": "Звіт показує, що продажі компанії зросли на всіх ринках, але не так, як раніше.",
    "bg": "Отчетът показва, че продажбите на компанията са нараснали на всички пазари, но не както преди.",
    "sr": "Извештај показује да је продаја компаније порасла на свим тржиштима, али не као пре.",
    "ar": "يظهر التقرير أن مبيعات الشركة ارتفعت في جميع الأسواق هذه السنة.",
    "fa": "گزارش نشان می‌دهد که فروش شرکت در همه بازارها افزایش یافته است.",
    "el": "Η έκθεση δείχνει ότι οι πωλήσεις της εταιρείας αυξήθηκαν σε όλες τις αγορές.",
    "he": "הדוח מראה שהמכירות של החברה גדלו בכל השווקים.",
    "hi": "रिपोर्ट दिखाती है कि कंपनी की बिक्री सभी बाजारों में बढ़ी है।",
    "zh": "报告显示，公司在所有市场的销售额均有增长。",
    "ja": "報告書によると、会社の売上高はすべての市場で増加した。",
    "ko": "보고서에 따르면 회사의 매출은 모든 시장에서 증가했다.",
    "th": "รายงานแสดงให้เห็นว่ายอดขายของบริษัทเติบโตในทุกตลาด",
    "ka": "ანგარიში აჩვენებს, რომ გაყიდვები გაიზარდა.",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_one_sentence_is_enough(language: str) -> None:
    assert language_of(SENTENCES[language]) == language
    assert language_of(SENTENCES[language].upper()) == language


@pytest.mark.parametrize(
    "text", ["", "  \n", "12.5 % 2019", "Cupertino Netflix", "Costco non-gaap EPS", "iPhone sales in 2019"]
)
def test_what_tells_nothing_is_in_the_default(text: str) -> None:
    assert language_of(text) == "en"
    assert language_of(text, "de") == "de"


@pytest.mark.parametrize(
    ("text", "language"),
    [("¯\\_(ツ)_/¯", "ja"), ("When are the penguins fed? ¯\\_(ツ)_/¯", "en"), ("これはペンです", "ja"), ("ー", "en")],
)
def test_kana_without_a_chinese_character(text: str, language: str) -> None:
    assert language_of(text) == language


def test_a_script_of_several_languages_without_function_words() -> None:
    assert language_of("Москва Казань") == "ru"
    assert language_of("Москва Казань", "uk") == "uk"
    assert language_of("علاج هبوط السكر") == "ar"


def test_few_words_go_by_what_is_expected() -> None:
    assert language_of("Wer zahlte 1998 Steuern?") == "en"
    assert language_of("Wer zahlte 1998 Steuern?", "en", ["de"]) == "de"
    assert language_of("Who paid taxes and where did they go?", "de", ["de"]) == "en"


def test_most_of_a_text_counts() -> None:
    quoted = SENTENCES["en"] * 3 + " 日本語の文章です " + SENTENCES["ru"]
    assert language_of(quoted) == "en"
    long = "# Title\n" + SENTENCES["de"] * 2_000
    assert language_of(long) == "de"
