// An own table and not st.dataframe, whose cells are a picture: titles and tags are changed where they stand, a failure
// says below its title what to do, and on a phone a document is a card and not a strip to be pushed sideways.
const columns = () => [
  ["title", _("Title"), "text"],
  ["pages", _("Pages"), "number"],
  ["size", _("Size"), "number"],
  ["added", _("Added"), "text"],
  ["state", _("State"), "text"],
];

const drawTick = (label, checked, change) => {
  const box = make("input");
  box.type = "checkbox";
  box.checked = checked;
  box.setAttribute("aria-label", label);
  box.onchange = () => change(box.checked);
  return box;
};

const drawHead = (root, data) => {
  const order = data.order;
  const head = make("thead");
  const row = make("tr");
  const all = make("th", "tick");
  const every = data.rows.length > 0 && data.rows.every((other) => root.chosen.has(other.id));
  all.append(drawTick(_("Choose all"), every, (on) => choose(root, on ? data.rows.map((other) => other.id) : [])));
  row.append(all);
  columns().forEach(([name, label, kind]) => {
    const cell = make("th", kind);
    cell.scope = "col";
    const current = order && order[0] === name;
    cell.setAttribute("aria-sort", current ? (order[1] ? "descending" : "ascending") : "none");
    const sort = button("sort", label);
    sort.dataset.sort = name;
    if (current) sort.append(icon(order[1] ? "down" : "up"));
    cell.append(sort);
    row.append(cell);
  });
  const last = make("th", "acts");
  last.append(make("span", "unseen", _("Actions")));
  row.append(last);
  head.append(row);
  return head;
};

const drawName = (row, root) => {
  const line = make("span", "name");
  const open = button("open", row.title);
  open.dataset.open = row.id;
  open.disabled = !row.openable;
  const change = button("change", _("Rename {title}", { title: row.title }), "pencil", true);
  change.onclick = () =>
    edit(line, {
      value: row.title, label: _("Title"), stop: () => restore(line, row, root),
      save: (title) => rename(line, row, root, title),
      back: row.found ? { label: _("Found title: {title}", { title: row.found }), act: () => rename(line, row, root, null) } : null,
    });
  line.append(open, change);
  return line;
};

const restore = (line, row, root) => {
  const fresh = drawName(row, root);
  line.replaceWith(fresh);
  fresh.querySelector(".change").focus();
};

const rename = (line, row, root, title) => {
  line.closest("tr").dataKey = ""; // drawn again with what the library says
  restore(line, { ...row, title: title ?? row.found }, root);
  if (title !== row.title) root.tell("rename", { id: row.id, title });
};

// What a locked document waits for.
const drawLock = (row, root) => {
  const form = make("form", "lock");
  const field = make("input", "edit");
  field.type = "password";
  field.autocomplete = "off";
  field.placeholder = _("Password");
  field.setAttribute("aria-label", _("Password of {title}", { title: row.title }));
  field.onkeydown = (event) => event.stopPropagation(); // letters are shortcuts of the page
  const open = button("unlock", _("Unlock"));
  open.type = "submit";
  form.onsubmit = (event) => {
    event.preventDefault();
    if (field.value) root.tell("unlock", { id: row.id, password: field.value });
    field.value = "";
  };
  form.append(field, open);
  return form;
};

const drawTitle = (row, root) => {
  const cell = make("td", "title");
  cell.append(drawName(row, root));
  const facts = [row.about, row.source].filter(Boolean).join(" · ");
  const line = make("span", "facts");
  if (facts) line.append(make("span", "quiet", facts));
  line.append(tagLine(row.tags, root.known, (change) => root.tell("tag", { ids: [row.id], ...change })));
  if (facts || row.tags.length || !row.problem) cell.append(line);
  if (row.problem) {
    cell.append(make("span", "problem", row.problem));
    if (row.help) cell.append(make("span", "source quiet", row.help));
    if (row.locked) cell.append(drawLock(row, root));
  }
  return cell;
};

