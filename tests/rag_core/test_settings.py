from __future__ import annotations

import socket
import stat
from pathlib import Path

import click
import pytest

from rag_core import Cancellation, Library, Settings, env_file
from rag_core.cli.run import check_port
from rag_core.errors import ConfigurationError, LecternError
from rag_core.settings import ChunkingSettings, not_settings, translated
from rag_core.settings.group import Group
from tests.conftest import PROJECT


def test_a_misspelt_name_fails() -> None:
    with pytest.raises(ConfigurationError, match="dta_dir"):
        Settings.load(dta_dir="x")
    with pytest.raises(ConfigurationError, match="sze"):
        Settings.load(chunking={"sze": 1})


def test_a_misspelt_variable_of_the_environment_is_told_of(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("LECTERN_FOO", "1")
    with Library.open(settings) as library:
        (note,) = library.maintenance.status().notes
    assert caplog.messages == [note]
    assert (
        note == "LECTERN_FOO in the environment is no setting and changes nothing. docs/settings.md has all settings."
    )


@pytest.mark.parametrize(
    ("name", "meant"),
    [("LECTERN_RETRIEVAL_K", "LECTERN_RETRIEVAL__K"), ("LECTERN_RETRIVAL__K", "LECTERN_RETRIEVAL__K"),
     ("lectern_datadir", "LECTERN_DATA_DIR")],
)  # fmt: skip
def test_the_setting_that_was_meant_is_named(name: str, meant: str) -> None:
    (note,) = not_settings([name])
    assert note.startswith(name)
    assert f"Did you mean {meant}?" in note


def test_other_variables_are_left_alone() -> None:
    assert not not_settings([
        "LECTERN", "PATH", "_LECTERN_COMPLETE", "LECTERN_RETRIEVAL__K", "lectern_models_dir", "LECTERN_DATABASE_URL",
        "LECTERN_FAULT", "LECTERN_FAULTS_SEED", "LECTERN_FUZZ_REQUESTS", "LECTERN_REQUIRE_BROWSER",
    ])  # fmt: skip


def test_values_are_checked() -> None:
    with pytest.raises(ConfigurationError, match="overlap"):
        Settings.load(chunking={"size": 100, "overlap": 100})
    with pytest.raises(ConfigurationError, match="k"):
        Settings.load().changed("retrieval", k=0)


def test_values_of_several_groups_are_replaced_at_once() -> None:
    plain = Settings(_env_file=None)
    settings = plain.with_values({"chunking.size": 90, "chunking.overlap": 10, "retrieval.k": 3})
    assert (settings.chunking.size, settings.chunking.overlap, settings.retrieval.k) == (90, 10, 3)
    assert (settings.embedding, settings.data_dir) == (plain.embedding, plain.data_dir)
    assert plain.with_values({}) == plain
    assert plain.chunking.size == 1000  # the old ones are as they were


@pytest.mark.parametrize(
    "values",
    [
        {"retrieval.kk": 1},
        {"retrieval": 1},
        {"retrieval.": 1},
        {"": 1},
        {"data_dir": "x"},
        {"data_dir.parent": "x"},
        {"model_config.x": 1},
        {"retrieval.model_fields": 1},
        {"retrieval.k": 0},
        {"retrieval.k": 3, "chunking.size": 100},  # its overlap is larger
    ],
)
def test_values_that_are_none_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        Settings(_env_file=None).with_values(values)


@pytest.mark.parametrize(
    "prompt",
    ["", "  \n", "{context} {question}", "{not_found}{history}{context}{question}", "{{a}} {context} {question}"],
)
def test_a_prompt_with_its_places_is_taken(prompt: str) -> None:
    settings = Settings(_env_file=None).with_values({"answering.prompt": prompt})
    assert settings.answering.prompt == prompt.strip()


@pytest.mark.parametrize(
    "prompt",
    [
        "{context}",
        "{question}",
        "no places",
        "{context} {question} {other}",
        "{context} {question} {",
        "{context} {question} }",
        "{context} {question} {}",
        "{0} {context} {question}",
        "{context.__class__} {question}",
        "{context[0]} {question}",
        "{context!r} {question}",
        "{context:.5} {question}",
        "{context:d} {question}",
        "{context:{question}}",
        "{{context}} {{question}}",
        "{context} {question}" + "x" * 20_000,
        "{context} {question} \ud800",
    ],
)
def test_a_prompt_that_could_not_be_filled_is_refused(prompt: str) -> None:
    with pytest.raises(ConfigurationError):
        Settings(_env_file=None).with_values({"answering.prompt": prompt})


def test_sizes_of_one_strategy_alone_choose_it() -> None:
    assert ChunkingSettings(size=300).strategy == "characters"
    assert ChunkingSettings(tokens=300).strategy == "sentences"
    assert ChunkingSettings(strategy="characters", tokens=300).strategy == "characters"
    settings = Settings(_env_file=None, chunking=ChunkingSettings(strategy="sentences"))
    in_characters = settings.with_values({"chunking.size": 400, "chunking.overlap": 50})
    assert (in_characters.chunking.strategy, in_characters.chunking.size) == ("characters", 400)
    assert in_characters.with_values({"chunking.tokens": 90}).chunking.strategy == "sentences"
    assert settings.with_values({"retrieval.k": 3}).chunking == settings.chunking
    assert settings.with_values(settings.tunable()).chunking == settings.chunking


def test_chunkings_that_cut_alike_have_one_key() -> None:
    in_tokens, in_characters = ChunkingSettings(tokens=90), ChunkingSettings(size=500)
    assert in_tokens.key == ChunkingSettings(strategy="sentences", tokens=90, size=700).key != in_characters.key
    assert in_characters.key == ChunkingSettings(strategy="characters", size=500, tokens=90).key


@pytest.mark.parametrize("values", [{"size": 100, "overlap": 100}, {"tokens": 50, "overlap_tokens": 60}])
def test_neighbours_cannot_share_a_whole_chunk(values: dict[str, int]) -> None:
    with pytest.raises(ConfigurationError, match="smaller"):
        Settings.load(chunking=values)


def test_the_environment_and_env_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LECTERN_CHUNKING__SIZE", "800")
    (tmp_path / ".env").write_text("OTHER_PROGRAM=1\nGOOGLE_API_KEY=hidden\nLECTERN_RETRIEVAL__K=3\n")
    settings = Settings.load()
    assert (settings.chunking.size, settings.retrieval.k) == (800, 3)
    assert settings.google_api_key is not None
    assert "hidden" not in repr(settings)


@pytest.mark.parametrize("written", ["wiki.lan, files.lan:8080", '["wiki.lan", "files.lan:8080"]'])
def test_several_values_are_divided_by_commas_or_are_a_list(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LECTERN_SOURCES__ALLOWED_HOSTS", written)
    assert Settings.load().sources.allowed_hosts == ("wiki.lan", "files.lan:8080")


@pytest.mark.parametrize(("name", "value"), [("LECTERN_SOURCES", "x"), ("LECTERN_SOURCES__ALLOWED_HOSTS", '["a')])
def test_what_cannot_be_read_of_the_environment_is_said(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match="sources"):
        Settings.load()


def test_the_key_is_kept_for_its_owner_alone_and_forgotten(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("OTHER=1\nGOOGLE_API_KEY=old\n")
    env_file.keep_key("new")
    assert (tmp_path / ".env").read_text() == "OTHER=1\nGOOGLE_API_KEY=new\n"
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    env_file.forget_key()
    assert (tmp_path / ".env").read_text() == "OTHER=1\n"


def test_a_port_in_use_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        with pytest.raises(LecternError, match="cannot be used") as told:
            check_port(number)
    assert "PORT=8502" in told.value.help
    check_port(number)
    with pytest.raises(LecternError, match=r"cannot be used \([^)]*\)\.$") as told:
        check_port(number, "192.0.2.1")
    assert "--address" in told.value.help
    with pytest.raises(click.UsageError):
        check_port(70_000)


def test_a_cancellation_is_whole_or_for_one_source() -> None:
    token = Cancellation()
    token.cancel("a")
    assert token.is_set("a")
    assert not token.is_set("b")
    assert not token.is_set()
    token.cancel()
    assert token.is_set("b")


def test_names_of_earlier_versions_are_translated() -> None:
    old = {"retrieval.engine": "chroma", "retrieval.mode": "exact", "retrieval.k": 3}
    assert translated(old) == {"retrieval.index": "chroma", "retrieval.scan": "exact", "retrieval.k": 3}
    assert translated({"retrieval.mode": "hybrid"}) == {"retrieval.mode": "hybrid"}
    assert translated({"retrieval.mode": "auto"}) == {"retrieval.mode": "auto"}
    both = {"retrieval.engine": "chroma", "retrieval.index": "dumps", "retrieval.mode": "fast"}
    assert translated(both) == {"retrieval.index": "dumps", "retrieval.scan": "fast"}
    retrieval = Settings(_env_file=None).with_values(old).retrieval
    assert (retrieval.index, retrieval.scan, retrieval.mode) == ("chroma", "exact", "auto")


def test_every_setting_stands_on_the_page_of_settings_as_it_is() -> None:
    page = (PROJECT / "docs" / "settings.md").read_text(encoding="utf-8")
    for name, field in Settings.model_fields.items():
        kind = field.annotation
        if not (isinstance(kind, type) and issubclass(kind, Group)):
            assert f" | {field.description} |" in page, name
            continue
        table = page.partition(f"| `LECTERN_{name.upper()}__` |")[2].partition("\n\n")[0]
        rows = {row.split("`")[1]: row for row in table.splitlines() if row.startswith("| `")}
        assert rows == {
            key.upper(): f"| `{key.upper()}` | {shown(one.default)} | {one.description} |"
            for key, one in kind.model_fields.items()
        }, f"docs/settings.md has the settings for {name} as rag_core/settings says them"


def shown(default: object) -> str:
    """A default as the page has it."""
    if default in ("", None) or default == ():
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:g}" if isinstance(default, float) else f"{default}"
