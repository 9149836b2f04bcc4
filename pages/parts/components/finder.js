// Ctrl+K finds pages, documents, conversations and commands by a few letters; a question mark lists the keys.
const keys = () => [
  ["Ctrl K", _("Find a page, document, conversation or command")], ["/", _("To the question, or to search in a document")],
  ["@", _("In a question: name a document, tag, section or collection")], ["Enter", _("Send the question")],
  ["Shift Enter", _("A new line in it")], ["← →", _("Turn pages in a document")], ["+ − 0", _("Enlarge, reduce, fit a page")],
  ["Esc", _("Close what is open")], ["?", _("This list")],
];
const kinds = () => ({ page: _("Page"), document: _("Document"), collection: _("Collection"), tag: _("Tag"), section: _("Section"), conversation: _("Conversation"), ask: _("Question"), search: _("Search"), new: _("Command") });

const closeFinder = (root) => {
  if (!root.dialog) return;
  root.dialog.remove();
  root.dialog = null;
  root.before?.focus?.();
};

const openFinder = (root, label) => {
  closeFinder(root);
  root.before = focused();
  const cover = make("div", "cover");
  const dialog = make("div", "dialog");
  dialog.setAttribute("role", "dialog");
  dialog.setAttribute("aria-modal", "true");
  dialog.setAttribute("aria-label", label);
  cover.onpointerdown = (event) => event.target === cover && closeFinder(root);
  cover.onkeydown = (event) => {
    event.stopPropagation(); // letters are shortcuts of the page
    if (event.key === "Escape") closeFinder(root);
    if (event.key === "Tab") event.preventDefault(); // nothing else in it takes the focus
  };
  cover.append(dialog);
  root.append(cover);
  root.dialog = cover;
  return dialog;
};

const showKeys = (root) => {
  const dialog = openFinder(root, _("Keys"));
  const list = make("dl", "keys");
  keys().forEach(([key, does]) => list.append(make("dt", "", key), make("dd", "", does)));
  dialog.append(make("h2", "", _("Keys")), list);
  dialog.tabIndex = -1;
  dialog.focus();
};

const drawFound = (one, place, root) => {
  const row = make("li", "found");
  row.id = `found-${place}`;
  row.setAttribute("role", "option");
  row.append(make("span", "label", one.label), make("span", "quiet", one.of || kinds()[one.kind]));
  row.onpointerdown = (event) => event.preventDefault();
  row.onclick = () => root.go(one);
  return row;
};

const commands = (root, words) => {
  const fits = (one) => one.label.toLowerCase().includes(words.toLowerCase());
  const fixed = [...root.pages, { kind: "new", id: "", label: _("New conversation") }].filter(fits);
  const typed = words ? [{ kind: "ask", id: words, label: _("Ask: {words}", { words }) }, { kind: "search", id: words, label: _("Search: {words}", { words }) }] : [];
  return { fixed, typed };
};

const showFinder = (root) => {
  const dialog = openFinder(root, _("Find"));
  const field = make("input");
  const list = make("ul");
  let shown = [], at = 0, asked = 0, moved = false;
  Object.entries({ role: "combobox", "aria-expanded": "true", "aria-controls": "found", "aria-label": _("Find a page, document, conversation or command") }).forEach(
    ([name, value]) => field.setAttribute(name, value),
  );
  field.placeholder = _("Find a page, document, conversation or command");
  list.id = "found";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", _("Found"));
  const mark = (place) => {
    at = Math.max(0, Math.min(place, shown.length - 1));
    [...list.children].forEach((row, index) => row.setAttribute("aria-selected", String(index === at)));
    if (shown.length) field.setAttribute("aria-activedescendant", `found-${at}`);
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const draw = (found) => {
    const { fixed, typed } = commands(root, field.value.trim());
    const marked = moved ? shown[at] : null;
    shown = [...fixed, ...found, ...typed];
    list.replaceChildren(...shown.map((one, place) => drawFound(one, place, root)));
    mark(shown.findIndex((one) => one.kind === marked?.kind && one.id === marked.id));
  };
  const look = async () => {
    const turn = ++asked;
    const told = await ask(findUrl(field.value)).catch(() => ({ found: [] }));
    if (turn === asked && root.dialog) draw(told.found);
  };
  let looking = null;
  field.oninput = () => {
    moved = false;
    looking = look();
  };
  field.onkeydown = (event) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      moved = true; // what is found later stands around what was chosen
      mark(at + (event.key === "ArrowDown" ? 1 : -1));
    }
    if (event.key === "Enter") Promise.resolve(looking).then(() => root.dialog && shown[at] && root.go(shown[at]));
  };
  dialog.append(field, list);
  field.focus();
  draw([]);
  look();
};

// What Streamlit says in its own words, or calls no part of the page and names all the same.
const ownWords = () => ({
  "Page not found": _("There is no such page"),
  "The page that you have requested does not seem to exist. Running the app's main page.": _("This is the library instead."),
  "Connection error": _("Lectern does not answer"),
  "Streamlit server is not responding. Are you connected to the internet?":
    _("It was closed, or is being started again. Start it on its machine: this page comes back by itself, and nothing is lost."),
});
// A menu that was opened by a key and was not given the focus, as happens while a page is drawn anew.
const giveFocus = (menu) => {
  if (menu.isGiven) return;
  menu.isGiven = true;
  setTimeout(() => menu.isConnected && !menu.contains(document.activeElement) && menu.focus({ preventScroll: true }), 150);
};

// A dialog that asks for words has the focus where they are typed.
const giveField = (dialog) => {
  const field = dialog.querySelector('input[type="text"], input[type="password"], textarea');
  if (!field || dialog.isGiven) return;
  dialog.isGiven = true;
  setTimeout(() => {
    if (!field.isConnected || document.activeElement !== dialog) return;
    field.focus();
    field.select();
  }, 150);
};

const mend = () => {
  const words = ownWords();
  document.querySelectorAll('section[role="dialog"]').forEach(giveField);
  document.querySelectorAll('[role="menu"]').forEach(giveFocus);
  document.querySelectorAll('section[role="presentation"][aria-label]').forEach((one) => one.setAttribute("role", "group"));
  document.querySelectorAll('section[role="dialog"] :is(h2, div)').forEach(({ childElementCount, textContent, firstChild }) => {
    if (!childElementCount && textContent in words) firstChild.nodeValue = words[textContent];
  });
};
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });

// What was chosen is kept in this browser, and everything is drawn anew in it.
const keepLanguage = (code) => {
  if (!code || code === language.code) return;
  document.cookie = `lectern_language=${code}; path=/; max-age=31536000; samesite=lax`;
  location.reload();
};

export default function ({ data, parentElement, setTriggerValue }) {
  speak(data);
  document.documentElement.lang = language.code;
  keepLanguage(data.chosen);
  const root = parentElement.querySelector(".finder");
  mend();
  root.pages = data.pages;
  root.go = (one) => {
    root.before = null;
    closeFinder(root);
    setTriggerValue("go", { kind: one.kind, id: one.id, page: one.page || 1 });
  };
  const onKey = (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      event.stopPropagation();
      if (root.dialog) closeFinder(root);
      else showFinder(root);
    } else if (event.key === "?" && !event.ctrlKey && !event.metaKey && !event.altKey && !event.defaultPrevented && !typing()) {
      event.preventDefault();
      showKeys(root);
    }
  };
  document.addEventListener("keydown", onKey, true);
  return () => document.removeEventListener("keydown", onKey, true);
}
