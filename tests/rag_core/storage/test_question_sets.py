"""Question sets and runs in PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from rag_core import Library, Settings
from rag_core.domain import Configuration, Estimate, Found, Gold, Question, Result, Run, Sentence
from rag_core.storage import Storage

ODD = "a\x00b\ud800c\udfff“”\u202e🗿"
CLEAN = "a\ufffdb\ufffdc\ufffd“”\u202e🗿"
FULL = Question(
    "full", "What does it cost?", ("4.20 euros", "4.20"), (Gold("bakery.md", 1, "costs 4.20"), Gold("x")), True,
    "drafted", "a note",
)  # fmt: skip


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Settings:
    folder = tmp_path_factory.mktemp("sets")
    return Settings(_env_file=None, data_dir=folder / "library", database_url=new_database())


@pytest.fixture(scope="module")
def storage(settings: Settings) -> Iterator[Storage]:
    opened = Storage(settings)
    yield opened
    opened.close()


def questions(count: int) -> list[Question]:
    return [Question(f"q{number}", f"Question {number}?") for number in range(count)]


def run_on(set_id: str = "s", **values: Any) -> Run:
    made: dict[str, Any] = {
        "id": f"run{time.monotonic_ns()}", "group": "g", "set_id": set_id, "set_name": "Set", "answers": True,
        "configuration": Configuration("one", {"retrieval.k": 3}), "state": "waiting", "done": 0, "total": 3,
        "seed": 7, "created_at": datetime.now(UTC), "settings": {"retrieval.k": 3, "answering.prompt": ""},
        "versions": {"numpy": "2"}, "library": {"documents": 4, "digest": "d"},
    }  # fmt: skip
    return Run(**(made | values))


def result(question: Question, text: str = "It costs 4.20 euros.") -> Result:
    return Result(
        question=question,
        found=(
            Found(1, "d", "Report", 2, "ii", 5, 25, text, 0.5, True, (0, 2)),
            Found(2, "e", "Other", 1, "", 0, 1, "x", 0.0),
        ),
        answer="It costs 4.20. [1]",
        sentences=(Sentence("It costs 4.20.", (1,)), Sentence("So.", (), False)),
        abstained=False,
        confidence=0.75,
        metrics={"hit_rate": 1.0, "rouge_1": None, "search_ms": 12.5},
        latency_ms={"embed": 1.5},
        tokens={"prompt": 9, "answer": 3},
        notes=("a note",),
    )


def test_a_set_holds_its_questions_in_order_with_all_that_is_known(storage: Storage) -> None:
    asked = [FULL, *questions(3), replace(FULL, id="other", answerable=False, origin="asked")]
    set_id = storage.question_sets.create("  My\n set ", asked)
    found = storage.question_sets.get(set_id)
    assert found is not None
    assert (found.name, found.size) == ("My set", 5)
    assert storage.question_sets.questions(set_id) == asked
    with pytest.raises(KeyError, match="nothing"):
        storage.question_sets.get("nothing")


def test_changed_questions_keep_their_place_and_new_ones_follow(storage: Storage) -> None:
    set_id = storage.question_sets.create("Changes", questions(3))
    before = storage.question_sets.get(set_id)
    storage.question_sets.put(set_id, [Question("new", "New?"), Question("q1", "Changed?"), Question("new", "Newer?")])
    assert [(q.id, q.text) for q in storage.question_sets.questions(set_id)] == [
        ("q0", "Question 0?"), ("q1", "Changed?"), ("q2", "Question 2?"), ("new", "Newer?"),
    ]  # fmt: skip
    storage.question_sets.drop(set_id, ["q0", "q2", "never there"])
    storage.question_sets.put(set_id, [Question("last", "Last?")])
    assert [q.id for q in storage.question_sets.questions(set_id)] == ["q1", "new", "last"]
    after = storage.question_sets.get(set_id)
    assert before is not None
    assert after is not None
    assert after.created_at == before.created_at
    assert after.updated_at > before.updated_at
    assert storage.question_sets.all()[0].id == set_id


def test_the_same_ids_may_stand_in_two_sets(storage: Storage) -> None:
    first, second = (storage.question_sets.create(name, questions(2)) for name in ("First", "Second"))
    storage.question_sets.put(first, [Question("q0", "Mine?")])
    storage.question_sets.delete(first)
    assert storage.question_sets.questions(first) == []
    assert [q.text for q in storage.question_sets.questions(second)] == ["Question 0?", "Question 1?"]


def test_names_are_kept_short_and_never_empty(storage: Storage) -> None:
    set_id = storage.question_sets.create(" \n ", [])
    names = {"x" * 500: 120, ODD: len(CLEAN), "'; DROP TABLE questions; --": 27}
    found = storage.question_sets.get(set_id)
    assert found is not None
    assert found.name == "Questions"
    for name, length in names.items():
        storage.question_sets.rename(set_id, name)
        found = storage.question_sets.get(set_id)
        assert found is not None
        assert len(found.name) == length
    storage.question_sets.rename(set_id, "  ")
    assert storage.question_sets.get(set_id) == found


def test_what_postgresql_refuses_is_replaced_everywhere(storage: Storage) -> None:
    odd = Question(ODD, ODD, (ODD,), (Gold(ODD, 1, ODD),), True, "typed", ODD)
    set_id = storage.question_sets.create(ODD, [odd])
    (clean,) = storage.question_sets.questions(set_id)
    assert clean == Question(CLEAN, CLEAN, (CLEAN,), (Gold(CLEAN, 1, CLEAN),), True, "typed", CLEAN)
    run = run_on(set_id, configuration=Configuration(ODD, {"answering.prompt": ODD}), set_name=ODD, judge=ODD)
    storage.evaluation_runs.add([run], [odd])
    storage.evaluation_runs.keep(run.id, [(0, replace(result(odd, ODD), answer=ODD, error=ODD, notes=(ODD,)))])
    storage.evaluation_runs.enter(run.id, "failed", ODD)
    storage.evaluation_runs.note(run.id, [ODD])
    kept = storage.evaluation_runs.get(run.id)
    assert kept is not None
    assert (kept.configuration.name, kept.error, kept.notes) == (CLEAN, CLEAN, (CLEAN,))
    (item,) = storage.evaluation_runs.results(run.id, [ODD])
    assert (item.question, item.found[0].text, item.answer, item.error) == (clean, CLEAN, CLEAN, CLEAN)
    assert storage.evaluation_runs.missing(run.id) == []
    storage.question_sets.drop(set_id, [ODD])
    assert storage.question_sets.questions(set_id) == []
    for name in (ODD, "x" * 10_000, ""):
        assert storage.question_sets.questions(name) == storage.evaluation_runs.results(name) == []
        with pytest.raises(KeyError):
            storage.question_sets.get(name)
        assert storage.evaluation_runs.get(name) is None


def test_a_run_comes_back_whole(storage: Storage) -> None:
    asked = [FULL, *questions(2)]
    run = run_on()
    storage.evaluation_runs.add([run], asked)
    assert storage.evaluation_runs.missing(run.id) == list(enumerate(asked))
    kept = [(2, result(asked[2])), (0, result(asked[0], "Other text"))]
    storage.evaluation_runs.keep(run.id, kept)
    storage.evaluation_runs.keep(run.id, [(0, result(asked[0], "Not taken: there is one"))])
    assert storage.evaluation_runs.missing(run.id) == [(1, asked[1])]
    assert storage.evaluation_runs.results(run.id) == [kept[1][1], kept[0][1]]
    assert storage.evaluation_runs.results(run.id, [asked[2].id]) == [kept[0][1]]
    assert storage.evaluation_runs.results(run.id, []) == []
    short = storage.evaluation_runs.results(run.id, passages=False)
    assert [item.text for one in short for item in one.found] == [""] * 4
    assert [one.metrics for one in short] == [kept[1][1].metrics, kept[0][1].metrics]
    storage.evaluation_runs.summarise(run.id, {"hit_rate": Estimate(0.5, 0.25, 0.75, 2)})
    storage.evaluation_runs.note(run.id, ["first"])
    storage.evaluation_runs.note(run.id, ["second"])
    found = storage.evaluation_runs.get(run.id)
    assert found is not None
    assert found.created_at >= run.created_at
    wanted = replace(
        run, done=2, notes=("second",), metrics={"hit_rate": Estimate(0.5, 0.25, 0.75, 2)}, created_at=found.created_at
    )
    assert found == wanted
    assert found in storage.evaluation_runs.all("s")


def test_a_state_has_an_end_s_time_once_it_is_over(storage: Storage) -> None:
    run = run_on("states")
    storage.evaluation_runs.add([run], questions(1))
    ends = {}
    for state in ("running", "failed", "waiting", "cancelled", "running", "done"):
        storage.evaluation_runs.enter(run.id, state, "why" if state == "failed" else "")
        found = storage.evaluation_runs.get(run.id)
        assert found is not None
        assert found.state == state
        assert found.error == ("why" if state == "failed" else "")
        ends[state] = found.finished_at
    assert ends["running"] is ends["waiting"] is None
    assert ends["failed"] < ends["cancelled"] < ends["done"]


def test_runs_outlive_their_set_and_results_go_with_their_run(storage: Storage) -> None:
    set_id = storage.question_sets.create("Short-lived", questions(2))
    first, second = run_on(set_id), run_on(set_id)
    storage.evaluation_runs.add([first, second], questions(2))
    storage.evaluation_runs.keep(first.id, [(0, result(questions(1)[0]))])
    storage.question_sets.delete(set_id)
    assert [run.id for run in storage.evaluation_runs.all(set_id)] == [second.id, first.id]
    assert len(storage.evaluation_runs.missing(second.id)) == 2
    storage.evaluation_runs.delete(first.id)
    storage.evaluation_runs.keep(first.id, [(1, result(questions(2)[1]))])
    storage.evaluation_runs.enter(first.id, "done")
    storage.evaluation_runs.summarise(first.id, {})
    assert storage.evaluation_runs.get(first.id) is None
    assert storage.evaluation_runs.results(first.id) == storage.evaluation_runs.missing(first.id) == []


def test_ten_thousand_questions_take_seconds(storage: Storage) -> None:
    many = [replace(FULL, id=f"q{number}", text=f"Question {number}?") for number in range(10_000)]
    began = time.perf_counter()
    set_id = storage.question_sets.create("Many", many)
    storage.question_sets.put(set_id, many)
    assert storage.question_sets.questions(set_id) == many
    run = run_on(set_id, total=len(many))
    storage.evaluation_runs.add([run], many)
    storage.evaluation_runs.keep(run.id, [(place, Result(question)) for place, question in enumerate(many[:2000])])
    assert len(storage.evaluation_runs.missing(run.id)) == 8_000
    assert len(storage.evaluation_runs.results(run.id, passages=False)) == 2_000
    assert storage.evaluation_runs.all(set_id)[0].done == 2_000
    storage.question_sets.drop(set_id, [question.id for question in many[1:]])
    assert storage.question_sets.questions(set_id) == many[:1]
    assert time.perf_counter() - began < 90


def test_many_write_at_once(storage: Storage) -> None:
    set_id = storage.question_sets.create("Shared", [])
    run = run_on(set_id)
    storage.evaluation_runs.add([run], questions(60))

    def work(first: int) -> None:
        for number in range(first, first + 20):
            question = Question(f"q{number}", f"Question {number}?")
            storage.question_sets.put(set_id, [question, Question("all", f"By {first}?")])
            storage.evaluation_runs.keep(run.id, [(number, result(question)), (99, result(Question("all", "?")))])

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(work, (0, 10, 20, 30, 40)))
    assert len(storage.question_sets.questions(set_id)) == 61
    kept = [one.question.id for one in storage.evaluation_runs.results(run.id)]
    assert len(kept) == len(set(kept)) == 61


def test_a_backup_carries_sets_runs_and_ratings(
    tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]
) -> None:
    folder = tmp_path_factory.mktemp("carried")
    old, new = (
        Settings(_env_file=None, data_dir=folder / name, database_url=new_database()) for name in ("old", "new")
    )
    with Library.open(old) as library:
        storage = library.storage
        set_id = storage.question_sets.create("Carried", [FULL])
        run = run_on(set_id, state="running", total=2)
        storage.evaluation_runs.add([run], [FULL, *questions(1)])
        storage.evaluation_runs.keep(run.id, [(0, result(FULL))])
        storage.evaluation_runs.enter(run.id, "running")
        _, message = storage.conversations.ask("c", "What does it cost?")
        library.history.rate(message, -1)
        library.maintenance.backup(folder / "a.lectern")
        sets, runs = storage.question_sets.all(), storage.evaluation_runs.all()
    Library.restore(folder / "a.lectern", new)
    with Library.open(new) as library:
        storage = library.storage
        assert (storage.question_sets.all(), storage.evaluation_runs.all()) == (sets, runs)
        assert storage.question_sets.questions(set_id) == [FULL]
        assert storage.evaluation_runs.results(run.id) == [result(FULL)]
        assert [question.id for _, question in storage.evaluation_runs.missing(run.id)] == ["q0"]
        assert [m.rating for m in library.messages("c")] == [-1]
        library.history.rate(message, None)
        assert storage.conversations.rated() == []
