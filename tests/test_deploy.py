"""What deploys Lectern on several machines names what there is: commands, settings, files. Nothing is built here."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from rag_core import Settings
from rag_core.cli import commands
from rag_core.settings import not_settings
from tests.conftest import PROJECT
from tests.rag_core.api.servers import section

COMPOSE = yaml.safe_load((PROJECT / "compose.yaml").read_text(encoding="utf-8"))
DOCKERFILE = (PROJECT / "Dockerfile").read_text(encoding="utf-8")
CHART = PROJECT / "deploy" / "helm" / "lectern"
VALUES = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
OURS = [name for name, service in COMPOSE["services"].items() if service["image"] == "lectern"]
# Of Docker and of the other programs; Docker puts in their values before anything begins.
TOLD = {"DATABASE_PASSWORD": "secret", "PUBLIC_HOST": "lectern.example", "WATCHING_KEY": "key", "PUBLIC_PORT": "8501"}


def command_of(words: list[str]) -> dict[str, Any]:
    """The options of a command line of Lectern's. Raises UsageError for what is none."""
    context = click.Context(commands)
    found = commands.get_command(context, words[0])
    assert found is not None, words
    return found.make_context(words[0], words[1:], parent=context).params


def put_in(text: str) -> str:
    return re.sub(r"\$\{(\w+)[^}]*\}", lambda named: TOLD[named[1]], text)


