// Shared by all components: elements are made here, and text enters the page only as text.

// What nobody sees can hide what a text says; the same characters as in rag_core/text/invisible.py.
const INVISIBLE = new RegExp(
  "[\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\ufff9-\\ufffb" +
    "\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]" +
    "|(?<![\\p{Script=Arabic}\\p{M}\\p{Extended_Pictographic}])[\\u200c\\u200d]",
  "gu",
);
const visible = (text) => String(text).replace(INVISIBLE, "");

// What the server gave of the language that is read; a text is its own key, as in pages/parts/language.py.
let language = { code: "en", texts: {} };
const speak = (data) => {
  language = data.language;
};
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);
const _ = (text, values = {}) => fill(language.texts[text] ?? text, values);
const ngettext = (one, many, number, values = {}) => {
  const forms = language.texts[one] ?? [one, many];
  const form = new Intl.PluralRules(language.code).select(number) === "one" ? forms[0] : forms.at(-1);
  return fill(form, { number: number.toLocaleString(language.code), ...values });
};

// Why a text is not to be seen, as the library says it.
const hiddenWhy = (why) => ({
  "set as hidden": _("set as hidden"), white: _("white"), tiny: _("tiny"), "tag characters": _("tag characters"),
  "characters of no width": _("characters of no width"),
})[why] ?? why;

const make = (tag, className = "", text = null) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== null) element.textContent = visible(text);
  return element;
};

// A cell of a table's head; the corner that says nothing heads nothing.
const headCell = (text, kind = "") => make(text.trim() ? "th" : "td", `${kind}${text.trim() ? "" : " corner"}`.trim(), text);

const ICONS = {
  close: "M6 6 18 18 M18 6 6 18",
  left: "M14.5 5.5 8 12 14.5 18.5",
  right: "M9.5 5.5 16 12 9.5 18.5",
  bin: "M4.5 7h15 M9.5 7V4.5h5V7 M6.5 7l1 12.5h9l1-12.5 M10 10.5v6 M14 10.5v6",
  warning: "M12 4 21 19.5H3z M12 10v4.5 M12 17v.01",
  retry: "M19 12a7 7 0 1 1-2.2-5.1 M19.5 3.5v4h-4",
  back: "M9 6 4 11l5 5 M4 11h10a6 6 0 0 1 6 6v1",
  ask: "M4.5 5.5h15v10.5h-8l-4 3.5v-3.5h-3z",
  page: "M6.5 3.5h7.5l4 4v13h-11.5z M13.5 3.5v4.5h4.5",
  pencil: "M5 19l1-4L15.5 5.5a1.8 1.8 0 0 1 3 3L9 18l-4 1z M14 7l3 3",
  minus: "M6 12h12",
  find: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13z M15.5 15.5 20 20",
  outline: "M4.5 6h.01 M4.5 12h.01 M4.5 18h.01 M8.5 6h11 M8.5 12h11 M8.5 18h11",
  text: "M5 6h14 M5 10h14 M5 14h14 M5 18h9",
  wide: "M9 5H4v14h5 M15 5h5v14h-5 M8 12h8 M10 10l-2 2 2 2 M14 10l2 2-2 2",
  save: "M12 4v10 M8 10.5l4 4 4-4 M5 19.5h14",
  plus: "M12 6v12 M6 12h12",
  copy: "M9 8.5h10.5v12h-10.5z M5 15.5h-.5v-12h10.5v1.5",
  up: "M7 14l5-5 5 5",
  down: "M7 10l5 5 5-5",
  good: "M4 10.5h3.5v9H4z M7.5 10.5 11 4.2c1.4 0 2.3 1 2.1 2.4l-.5 3.4h5.2c1.2 0 2 1.1 1.7 2.2l-1.4 5.7c-.2.9-1 1.6-2 1.6H7.5",
  bad: "M4 4.5h3.5v9H4z M7.5 13.5 11 19.8c1.4 0 2.3-1 2.1-2.4l-.5-3.4h5.2c1.2 0 2-1.1 1.7-2.2l-1.4-5.7c-.2-.9-1-1.6-2-1.6H7.5",
};

const icon = (name) => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "icon");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
};

const button = (className, text, iconName = null, hideLabel = false) => {
  const label = visible(text);
  const element = make("button", className);
  element.type = "button";
  if (iconName) element.append(icon(iconName));
  if (hideLabel) {
    element.setAttribute("aria-label", label);
    element.title = label;
  } else {
    element.append(make("span", "", label));
  }
  return element;
};

