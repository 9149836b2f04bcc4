"""Odd first pages, as documents of companies, offices, authors and programs begin, with what people would call them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class FrontPage:
    """A first page, the file's name and title, and the card wanted: only what is given is compared."""

    id: str
    name: str
    text: str
    wanted: dict[str, object]
    said: str = ""
    authors: str = ""
    later: tuple[str, ...] = field(default=())


SEC = "UNITED STATES\nSECURITIES AND EXCHANGE COMMISSION\nWashington, D.C. 20549\n"
PAGES = [
    FrontPage(
        "10-K in capitals",
        "AES_2022_10K.pdf",
        f"{SEC}FORM 10-K\nx ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d)\n"
        "For the Fiscal Year Ended December 31, 2022\n"
        "-OR-\nCommission file number 1-12291\nTHE AES CORPORATION\n"
        "(Exact name of registrant as specified in its charter)\n"
        "Delaware 54-1163725\n4300 Wilson Boulevard Arlington, Virginia",
        {"title": "The AES Corporation 10-K annual report 2022", "kind": "10-K annual report", "year": 2022},
        later=("The AES Corporation is a global power company.",),
    ),
    FrontPage(
        "10-K whose information is another's",
        "NIKE_2023_10K.pdf",
        f"{SEC}FORM 10-K\nFOR THE FISCAL YEAR ENDED MAY 31, 2023\nCommission File No. 1-10635\nNIKE, Inc.\n"
        "(Exact name of Registrant as specified in its charter)\nOregon 93-0584541",
        {"title": "NIKE, Inc. 10-K annual report 2023", "organisation": "NIKE, Inc.", "year": 2023, "authors": ""},
        said="Nike 2023 Proxy",
        authors="Workiva",
    ),
    FrontPage(
        "10-K with a name in two lines",
        "AMERICANWATERWORKS_2020_10K.pdf",
        f"{SEC}Form 10-K\nFor the fiscal year ended December 31, 2020\nCommission file: number 001-34028\n"
        "AMERICAN WATER WORKS\nCOMPANY, INC.\n(Exact name of registrant as specified in its charter)",
        {"title": "American Water Works Company, Inc. 10-K annual report 2020"},
    ),
    FrontPage(
        "10-K with a number before the name",
        "3M_2018_10K.pdf",
        f"{SEC}FORM 10-K\nFor the fiscal year ended December 31, 2018\nCommission file number 1-3285\n3M COMPANY\n"
        "(Exact name of registrant as specified in its charter)",
        {"title": "3M Company 10-K annual report 2018", "period": "fiscal year ended December 31, 2018"},
    ),
    FrontPage(
        "10-Q",
        "AMCOR_2023Q2_10Q.pdf",
        f"{SEC}FORM 10-Q\n☒ QUARTERLY REPORT PURSUANT TO SECTION 13\n"
        "For the Quarterly Period Ended December 31, 2022\n"
        "AMCOR PLC\n(Exact name of registrant as specified in its charter)",
        {"organisation": "Amcor plc", "kind": "10-Q quarterly report", "period": "second quarter 2023"},
    ),
    FrontPage(
        "10-Q by its date",
        "quarterly.pdf",
        f"{SEC}FORM 10-Q\nFor the quarterly period ended March 31, 2023\nVERIZON COMMUNICATIONS INC.\n"
        "(Exact name of registrant as specified in its charter)",
        {"title": "Verizon Communications Inc. 10-Q quarterly report, quarter ended March 31, 2023", "year": 2023},
    ),
    FrontPage(
        "8-K",
        "PEPSICO_2023_8K_dated-2023-05-05.pdf",
        f"{SEC}FORM 8-K\nCURRENT REPORT\nPursuant to Section 13\n"
        "Date of Report (Date of earliest event reported): May 2, 2023\n"
        "PepsiCo, Inc.\n(Exact name of registrant as specified in its charter)\nNorth Carolina",
        {"title": "PepsiCo, Inc. 8-K current report, May 2, 2023", "year": 2023},
    ),
    FrontPage(
        "earnings release",
        "JOHNSON_JOHNSON_2022Q4_EARNINGS.pdf",
        "Johnson & Johnson Reports Q4 and Full-Year 2022 Results\n"
        "• 2022 Fourth-Quarter reported sales decline of 4.4%\n"
        "New Brunswick, N.J. (January 24, 2023) – Johnson & Johnson (NYSE: JNJ) today announced results",
        {
            "title": "Johnson & Johnson earnings release, fourth quarter 2022",
            "organisation": "Johnson & Johnson",
            "kind": "earnings release",
        },
    ),
    FrontPage(
        "annual report with a bare title",
        "ar22.pdf",
        "Annual Report 2022\nSiemens Energy AG\nWe energize society\n",
        {"title": "Siemens Energy AG annual report 2022", "kind": "annual report", "year": 2022},
    ),
    FrontPage(
        "Geschäftsbericht",
        "gb.pdf",
        "Geschäftsbericht 2021\nStadtwerke Musterstadt GmbH\n",
        {"title": "Stadtwerke Musterstadt GmbH annual report 2021", "kind": "annual report"},
    ),
    FrontPage(
        "paper",
        "2305.03393v1.pdf",
        "Optimized Table Tokenization for Table Structure Recognition\n"
        "Maksym Lysak[0000-0002-3723-6960], Ahmed Nassar\n"
        "IBM Research\nAbstract. Extracting tables from documents is a crucial task.\n1 Introduction\n",
        {"title": "Optimized Table Tokenization for Table Structure Recognition", "kind": "paper"},
        said="Microsoft Word - draft_v3.doc",
    ),
    FrontPage(
        "paper below a conference's line",
        "paper.pdf",
        "Published as a conference paper at ICLR 2021\nMeasuring Massive Multitask Language Understanding\n"
        "Dan Hendrycks, Collin Burns, Steven Basart\nABSTRACT\nWe propose a new test to measure a text model.\n",
        {
            "title": "Measuring Massive Multitask Language Understanding",
            "kind": "paper",
            "authors": "Dan Hendrycks, Collin Burns, Steven Basart",
            "year": 2021,
        },
    ),
    FrontPage(
        "untitled, with a date above",
        "Scan_20210304.pdf",
        "4 March 2021\nLease of the boat house at Veyra\n"
        "Between the parish and Mr Einar Lund the following is agreed.\n",
        {"title": "Lease of the boat house at Veyra", "year": 2021},
        said="untitled",
    ),
    FrontPage(
        "invoice",
        "RE-2023-114.pdf",
        "Rechnung\nMuster Software GmbH\nHauptstraße 5, 10115 Berlin\nRechnungsnummer 2023-114\nDatum: 12. Mai 2023\n",
        {"organisation": "Muster Software GmbH", "kind": "invoice", "period": "12. Mai 2023", "year": 2023},
    ),
    FrontPage(
        "privacy policy",
        "privacy.txt",
        "Privacy Policy\n\nLast updated: June 1, 2021\n\nFictional Widgets Ltd respects your privacy.\n",
        {"title": "Fictional Widgets Ltd privacy policy, June 1, 2021", "kind": "privacy policy"},
    ),
    FrontPage(
        "handbook with its edition above",
        "mfd.pdf",
        "Eighth Edition\nTHE MERCK MANUAL OF HOME SAFETY\nwww.example.org\n",
        {"title": "THE MERCK MANUAL OF HOME SAFETY", "kind": "manual"},
        said="mfd_8e.indd",
    ),
    FrontPage(
        "front cover",
        "fs.pdf",
        "Front cover\nTable of Contents\nField Guide to Coastal Birds\nSecond printing\n",
        {"title": "Field Guide to Coastal Birds", "kind": "guide"},
        said="Slide 1",
    ),
    FrontPage(
        "running text",
        "state_of_the_union.txt",
        "Good evening. Good evening. If I were smart, I’d go home now.\n\n"
        "Mr. Speaker, Madam Vice President, my fellow "
        "Americans, we meet tonight.\n",
        {"title": "State of the union"},
    ),
    FrontPage(
        "a year that is told of",
        "Harbour_city.txt",
        "Harbour city is the largest of the coast, with which the county's own government was consolidated in 1968, and"
        " it has grown since then.\n",
        {"title": "Harbour city", "year": None},
    ),
    FrontPage(
        "text with a heading",
        "notes.txt",
        "=====================\nHow we mend nets\n=====================\n\nBegin with a needle and some twine.\n",
        {"title": "How we mend nets"},
    ),
    FrontPage(
        "only a name that says something",
        "minutes-of-the-board_2022-03 (1).txt",
        "present were all members, and the last minutes were read and\nfound to be right by all who had been there.\n",
        {"title": "Minutes of the board 2022-03", "kind": "minutes", "year": 2022},
    ),
    FrontPage(
        "Chinese",
        "报告.txt",
        "2022年年度报告摘要\n\n公司简介\n",
        {"title": "2022年年度报告摘要", "kind": "annual report"},
    ),
    FrontPage("no text", "holiday-plan.pdf", "", {"title": "Holiday plan", "year": None}),
    FrontPage(
        "a title that ends in a body's name",
        "inverlea.odt",
        "Handbook of the Inverlea Garden Trust\n\nHouse rules\n\nDogs stay outside.",
        {"title": "Handbook of the Inverlea Garden Trust"},
    ),
    FrontPage(
        "source code",
        "tides.py",
        '"""When the water comes.\n\nThe tides of the town were first told of in the spring of 1974. It meets all who\n'
        'wait there."""\n\nfrom __future__ import annotations\n\nimport math\n',
        {"title": "tides"},
    ),
    FrontPage("a camera's number", "IMG_2041.png", "Notice to all tenants\n", {"year": None}),
]
