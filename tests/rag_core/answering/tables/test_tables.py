"""Cells of tables with their labels, heads and groups, however the lines set them apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_core.answering.passages import merge_hits
from rag_core.answering.tables.figures import figure, is_year, scale_of
from rag_core.answering.tables.format_amount import said, value
from rag_core.answering.tables.matching_cells import periods_of, said_by
from rag_core.answering.tables.tables import Cell, cells_of
from rag_core.domain import AmountNote, Box
from tests.rag_core.answering.parts import hit

FARES = "Fares\nFrom or to Aldhaven\tVeyra Harbour\tTolsund\tLittle Marn\nAdult\t12.40\t15.80\t14.60\nBicycle\t3.00\t\n"
LEFT = [0.1, 0.1, 0.4, 0.6, 0.8, 0.1, 0.42, 0.62, 0.82, 0.1, 0.62]
TOP = [0.1, 0.2, 0.2, 0.2, 0.2, 0.3, 0.3, 0.3, 0.3, 0.4, 0.4]
WIDE = [0.1, 0.2, 0.12, 0.1, 0.12, 0.1, 0.06, 0.06, 0.06, 0.1, 0.06]

STATEMENT = (
    "The following table shows results by segment (in millions):\n"
    "Years ended\n"
    "2020 2019\n"
    "Greater China:\n"
    "Net sales $ 40,308 $ 43,678\n"
    "Operating income 15,261 16,232\n"
)


def cells(
    text: str, boxes: tuple[Box, ...] = (), *, amounts: tuple[AmountNote, ...] = (), page: int = 1
) -> dict[str, Cell]:
    """The cells of a page by what is printed there."""
    found = merge_hits([replace(hit(text, page=page), boxes=boxes, amounts=amounts)])
    return {cell.part.text: cell for cell in cells_of(found[0], 0)}


def test_a_cell_has_the_head_that_stands_over_it_though_a_row_has_gaps() -> None:
    boxes = tuple(Box(left, top, left + width, top + 0.08) for left, width, top in zip(LEFT, WIDE, TOP, strict=True))
    found = cells(FARES, boxes)
    assert said(found["15.80"]) == "Adult, Tolsund: 15.80"
    assert said(found["3.00"]) == "Bicycle, Tolsund: 3.00"


@pytest.mark.parametrize("line", ["Fares are in crowns. Children under five travel free.", "Prices in crowns"])
def test_a_line_beside_a_table_says_what_its_figures_are_in(line: str) -> None:
    table = "Fares\n\tDistance, km\tTolsund\nAdult of 15 years\t31\t15.80\nPassengers\t7\t412\nDiscount\t4%\t20%\n"
    for page in (f"{table}{line}\n", f"{line}\n{table}"):
        said_of = {figure: said(cell) for figure, cell in cells(page).items()}
        assert said_of["15.80"] == "Adult of 15 years, Tolsund: 15.80 crowns"
        assert said_of["31"] == "Adult of 15 years, Distance, km: 31"
        assert said_of["412"] == "Passengers, Tolsund: 412"
        assert said_of["20%"] == "Discount, Tolsund: 20%"


def test_a_data_sheets_figures_have_units_and_its_rows_of_words_are_no_heads() -> None:
    rows = ("Quantity\tValue", "Size\t5.4 / 2.1 m", "Power\t750 W", "Voltage\t230 V / 50 Hz", "Flow\t14,000 l/h",
            "Protection class\tIPX8", "Weight\t6.1 kg")  # fmt: skip
    found = cells("Technical data\n" + "\n".join(rows) + "\n")
    assert {said(cell) for cell in found.values()} == {
        "Power, Value: 750 W", "Flow, Value: 14,000 l/h", "Weight, Value: 6.1 kg"
    }  # fmt: skip


def test_a_number_before_a_label_belongs_to_it() -> None:
    found = cells("Proposed treatment\nTooth\tTreatment\tFee\n36\tRoot canal\t640.00\n15\tFilling\t145.00\n")
    assert [(said(cell), cell.head) for cell in found.values()] == [
        ("36 Root canal, Fee: 640.00", "Fee"),
        ("15 Filling, Fee: 145.00", "Fee"),
    ]


@pytest.mark.parametrize("text", ["12 months", "6 May", "8 am", "2024 net", "2 x 5 kg", "12 Quarry"])
def test_words_behind_a_number_are_no_unit(text: str) -> None:
    assert figure(text) is None


def test_a_cell_is_of_its_own_year_before_that_of_its_document() -> None:
    page = "Report of 2024\n2022: 398,000\n2023: 412,000\n"
    cell = cells(page)["412,000"]
    assert said(cell) == "2023, Report of 2024: 412,000"
    assert periods_of(said_by(cell)) == {"2023"}


def test_what_costs_something_beside_a_table_is_not_what_its_figures_are_in() -> None:
    for line in ("A dog costs 5 crowns.", "Who pays in euros gets change in crowns."):
        assert said(cells(f"\tHarbour\tTolsund\nAdult\t12\t15\n{line}\n")["15"]) == "Adult, Tolsund: 15"


@pytest.mark.parametrize(
    ("head", "said_as"),
    [
        ("€m", "€3,316 million"),
        ("$’000", "$3,316 thousand"),
        ("Price, euros", "3,316 euros"),
        ("HK$ million", "HK$3,316 million"),
        ("(in thousands of Danish Crowns)", "3,316 thousand Danish crowns"),
        ("(Dollars in Millions)", "3,316 million dollars"),
        ("Common stock, $0.001 par value", "3,316"),
        ("Shares ($ in millions)", "3,316 million"),
    ],
)
def test_amounts_are_said_in_what_their_head_names(head: str, said_as: str) -> None:
    found = cells(f"\t2019\t2018\n\t{head}\t{head}\nFree cash flow\t4,411\t3,316\nTaxes\t—\t(27)\n")
    assert value(found["3,316"]) == said_as
    assert value(found["—"]) == "—"


def placed(left: str, right: str, top: str) -> tuple[Box, ...]:
    """Boxes from hundredths of the page, one for each line or cell."""
    places = zip(*(map(int, one.split()) for one in (left, top, right)), strict=True)
    return tuple(Box(one / 100, high / 100, other / 100, high / 100 + 0.009) for one, high, other in places)


def test_heads_in_several_lines_that_are_printed_column_by_column() -> None:
    text = (
        "Results of the segments:\nUnited States\nOperations\nCanadian\nOperations\nOther\nInternational\n"
        "Operations\tTotal\n2020\nOperating income\t3,633\t860\t942\t5,435\n"
        "2019\nOperating income\t3,063\t924\t750\t4,737"
    )
    boxes = placed(
        "03 49 50 63 62 76 74 75 90 03 04 55 69 81 92 03 04 55 69 81 92",
        "50 57 56 68 69 80 82 82 92 06 15 58 71 83 96 06 15 58 71 83 96",
        "24 28 29 28 29 27 28 29 29 31 33 33 33 33 33 35 37 37 37 37 37",
    )
    found = cells(text, boxes)
    assert said(found["860"]) == "2020, Operating income, Canadian Operations: 860"
    assert said(found["750"]) == "2019, Operating income, Other International Operations: 750"
    assert said(found["4,737"]) == "2019, Operating income, Total: 4,737"


def test_heads_over_groups_of_columns_are_of_all_of_them() -> None:
    text = "Three months ended\nMarch 31, 2021\tMarch 31, 2020\nCost\tSold\tCost\tSold\nBoats\t1\t2\t3\t4\n"
    boxes = placed(
        "40 38 70 30 50 65 85 05 32 52 67 87",
        "80 50 82 34 54 69 89 15 34 54 69 89",
        "10 12 12 14 14 14 14 16 16 16 16 16",
    )
    found = cells(text, boxes)
    assert said(found["2"]) == "Boats, Three months ended March 31, 2021 Sold: 2"
    assert said(found["3"]) == "Boats, Three months ended March 31, 2020 Cost: 3"


def test_a_year_over_a_single_column_is_its_head_and_a_cell_may_be_divided() -> None:
    text = "Year ended 2020\nRevenue\t10\nMargins\nGross, inter\u00adnational\t3"
    boxes = placed("70 05 80 05 05 05 80", "88 15 84 15 10 15 84", "10 12 12 14 16 17 16")
    assert said(cells(text, boxes)["3"]) == "Margins, Gross, inter\u00adnational, Year ended 2020: 3"


def test_prose_in_the_column_beside_a_table_is_no_head() -> None:
    text = (
        "The company has four kinds of boats and sells them to the islands of the north and west.\n"
        "2019\nNew\t10\nOld\t20\n"
    )
    boxes = placed("05 80 55 80 55 80", "50 84 60 84 60 84", "10 10 12 12 14 14")
    assert said(cells(text, boxes)["10"]) == "New, 2019: 10"


def test_shares_keep_their_scale_and_what_one_earns_has_none() -> None:
    found = cells(
        "(in thousands, except per share data)\nYear\t2020\t2019\n"
        "Shares for earnings per share\t431\t439\nEarnings per share\t2.78\t1.29\n"
    )
    assert said(found["431"]) == "Shares for earnings per share, 2020: 431 thousand"
    assert said(found["2.78"]) == "Earnings per share, 2020: 2.78"


def test_a_second_table_below_the_first_has_its_own_heads() -> None:
    text = "Domestic\tAbroad\nRevenues\t10\t20\nYear ended 2017\nStreaming\nPost\nRevenues\t30\t40\n"
    boxes = placed(
        "40 60 05 42 62 45 40 60 05 42 62", "46 66 15 46 66 62 47 65 15 46 66", "10 10 12 12 12 14 16 16 18 18 18"
    )
    assert said(cells(text, boxes)["40"]) == "Revenues, Year ended 2017 Post: 40"


def test_figures_that_only_blanks_set_apart_are_counted_from_the_right() -> None:
    found = cells(STATEMENT)
    assert said(found["15,261"]) == "Greater China, Operating income, 2020: 15,261 million"
    assert said(found["$ 43,678"]) == "Greater China, Net sales, 2019: $43,678 million"
    assert found["$ 43,678"].currency == "$"


def test_cells_of_markdown_have_the_heads_of_their_columns() -> None:
    found = cells(
        "| Source | Depth | Built |\n|---|---|---|\n| Lake Ormen | 61 m | 1978 |\n| Lower spring | 74 | 1926 |\n"
    )
    assert said(found["74"]) == "Lower spring, Depth: 74"


def test_a_year_on_a_line_of_its_own_is_that_of_the_rows_below_it() -> None:
    found = cells(
        "\tFirst Quarter\tSecond Quarter\n2020:\nNet sales\t91\t58\nEarnings per share:\nDiluted\t$ 1.25\t$ 0.64\n"
        "2019:\nNet sales\t84\t57\nEarnings per share:\nDiluted\t$ 1.05\t$ 0.61\n"
    )
    assert said(found["$ 0.64"]) == "Earnings per share, Diluted, 2020: Second Quarter: $0.64"
    assert said(found["$ 1.05"]) == "Earnings per share, Diluted, 2019: First Quarter: $1.05"


def test_what_is_carried_forward_happened_up_to_the_next_balance() -> None:
    found = cells(
        "\tNumber\tValue\nBalance as of September 30, 2017\t390\t27.58\nCanceled\t(24)\t31.95\n"
        "Balance as of September 29, 2018\t368\t33.65\nCanceled\t(21)\t40.71\n"
        "Balance as of September 28, 2019\t326\t42.30\n"
    )
    assert found["(24)"].head == "September 29, 2018 Number"
    assert found["40.71"].head == "September 28, 2019 Value"
    assert found["368"].head == "Number"


def test_a_share_is_of_the_row_above_it() -> None:
    found = cells("\t2018\t2017\nMarketing\t$ 2,369\t$ 1,436\nAs a percentage of revenues\t15%\t12%\nOther\t4\t5\n")
    assert said(found["15%"]) == "Marketing, As a percentage of revenues, 2018: 15%"
    assert said(found["4"]) == "Other, 2018: 4"


def test_what_is_summed_up_is_in_the_currency_of_the_first_and_the_last() -> None:
    found = cells(
        "(in millions)\n\t2020\t2019\niPhone\t$ 137,781\t$ 142,381\nMac\t28,622\t25,740\nServices\t53,768\t46,291\n"
        "Total net sales\t$ 220,171\t$ 214,412\nStores\t510\t506\n"
    )
    assert said(found["28,622"]) == "Mac, 2020: $28,622 million"
    assert said(found["506"]) == "Stores, 2019: 506 million"


def test_a_note_further_up_says_what_money_is_in_and_nothing_else() -> None:
    page = (
        "REVENUE\nNet sales\t$ 163,220\t$ 149,351\nMembership fees\t3,541\t3,352\nGrowth\t8 %\t9 %\n"
        "Per share\t$ 9.02\t$ 8.26\nShares issued\t442,297\t439,755\nEmployees\t273,000\t254,000\n"
    )
    note = AmountNote("(amounts in millions, except number of shares, which are in thousands)", 20, 80)
    other = replace(note, text="(in thousands)", until=(21, 0))
    for notes in ((note,), (other, note)):  # the last that holds
        found = {figure: said(cell) for figure, cell in cells(page, amounts=notes, page=21).items()}
        assert found["$ 163,220"] == "REVENUE, Net sales: $163,220 million"
        assert found["3,541"] == "REVENUE, Membership fees: 3,541 million"
        assert found["8 %"] == "REVENUE, Growth: 8%"
        assert found["$ 9.02"] == "REVENUE, Per share: $9.02"
        assert found["442,297"] == "REVENUE, Shares issued: 442,297"
        assert found["273,000"] == "REVENUE, Employees: 273,000"
    counts = cells("Warehouses\t2020\t2019\nCanada\t101\t100\nMexico\t39\t39\n", amounts=(note,), page=21)
    assert said(counts["101"]) == "Canada, 2020: 101"


def test_dollars_in_millions_says_nothing_of_what_a_table_counts_beside_money() -> None:
    page = (
        "(dollars in millions, except per share data)\n\t2020\t2019\nRESULTS\nNet sales\t$ 163,220\t$ 149,351\n"
        "Fees\t3,541\t3,352\nWAREHOUSES\nOpened\t16\t25\nEnd of year\t795\t782\n"
    )
    found = cells(page)
    assert said(found["3,541"]) == "RESULTS, Fees, 2020: 3,541 million dollars"
    assert said(found["795"]) == "WAREHOUSES, End of year, 2020: 795"


def test_a_group_has_a_scale_of_its_own() -> None:
    found = cells("(in millions)\n\t2020\t2019\nSales\t163\t149\nShares used (000’s)\nBasic\t442,297\t439,755\n")
    assert said(found["442,297"]) == "Shares used (000’s), Basic, 2020: 442,297 thousand"
    assert said(found["163"]) == "Sales, 2020: 163 million"


def test_a_sum_further_in_and_what_begins_further_out_are_not_of_the_group() -> None:
    text = (
        "\t2020\t2019\nOperating expenses:\nResearch\t18,752\t16,217\nSelling\t19,916\t18,245\n"
        "All of these\t38,668\t34,462\nOperating income\t66,288\t63,930\nOther income\t803\t1,807\n"
    )
    found = cells(text, placed(
        "60 80 3 6 60 80 6 60 80 8 60 80 3 60 80 3 60 80",
        "66 86 30 20 66 86 20 66 86 20 66 86 20 66 86 20 66 86",
        "10 10 12 14 14 14 16 16 16 18 18 18 20 20 20 22 22 22",
    ))  # fmt: skip
    assert said(found["18,245"]) == "Operating expenses, Selling, 2019: 18,245"
    assert said(found["38,668"]) == "All of these, 2020: 38,668"
    assert [said(found[one]) for one in ("66,288", "803")] == [
        "Operating income, 2020: 66,288",
        "Other income, 2020: 803",
    ]
    assert [found[one].is_sum for one in ("18,245", "38,668", "66,288")] == [False, True, False]


def test_a_table_goes_on_behind_a_label_of_several_lines() -> None:
    found = cells(
        "(in thousands)\n\t2018\t2017\nLong-term debt\t10,360\t6,499\n"
        "Common stock, $0.001 par value; 4,990,000,000 shares authorized at the end of both years, of which\n"
        "436,598,597 and 433,392,686 issued and outstanding\t2,315\t1,871\nRetained earnings\t2,942\t1,731\n"
    )
    assert said(found["2,942"]) == "Retained earnings, 2018: 2,942 thousand"


def test_prose_and_years_are_no_cells() -> None:
    assert not cells("In 2019 the line carried 412,000 passengers, and 58,300 cars crossed in the same year.\n")
    assert not cells("2020\t2019\t2018\n")
    assert not cells(
        "kilowatts, and since February also during her stops at Tolsund, with 900\nkilowatts, as long as\n"
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(1,234)", -1234.0),
        ("$ (38)", -38.0),
        ("12.5 %", 12.5),
        ("—", 0.0),
        ("$ 1,234.50", 1234.5),
        ("−3", -3.0),
        ("12.40¹", 12.4),
        ("EUR 1,240.00", 1240.0),
        ("GBP -438.00", -438.0),
        ("CHF 0.38 per km", 0.38),
        ("3.4 m3/h", 3.4),
    ],
)
def test_figures_are_worth_what_their_print_says(text: str, value: float) -> None:
    found = figure(text)
    assert found is not None and found.value == value


def test_a_currency_before_each_figure_is_that_of_the_cell() -> None:
    found = cells("\tMuseum\tMuseum and shaft\nAdults\tEUR 9.00\tEUR 13.50\nFamily\tEUR 20.00\tEUR 31.00\n")
    assert said(found["EUR 31.00"]) == "Family, Museum and shaft: EUR 31.00"
    assert found["EUR 9.00"].currency == "EUR"
    assert not figure("MAX 30")


def test_the_table_before_gives_no_heads_to_the_one_below_its_caption() -> None:
    found = cells(
        "Time\tRoom\tSession\n08:30\tKurpark\tExcursion\n13:30\tKurhaus\tReturn\n\nFees (EUR)\n\n"
        ".\tuntil July\ton site\nMembers\t240\t340\nStudents\t90\t130\n"
    )
    assert said(found["130"]) == "Students, on site: 130 EUR"


def test_a_unit_above_the_last_column_is_that_of_all() -> None:
    found = cells("\t\tEUR thousand\n\t2022\t2023\nRevenue\t44,870\t41,260\nEquity\t16,120\t15,710\n")
    assert said(found["44,870"]) == "Revenue, 2022: 44,870 thousand EUR"
    assert said(found["41,260"]) == "Revenue, 2023: 41,260 thousand EUR"


def test_what_is_said_per_thousand_is_no_money() -> None:
    found = cells("Accounts in EUR\n\t2023\t2022\nReturned lamps (per 1,000)\t5.2\t7.9\nIncome\t347\t324\n")
    assert said(found["5.2"]) == "Returned lamps (per 1,000), 2023: 5.2"
    assert said(found["347"]) == "Income, 2023: 347 EUR"


def test_what_is_no_figure() -> None:
    assert figure("not carried") is None
    assert figure("Note 23 above") is None
    assert is_year("2019") and not is_year("2,019")
    assert scale_of("(dollars in millions)") == "million"
    assert scale_of("$'000") == "thousand"
    assert scale_of("By segment") == ""