// What was copied is said on the button itself, for a moment.
const copyButton = (className, label, text, hideLabel = false) => {
  const element = button(className, label, "copy", hideLabel);
  const say = (said) => {
    if (said) element.dataset.said = said;
    else delete element.dataset.said;
    element.setAttribute("aria-label", said || label);
  };
  element.onclick = () => {
    const done = navigator.clipboard?.writeText(text) ?? Promise.reject();
    done.then(() => say(_("Copied")), () => say(_("The browser refused")));
    setTimeout(say, 2000);
  };
  return element;
};

// Replace only the children that changed, so that focus, selection and scroll position stay.
const patch = (parent, items, draw) => {
  items.forEach((item, index) => {
    const key = JSON.stringify(item);
    const old = parent.children[index];
    if (old && old.dataKey === key) return;
    const fresh = draw(item, index);
    fresh.dataKey = key;
    if (old) old.replaceWith(fresh);
    else parent.append(fresh);
  });
  while (parent.children.length > items.length) parent.lastElementChild.remove();
};

// A field in the place of what it changes. Enter saves, Escape and leaving it keep what was; `back` offers an older value.
const edit = (host, { value, label, back = null, options = [], save, stop }) => {
  const field = make("input", "edit");
  field.value = value;
  field.setAttribute("aria-label", label);
  field.placeholder = label;
  let over = false;
  const end = (act) => {
    if (over) return;
    over = true;
    act();
  };
  field.onkeydown = (event) => {
    event.stopPropagation(); // letters are shortcuts of the page
    if (event.isComposing) return;
    if (event.key === "Enter") end(() => (field.value.trim() ? save(field.value.trim()) : stop()));
    if (event.key === "Escape") end(stop);
  };
  field.onblur = () => end(stop);
  host.replaceChildren(field);
  if (options.length) {
    const list = make("datalist");
    list.id = `options-${Math.random().toString(36).slice(2)}`;
    options.forEach((option) => list.append(Object.assign(make("option"), { value: option })));
    field.setAttribute("list", list.id);
    host.append(list);
  }
  if (back) {
    const again = button("again quiet", back.label, "back");
    again.onpointerdown = (event) => event.preventDefault(); // the field keeps the focus
    again.onclick = (event) => {
      event.stopPropagation();
      end(back.act);
    };
    host.append(again);
  }
  field.focus();
  field.select();
};

const drawTags = (names, act) => {
  const line = make("span", "tags");
  names.forEach((name) => {
    const chip = make("span", "tag");
    chip.append(make("span", "", name));
    const off = button("off", _("Take the tag {name} off", { name }), "close", true);
    off.onclick = () => act({ remove: [name] });
    chip.append(off);
    line.append(chip);
  });
  return line;
};

// Tags as chips that can be taken off, and a button that becomes a field for another one.
const tagLine = (names, known, act) => {
  const line = drawTags(names, act);
  const add = make("span", "adding");
  const rest = () => {
    const plus = button("plus quiet", names.length ? _("Add another tag") : _("Add a tag"), "plus", names.length > 0);
    plus.onclick = () =>
      edit(add, {
        value: "", label: _("New tag"), options: known.filter((name) => !names.includes(name)), stop: rest,
        save: (name) => {
          rest();
          act({ add: [name] });
        },
      });
    add.replaceChildren(plus);
  };
  rest();
  line.append(add);
  return line;
};

const NO_TEXT = ["button", "checkbox", "color", "file", "image", "radio", "range", "reset", "submit"];

const focused = () => {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element;
};

const typing = () => {
  const element = focused();
  if (element?.closest('[role="dialog"]')) return true;
  if (element?.tagName === "INPUT") return !NO_TEXT.includes(element.type);
  return Boolean(element?.closest('textarea, select, [contenteditable="true"]'));
};

// Where things are found by a few letters of their names; for a mention those that a question can name.
const findUrl = (words, mention = false) => {
  const url = new URL("viewer/find", new URL(".", location.href));
  url.searchParams.set("q", words);
  if (mention) url.searchParams.set("mention", "1");
  return url.href;
};

// What the server tells of a document that is looked at; pages and their parts lie one level below its address.
const viewerUrl = (id, rest = "", query = []) => {
  const url = new URL(`viewer/${encodeURIComponent(id)}${rest}`, new URL(".", location.href));
  query.forEach(([name, value]) => url.searchParams.append(name, value));
  return url.href;
};

// What is answered, or an Error with `message` and `help` in words.
const ask = async (url, signal = undefined) => {
  let answer;
  try {
    answer = await fetch(url, { signal });
  } catch (error) {
    throw error.name === "AbortError" ? error : Object.assign(new Error(_("Lectern does not answer.")), { help: _("Is it still running?") });
  }
  if (answer.ok) return answer.json();
  const told = await answer.json().catch(() => ({}));
  throw Object.assign(new Error(told.message || _("This could not be shown.")), { help: told.help || "" });
};
