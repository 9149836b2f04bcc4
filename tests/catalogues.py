"""What the pages say, as it stands in their code: what each catalogue has to have, and what stands in none.

`python -m tests.catalogues` brings the catalogues in line with the code: what is new in them is empty and waits for its
translation, what nobody says any more is gone.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from pages.parts import language
from tests.conftest import PROJECT

Text = tuple[str, str]
"""A text, and its plural where it counts, else "" ."""
PAGES = [PROJECT / "face.py", *sorted((PROJECT / "pages").rglob("*.py"))]
LIBRARY = sorted((PROJECT / "rag_core").rglob("*.py"))
SCRIPTS = sorted((PROJECT / "pages" / "parts" / "components").glob("*.js"))
_TAKE_ONE = ("_", "msgid", "dialog", "cached", "language.dialog", "language.cached")
HEAD = """# The texts of the pages: {language}.
msgid ""
msgstr ""
"Language: {code}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {forms}\\n"

"""


FORMS = {
    "de": "nplurals=2; plural=(n != 1);",
    "es": "nplurals=2; plural=(n != 1);",
    "fr": "nplurals=2; plural=(n > 1);",
}
"""Which form a number has; one for all where a language is not named."""


def texts() -> set[Text]:
    """All that is translated."""
    found = {text for path in PAGES for text in of_code(path)}
    for script in SCRIPTS:
        source = script.read_text("utf-8")
        found |= {(text, "") for text in language.texts_of(source)} | set(language.plurals_of(source))
    counted = {one for one, many in found if many}
    return {(one, many) for one, many in found if many or one not in counted}


def of_code(path: Path) -> Iterator[Text]:
    """The texts of a file of Python."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name, given = ast.unparse(node.func), [_string(one) for one in node.args]
        if name in _TAKE_ONE and given:
            yield from ((text, "") for text in _strings(node.args[0]))
        elif name == "ngettext" and all(given[:2]):
            yield given[0], given[1]
        elif name in ("formatting.count", "count") and len(given) > 1 and given[1]:
            yield f"{{number}} {given[1]}", f"{{number}} {(given[2:] or [''])[0] or given[1] + 's'}"


def said_by_the_library() -> set[str]:
    """Every text in the library's code, `{}` for each of its values: errors, notes, labels."""
    found = set()
    for path in [*LIBRARY, *PAGES]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                found.add("".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values))
            elif text := _string(node):
                found.add(text)
    suggested = json.loads((PROJECT / "rag_core" / "models" / "worth_having.json").read_text("utf-8"))
    return found | {one["purpose"] for one in suggested}


def loose_in_code(path: Path) -> Iterator[str]:
    """Texts that Streamlit is given as they stand in the code, so that no catalogue can have them."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and _SHOWS.fullmatch(ast.unparse(node.func)):
            shown = [*node.args[: 1 + (ast.unparse(node.func) == "st.columns")]]
            shown += [one.value for one in node.keywords if one.arg in ("label", "help", "placeholder", "text", "body")]
            yield from (text for one in shown for text in _loose(one))


def loose_figures(path: Path) -> Iterator[str]:
    """Numbers that are written with English marks, whatever language is read: those are `language.figure`'s."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        form = ast.unparse(node.format_spec or node.value) if isinstance(node, ast.FormattedValue) else ""
        if isinstance(node, ast.FormattedValue) and node.format_spec and re.search(r",|\.[1-9]", form):
            yield f"{ast.unparse(node.value)}:{form}"


def loose_in_script(path: Path) -> list[str]:
    """Texts of a script that it does not translate."""
    source = re.sub(r'(?:_|ngettext)\((?:"(?:[^"\\]|\\.)+"(?:, )?)+', "", path.read_text("utf-8"))
    source = re.sub(r"^\s*//[^\n]*$|const ownWords.*?^\}\);", "", source, flags=re.MULTILINE | re.DOTALL)
    return [text for text in re.findall(r'["`]([A-Z][a-z]+(?: [^"`]*)?)["`]', source) if text not in _NO_WORDS]


_SHOWS = re.compile(
    r"st\.(markdown|caption|text|toast|button|form_submit_button|download_button|link_button|menu_button|popover|expander"
    r"|text_input|text_area|number_input|selectbox|multiselect|radio|toggle|checkbox|segmented_control|pills|date_input"
    r"|file_uploader|chat_input|select_slider|metric|error|spinner|progress)|asking_of\.button|working|doing"
)
_NO_WORDS = ("Enter", "Escape", "Tab", "ArrowDown", "ArrowUp", "Arrow", "AbortError", "Shift Enter", "Esc", "Ctrl K")


def _loose(node: ast.AST) -> Iterator[str]:
    """What of an expression is text outside of what is translated."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) not in ("formatting.plain", "formatting.shorten"):
        return
    if isinstance(node, ast.Constant):
        words = _WORDS.sub("", node.value) if isinstance(node.value, str) else ""
        if re.search(r"[a-z]{3}", words) and not re.fullmatch(r"https?://.*|[\w./]*[/.][\w./]*", words):
            yield words
    elif not isinstance(node, ast.Subscript | ast.Compare | ast.Lambda | ast.Dict):
        for child in ast.iter_child_nodes(node):
            yield from _loose(child)


_WORDS = re.compile(r":material/\w+:|:\w+(?:-badge)?\[")


def _string(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _strings(node: ast.AST) -> Iterator[str]:
    """The texts that are given: one, or one of two."""
    if isinstance(node, ast.IfExp):
        yield from _strings(node.body)
        yield from _strings(node.orelse)
    elif text := _string(node):
        yield text


def update(code: str, known: dict[Text, list[str]] | None = None) -> None:
    """Write a catalogue anew: with what the code says, translated as it was, or as in `known`; what is new is empty."""
    path = language.FOLDER / f"{code}.po"
    forms = FORMS.get(code, "nplurals=1; plural=0;")
    header = HEAD.format(language=language.LANGUAGES[code], code=code, forms=forms).encode()
    new = read_po(BytesIO(header))
    old = read(code) if path.exists() else new
    contexts = [(text, None) for text in texts()]
    contexts += [((one.id, ""), language.SERVER) for one in old if one.context == language.SERVER]
    for (one, many), context in contexts:
        message = old.get(one, context)
        given = (known or {}).get((one, many)) or (message.string if message else "")
        new.add((one, many) if many else one, given if many or isinstance(given, str) else given[0], context=context)
    written = BytesIO()
    write_po(written, new, width=110, sort_output=True, omit_header=True)
    path.write_bytes(header + written.getvalue())


def read(code: str) -> Catalog:
    with (language.FOLDER / f"{code}.po").open("rb") as file:
        return read_po(file)


if __name__ == "__main__":
    for each in language.PLURALS:
        update(each)
