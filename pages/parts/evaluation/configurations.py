"""The configurations to try: the library as it is, and settings that differ from it. They are kept with the library."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from pages.parts import formatting, resources
from pages.parts.evaluation import dialogs
from pages.parts.language import _, dialog, msgid, server_text
from rag_core.domain import Configuration, Field
from rag_core.errors import LecternError
from rag_core.library import Library

PREFERENCE = "evaluation_configurations"
AS_IT_IS = Configuration(msgid("The library as it is"))
MOST = 6
NAME_CHARS, TEXT_CHARS = 60, 40
EDITED = "configuration"
_HARMLESS = re.compile(r"[^\W\d_][\w\s()=.,;%+-]*")


@dataclass(frozen=True, slots=True)
class Choice:
    """A configuration of the list, and whether it is to be tried."""

    configuration: Configuration
    chosen: bool = True


def section(library: Library) -> list[Configuration]:
    """Draw the list; returns what is ticked."""
    fields = {field.key: field for field in library.evaluation.fields()}
    choices = load(library, fields)
    with st.container(key="evaluation_configurations", gap="xsmall"):
        for number, choice in enumerate(choices):
            _row(number, choice, fields)
        with st.container(horizontal=True):
            if len(choices) <= MOST:
                st.button(
                    _("Add a configuration"),
                    icon=":material/add:",
                    type="tertiary",
                    key="evaluation_add_configuration",
                    on_click=_edit,
                    args=(None,),
                )
            st.button(
                _("Compare with the seeds"),
                icon=":material/compare_arrows:",
                type="tertiary",
                key="evaluation_seeds",
                on_click=_compare_with_seeds,
                help=_(
                    "Ticks the library as it is, and the five systems that Lectern grew from, as they cut and search."
                ),
            )
    kind, edited = dialogs.wanted()
    if kind == EDITED:
        number, configuration = edited
        form(library, fields, number, configuration)
    return [choice.configuration for choice in choices if choice.chosen]


def ticked(library: Library) -> list[Configuration]:
    """What is to be tried."""
    fields = {field.key: field for field in library.evaluation.fields()}
    return [choice.configuration for choice in load(library, fields) if choice.chosen]


def load(library: Library, fields: Mapping[str, Field]) -> list[Choice]:
    """The list as it was left, or one to begin with. Settings that are no longer there are left out."""
    kept = library.preferences.get(PREFERENCE)
    if kept is None:
        return [Choice(AS_IT_IS), *presets(fields)]
    found = []
    for item in json.loads(kept):
        changes = {key: value for key, value in item["changes"].items() if key in fields}
        if changes or not item["changes"]:
            found.append(Choice(Configuration(item["name"], changes), item["chosen"]))
    return found


def save(library: Library, choices: Sequence[Choice]) -> None:
    """Keep the list."""
    rows = [
        {"name": item.configuration.name, "changes": dict(item.configuration.changes), "chosen": item.chosen}
        for item in choices
    ]
    library.preferences.set(PREFERENCE, json.dumps(rows))


def with_seeds(choices: Sequence[Choice], seeds: Sequence[Configuration]) -> list[Choice]:
    """The list with the seeds ticked beside the library as it is, and nothing else."""
    others = [replace(one, chosen=not one.configuration.changes) for one in choices if one.configuration not in seeds]
    return [*others, *map(Choice, seeds)]


def presets(fields: Mapping[str, Field]) -> list[Choice]:
    """Configurations that are worth a try with any library; the first of them is ticked."""
    found = []
    passages = fields.get("retrieval.k")
    if passages is not None and isinstance(passages.value, int):
        more = 10 if passages.value < 10 else min(2 * passages.value, int(passages.high or 100))
        found.append(Configuration(_("More passages ({more})").format(more=more), {passages.key: more}))
    variety = fields.get("answering.mmr_lambda")
    if variety is not None and variety.value != 1:
        found.append(Configuration(_("Relevance alone"), {variety.key: 1.0}))
    return [Choice(configuration, number == 0) for number, configuration in enumerate(found)]


def changes_in_words(changes: Mapping[str, object], fields: Mapping[str, Field]) -> list[str]:
    """`Passages (k): 10 instead of 6`, for each setting."""
    told = []
    for key, value in changes.items():
        field = fields.get(key)
        label, own = (server_text(field.label), field.value) if field else (key, None)
        same = _("{value}, as the library has it") if own == value else _("{value} instead of {own}")
        words = same.format(value=shown(value), own=shown(own)) if field else shown(value)
        told.append(f"{label}: {words}")
    return told


def _row(number: int, choice: Choice, fields: Mapping[str, Field]) -> None:
    configuration = choice.configuration
    key = f"evaluation_tick_{number}_{configuration.name}"
    st.session_state[key] = choice.chosen
    told = "; ".join(changes_in_words(configuration.changes, fields))
    with st.container(key=f"evaluation_try_{number}", horizontal=True, vertical_alignment="center", wrap=False):
        with st.container(gap=None):
            own = None if told else formatting.plain(_as_it_is(fields))  # one click away
            st.checkbox(_label(configuration.name), key=key, on_change=_toggle, args=(number, key), help=own)
            if told:
                st.caption(formatting.plain(told))
        if configuration.changes:
            st.button(
                _("Change"), icon=":material/edit:", type="tertiary", key=f"evaluation_edit_{number}",
                on_click=_edit, args=(number,),
            )  # fmt: skip


def _label(name: str) -> str:
    """A name as a checkbox's label, which is also read aloud: without marks where it needs none."""
    name = _(AS_IT_IS.name) if name == AS_IT_IS.name else name
    return name if _HARMLESS.fullmatch(name) else formatting.plain(name)