def check_settings(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings as these variables have them, all of which are some."""
    with monkeypatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        assert not_settings(environment) == ()
        return Settings(_env_file=None)


@pytest.mark.parametrize("name", OURS)
def test_services_begin_commands_with_settings_that_there_are(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    service = COMPOSE["services"][name]
    options = command_of(service["command"])
    settings = check_settings({key: put_in(value) for key, value in service["environment"].items()}, monkeypatch)
    assert settings.storage.shared
    assert settings.database_url is not None
    database = COMPOSE["services"]["database"]["environment"]
    assert settings.database_url.get_secret_value() == (
        f"postgresql://{database['POSTGRES_USER']}:{TOLD['DATABASE_PASSWORD']}@database/{database['POSTGRES_DB']}"
    )
    assert any(volume == f"originals:{settings.storage.originals}" for volume in service["volumes"])
    if service["command"][0] == "worker":
        assert service["healthcheck"] == {"disable": True}
        for left in ("first", "second"):
            assert COMPOSE["services"][left]["environment"]["LECTERN_JOBS__LEFT"] == options["lanes"]
    else:
        assert (options["address"], options["port"]) == ("0.0.0.0", 8501)
    assert float(service["stop_grace_period"].removesuffix("s")) > command_of(["worker"])["drain"]


def test_services_mount_volumes_and_files_that_there_are() -> None:
    for service in COMPOSE["services"].values():
        for volume in service.get("volumes", ()):
            place = volume.partition(":")[0]
            assert (PROJECT / place).is_file() if place.startswith(".") else place in COMPOSE["volumes"], volume
    own = [volume for name in OURS for volume in COMPOSE["services"][name]["volumes"] if volume.endswith(":/data")]
    assert len({*own}) == len(OURS), "each has a data directory of its own"


def test_the_balancer_sends_a_browser_to_the_same_server() -> None:
    told = (PROJECT / "deploy" / "haproxy.cfg").read_text(encoding="utf-8")
    servers = re.findall(r"^    server (\w+) (\w+):8501 cookie (\w+)$", told, re.MULTILINE)
    assert servers == [(name, name, name) for name in OURS if name != "worker"]
    assert re.search(r"^    cookie \w+ insert ", told, re.MULTILINE)
    assert "/api/v1/health" in told
    assert {*re.findall(r"\$\{(\w+)\}", told)} == {*COMPOSE["services"]["balancer"]["environment"]}


def test_the_image_is_for_an_ordinary_user_and_tells_its_health() -> None:
    steps = re.findall(r"^([A-Z]+) ((?:[^\\\n]|\\\n|\\.)*)$", DOCKERFILE, re.MULTILINE)
    assert [what for name, what in steps if name == "USER"] == ["10001"]
    names = [name for name, _ in steps]
    assert names.index("USER") < names.index("ENTRYPOINT")
    said = {name: json.loads(what) for name, what in steps if name in ("ENTRYPOINT", "CMD")}
    assert said["ENTRYPOINT"] == ["lectern"]
    assert command_of(said["CMD"])["address"] == "0.0.0.0"
    (health,) = [what for name, what in steps if name == "HEALTHCHECK"]
    assert json.loads(health.partition(" CMD ")[2]) == ["python", "/opt/lectern/healthy.py"]
    assert "/src/deploy/healthy.py /opt/lectern/healthy.py" in DOCKERFILE
    let_in = (PROJECT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for path in (line[1:] for line in let_in if line.startswith("!")):
        assert (PROJECT / path).exists(), path
    (torch,) = re.findall(r"^torch==[^ ]*", (PROJECT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert torch in (PROJECT / "README.md").read_text(encoding="utf-8")


def rendered(template: Path) -> str:
    """A template with its values in place, blocks taken and each include as the lines that it names.

    That is not Helm: it shows that the outcome is YAML and that each value there is, no more.
    """
    helpers = (CHART / "templates" / "_helpers.tpl").read_text(encoding="utf-8")
    named = dict(re.findall(r'\{\{- define "(.*?)" -\}\}\n(.*?)\{\{- end -\}\}', helpers, re.DOTALL))
    text = template.read_text(encoding="utf-8")

    def included(found: re.Match[str]) -> str:
        return "\n".join(" " * int(found[2]) + line for line in named[found[1]].splitlines() if line.strip())

    text = re.sub(r'^ *\{\{- include "(.*?)" \. \| nindent (\d+) \}\}$', included, text, flags=re.MULTILINE)
    text = re.sub(r"^ *\{\{- (?:if .*|end) \}\}\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^ *\{\{- toYaml .*\}\}$", "", text, flags=re.MULTILINE)

    def value(found: re.Match[str]) -> str:
        words = found[1].split(" | ")
        place = words[0].removeprefix(".Values.")
        told = "lectern" if words[0] == ".Release.Name" else VALUES[place]
        for word in words[1:]:
            if word.startswith("default ") and not told:
                told = word.removeprefix("default ").strip('"')
        return json.dumps(str(told)) if "quote" in words else str(told)

    return re.sub(r"\{\{ (\.[^}]*?) \}\}", value, text)


@pytest.mark.parametrize("path", sorted((CHART / "templates").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_chart_begins_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = yaml.safe_load(rendered(path))
    assert made["metadata"]["name"].startswith("lectern")
    pod = made["spec"].get("template", {}).get("spec") if made["kind"] != "Ingress" else None
    if pod is None:
        return
    assert pod["securityContext"]["runAsNonRoot"]
    (container,) = pod["containers"]
    options = command_of(container["args"])
    environment = {one["name"]: one["value"] for one in container["env"]}
    settings = check_settings(environment, monkeypatch)
    assert (settings.storage.shared, settings.storage.originals) == (True, VALUES["originals"])
    assert pod["terminationGracePeriodSeconds"] > command_of(["worker"])["drain"]
    if made["kind"] == "StatefulSet":
        assert (options["address"], options["port"], settings.jobs.left) == ("0.0.0.0", 8501, ("adding", "recognising"))
        assert container["readinessProbe"]["exec"]["command"] == ["python", "/opt/lectern/healthy.py"]


def test_the_page_says_how_they_are_begun() -> None:
    lines = re.findall(r"^docker compose run --rm \w+ (.*)$", section("In containers"), re.MULTILINE)
    assert lines
    for line in lines:
        assert command_of(shlex.split(line))
    for name in re.findall(r"^(\w+)=", section("In containers"), re.MULTILINE):
        assert name in TOLD