const drawRow = (row, root) => {
  const line = make("tr");
  const tick = make("td", "tick");
  const change = (on) => choose(root, on ? [...root.chosen, row.id] : [...root.chosen].filter((id) => id !== row.id));
  tick.append(drawTick(_("Choose {title}", { title: row.title }), root.chosen.has(row.id), change));
  line.append(tick, drawTitle(row, root));
  const cell = (name, value) => {
    const element = make("td", `${name === "added" ? "" : "number "}${name}`, value);
    if (name === "pages") element.dataset.unit = ngettext("page", "pages", row.sort.pages);
    return element;
  };
  [["pages", row.pages], ["size", row.size], ["added", row.added]].forEach(([name, value]) =>
    line.append(cell(name, value)),
  );
  const state = make("td", "state");
  state.append(make("span", `badge ${row.sort.state}`, row.state));
  line.append(state);
  const acts = make("td", "acts");
  if (row.retryable) {
    const retry = button("act", _("Try {title} again", { title: row.title }), "retry", true);
    retry.dataset.retry = row.id;
    acts.append(retry);
  }
  const remove = button("act", _("Remove {title}", { title: row.title }), "bin", true);
  remove.dataset.remove = row.id;
  acts.append(remove);
  line.append(acts);
  return line;
};

// What can be done to the chosen documents at once.
const drawBar = (root, data) => {
  const rows = data.rows.filter((row) => root.chosen.has(row.id));
  root.bar.hidden = rows.length < 1;
  const names = [...new Set(rows.flatMap((row) => row.tags))];
  const key = JSON.stringify([rows.map((row) => row.id), names]);
  if (root.bar.dataKey === key) return;
  root.bar.dataKey = key;
  const none = button("none quiet", _("Choose none"), "close", true);
  none.onclick = () => choose(root, []);
  const act = (change) => root.tell("tag", { ids: rows.map((row) => row.id), ...change });
  const remove = button("away", _("Remove"), "bin");
  remove.onclick = () => {
    root.tell("away", rows.map((row) => row.id));
    choose(root, []);
  };
  const again = rows.filter((row) => row.retryable);
  const retry = button("away", ngettext("Try it again", "Try {number} again", again.length), "retry");
  retry.onclick = () => root.tell("again", again.map((row) => row.id));
  const able = rows.filter((row) => row.openable);
  const asks = button("asks", able.length === 1 ? _("Ask this") : _("Ask these {count}", { count: able.length }), "ask");
  asks.onclick = () => root.tell("ask", able.map((row) => row.id));
  root.bar.replaceChildren(
    ...(able.length ? [asks] : []), make("span", "count", _("{count} chosen", { count: rows.length })), tagLine(names, root.known, act), ...(again.length ? [retry] : []), remove, none,
  );
};

const choose = (root, ids) => {
  root.chosen = new Set(ids);
  draw(root, root.data);
};

const draw = (root, data) => {
  if (!root.table) {
    root.chosen = new Set();
    root.bar = make("div", "bar");
    root.bar.setAttribute("role", "toolbar");
    root.bar.setAttribute("aria-label", _("Chosen documents"));
    root.table = make("table");
    root.append(root.bar, root.table);
  }
  root.data = data;
  root.known = data.tags;
  root.chosen = new Set(data.rows.map((row) => row.id).filter((id) => root.chosen.has(id)));
  const body = root.table.querySelector("tbody") || make("tbody");
  const focused = root.getRootNode().activeElement?.dataset.sort;
  root.table.querySelector("thead")?.remove();
  root.table.replaceChildren(drawHead(root, data), body);
  patch(body, data.rows, (row) => drawRow(row, root));
  body.querySelectorAll("tr").forEach((line) => {
    line.querySelector(".tick input").checked = root.chosen.has(line.querySelector("[data-remove]").dataset.remove);
  });
  if (focused) root.querySelector(`[data-sort="${focused}"]`)?.focus({ preventScroll: true });
  drawBar(root, data);
};

export default function ({ data, parentElement, setTriggerValue }) {
  speak(data);
  const root = parentElement.querySelector(".shelf");
  root.tell = setTriggerValue;
  draw(root, data);
  root.onclick = (event) => {
    const target = event.target.closest("button");
    if (!target || target.disabled) return;
    const { sort, open, remove, retry } = target.dataset;
    if (sort) {
      setTriggerValue("sort", [sort, data.order?.[0] === sort && !data.order[1]]);
    } else if (open) setTriggerValue("open", open);
    else if (remove) setTriggerValue("remove", remove);
    else if (retry) setTriggerValue("retry", retry);
  };
}