def _as_it_is(fields: Mapping[str, Field]) -> str:
    """What matters most of the library's own settings: of sizes those in the unit of its chunking."""
    strategy = fields.get("chunking.strategy")
    sizes = ("size", "overlap") if strategy and strategy.value == "characters" else ("tokens", "overlap_tokens")
    wanted = ("retrieval.k", "answering.mmr_lambda", "chunking.strategy", *(f"chunking.{size}" for size in sizes))
    keys = [key for key in (*wanted, "generation.model") if key in fields]
    return "; ".join(f"{server_text(fields[key].label)}: {shown(fields[key].value)}" for key in keys)


def _choices() -> list[Choice]:
    library = resources.library()
    return load(library, {field.key: field for field in library.evaluation.fields()})


def _compare_with_seeds() -> None:
    library = resources.library()
    save(library, with_seeds(_choices(), library.evaluation.seeds()))


def _toggle(number: int, key: str) -> None:
    choices = _choices()
    choices[number] = replace(choices[number], chosen=st.session_state[key])
    save(resources.library(), choices)


def _edit(number: int | None) -> None:
    configuration = _choices()[number].configuration if number is not None else Configuration("")
    dialogs.want(EDITED, (number, configuration))


def put(number: int | None, configuration: Configuration | None) -> None:
    """Put a configuration in its place in the list, at its end, or take it out."""
    choices = _choices()
    if configuration is not None:
        others = {choice.configuration.name for place, choice in enumerate(choices) if place != number}
        while configuration.name in others:
            configuration = replace(configuration, name=_("{name} again").format(name=configuration.name))
    if number is None and configuration is not None:
        choices.append(Choice(configuration))
    elif number is not None:
        choices[number : number + 1] = [] if configuration is None else [Choice(configuration)]
    save(resources.library(), choices)


def shown(value: object) -> str:
    """A setting's value as a person reads it."""
    if isinstance(value, float):
        return f"{value:g}"
    text = formatting.shorten(str(value), TEXT_CHARS)
    return f"“{text}”" if isinstance(value, str) and (" " in text or not text) else text


@dialog("Configuration", until_closed=dialogs.WANTED, fields=True, icon=":material/tune:")
def form(library: Library, fields: Mapping[str, Field], number: int | None, configuration: Configuration) -> None:
    """A dialog with what a configuration changes; `number` is its place in the list, None for a new one.

    A name that nobody typed follows what is changed.
    """
    tag = f"{number}_{configuration.name}"
    chosen = st.multiselect(
        _("What it changes"),
        list(fields),
        [key for key in configuration.changes if key in fields],
        format_func=lambda key: server_text(fields[key].label),
        placeholder=_("Choose settings"),
        key=f"evaluation_changes_{tag}",
    )
    changes = {key: _field(fields[key], configuration.changes.get(key), tag) for key in chosen}
    suggested = suggestion(fields, changes)
    given = "" if configuration.name == suggestion(fields, configuration.changes) else configuration.name
    name = st.text_input(
        _("Name"), given, max_chars=NAME_CHARS, key=f"evaluation_configuration_name_{tag}",
        placeholder=suggested or _("A name of your own"),
    )  # fmt: skip
    with st.container(horizontal=True, horizontal_alignment="right"):
        if number is not None and st.button(_("Remove"), icon=":material/delete:", key="evaluation_remove"):
            put(number, None)
            dialogs.close()
        if st.button(_("Save"), type="primary", key="evaluation_save_configuration", disabled=not changes):
            wanted = Configuration(name.strip() or suggested, changes)
            try:
                library.evaluation.check_configuration(wanted)
            except LecternError as error:
                st.markdown(f":red[:material/error:] {formatting.plain(server_text(str(error)))}")
                return
            put(number, wanted)
            dialogs.close()


def suggestion(fields: Mapping[str, Field], changes: Mapping[str, object]) -> str:
    """What a configuration is called unless a name is given."""
    told = (f"{fields[key].label if key in fields else key} {shown(value)}" for key, value in changes.items())
    return formatting.shorten("; ".join(told), NAME_CHARS)


def _field(field: Field, value: object, tag: str) -> object:
    """The widget of one setting; returns what it is set to."""
    start: Any = field.value if value is None else value
    key, help_text = f"evaluation_field_{field.key}_{tag}", formatting.plain(server_text(field.help))
    label = server_text(field.label)
    if field.kind == "choice":
        options = list(dict.fromkeys([*field.choices, str(start)]))
        return st.selectbox(label, options, index=options.index(str(start)), key=key, help=help_text)
    if field.kind == "text":
        return st.text_area(label, str(start), key=key, help=help_text)
    kind = int if field.kind == "integer" else float
    low, high = (None if bound is None else kind(bound) for bound in (field.low, field.high))
    step = 1 if kind is int else 0.05
    return st.number_input(label, low, high, kind(start), step, key=key, help=help_text)
