const cite = (number, data) => {
  const source = data.sources.find((candidate) => candidate.number === number);
  const mark = make("button", "cite", String(number));
  mark.type = "button";
  mark.dataset.number = String(number);
  mark.disabled = !source;
  mark.setAttribute("aria-label", source ? _("Open passage {number}: {title}, {page}", { number, title: source.title, page: source.page }) : _("Passage {number}", { number }));
  if (source && !source.place) mark.title = visible(`${source.title}, ${source.page}`);
  if (source?.warning) mark.classList.add("warned");
  if (data.active === number) mark.setAttribute("aria-current", "true");
  return mark;
};

const drawRun = (run, data) => {
  if (run.host) {
    const host = make("span", "host", run.host);
    host.title = visible(run.address);
    return host;
  }
  if (run.end_of_doubt) return make("span", "doubt-note", _("not found in the passages"));
  const tag = run.style === "strong" ? "strong" : run.style === "code" ? "code" : "span";
  return make(tag, run.doubt ? "doubt" : "", run.text);
};

const drawBlock = (block, data) => {
  if (block.kind === "table") return drawTable(block, data);
  const tag = block.kind === "h" ? "h3" : "p";
  const element = make(tag, `block ${block.kind}`);
  if (block.label) element.append(make("span", "label", block.label));
  const body = block.label ? make("span", "item") : element;
  if (block.label) element.append(body);
  drawRuns(body, block.runs, data);
  return element;
};

const drawRuns = (body, runs, data) =>
  runs.forEach((run) => (run.cite === undefined ? body.append(drawRun(run, data)) : attach(body, cite(run.cite, data))));

// The first row of an answer's table is its head.
const drawTable = (block, data) => {
  const table = make("table", "block");
  block.rows.forEach((row, place) => {
    const line = make("tr");
    row.forEach((runs) => {
      const cell = place ? make("td") : headCell(runs.map(({ text = "" }) => text).join(""));
      cell.replaceChildren();
      drawRuns(cell, runs, data);
      line.append(cell);
    });
    table.append(line);
  });
  return table;
};

// A number stays on the line of the word before it.
const attach = (body, mark) => {
  const before = body.lastElementChild;
  if (before?.className === "held") return before.append(mark);
  const held = make("span", "held");
  const words = before && before.tagName === "SPAN" ? before.textContent.match(/^([^]*?)(\S{1,24})$/) : null;
  if (words) {
    before.textContent = words[1];
    held.append(make("span", before.className, words[2]));
  }
  held.append(mark);
  return body.append(held);
};

const drawSource = (source, data, first) => {
  const element = button("source", "");
  element.dataset.number = String(source.number);
  if (data.active === source.number) element.setAttribute("aria-current", "true");
  element.replaceChildren(make("span", "number", String(source.number)));
  if (first) element.append(make("span", "title", source.title), make("span", "where", source.page));
  else element.setAttribute("aria-label", _("Passage {number}: {title}, {page}", { number: source.number, title: visible(source.title), page: source.page }));
  element.title = visible(`${source.title}, ${source.page}`);
  if (source.warning) {
    element.classList.add("warned");
    element.title = source.warning;
    element.setAttribute("aria-description", source.warning);
    element.append(icon("warning"));
  }
  return element;
};

// The passages of a page stand together, with a button that copies them.
const drawSources = (sources, data) => {
  const row = make("div", "sources");
  row.setAttribute("role", "group");
  row.setAttribute("aria-label", _("Sources"));
  const pages = new Map();
  sources.forEach((source) => {
    const page = `${source.title}\n${source.page}`;
    pages.set(page, [...(pages.get(page) || []), source]);
  });
  pages.forEach((those) => {
    const group = make("span", "of-page");
    group.append(...those.map((source, place) => drawSource(source, data, place === 0)));
    const copied = those.map(({ copy }) => copy).filter(Boolean).join("\n\n");
    const label = ngettext("Copy the passage of {title}, {page}", "Copy {number} passages of {title}, {page}", those.length, { title: those[0].title, page: those[0].page });
    if (copied) group.append(copyButton("rate", label, copied, true));
    row.append(group);
  });
  return row;
};

const drawError = (error) => {
  const box = make("div", "error");
  box.setAttribute("role", "alert");
  box.append(make("p", "what", error.message));
  if (error.help) box.append(make("p", "help", error.help));
  box.append(drawRetry());
  return box;
};

const drawRetry = () => {
  const again = button("retry", _("Ask again"), "retry");
  again.dataset.retry = "true";
  return again;
};

const drawStopped = () => {
  const line = make("div", "stopped quiet");
  line.append(make("span", "", _("You stopped this answer here.")), drawRetry());
  return line;
};

const drawReplaced = (words) => {
  const line = make("div", "replaced quiet");
  const back = button("how", _("Bring it back"));
  back.dataset.back = "true";
  line.append(make("span", "", words), back);
  return line;
};

// Why an answer is good or bad, in the user's words.
const drawReason = (rating, reason, keep) => {
  const line = make("div", "reason");
  const label = rating === 1 ? _("What is good about it?") : _("What is wrong with it?");
  const show = () => {
    const open = button("how quiet", reason || label, reason ? "pencil" : "plus");
    if (reason) open.setAttribute("aria-label", _("Your reason: {reason}", { reason }));
    open.onclick = () => edit(line, { value: reason, label, save: keep, stop: show });
    line.replaceChildren(open);
  };
  show();
  return line;
};

// Where the model reached its limit of tokens; the last answer can be gone on with.
const drawCut = (take) => {
  const line = make("div", "stopped quiet");
  line.append(make("span", "", _("This answer was cut here, at its limit of length.")));
  if (take) {
    const more = button("retry continue", _("Continue"), "plus");
    more.onclick = () => take("continue");
    line.append(more);
  }
  return line;
};

const drawLines = (lines, kind = "") => {
  const list = make("ul", kind);
  lines.forEach((line) => list.append(make("li", "", line)));
  return list;
};

const drawOpening = (words, parts, kind = "") => {
  const details = make("details", "notes");
  details.append(make("summary", kind, words), ...parts);
  return details;
};

const drawNotes = (notes, words) => drawOpening(words, [drawLines(notes)]);

const drawFact = ({ words, meaning, lines }) =>
  drawOpening(words, [make("p", "meaning", meaning), drawOpening(_("Details"), [drawLines(lines)])], "fact");

// What can be done next; some steps open what the page has already.
const drawNext = (steps, take) => {
  const line = make("div", "next");
  const asks = make("div", "asks");
  steps.forEach(({ act, words, press }) => {
    const link = button("step", words);
    // After this click is over, which would close what it opens.
    link.onclick = () => (press ? setTimeout(() => document.querySelector(press)?.click()) : take(act));
    (act?.startsWith("ask ") ? asks : line).append(link);
  });
  if (asks.children.length) {
    asks.prepend(make("span", "quiet", _("Ask next")));
    line.append(asks);
  }
  return line;
};

const drawCondition = (words, at, act) => {
  const chip = make("span", "tag");
  const change = button("change", words);
  change.title = _("Change this and ask again");
  change.onclick = () => act({ act: "change", at });
  const off = button("off", _("Ask again without: {words}", { words }), "close", true);
  off.onclick = () => act({ act: "remove", at });
  chip.append(change, off);
  return chip;
};

const drawRows = ({ heads, rows, words }) => {
  const wide = make("div", "wide");
  wide.tabIndex = 0;
  wide.setAttribute("role", "group");
  wide.setAttribute("aria-label", words);
  const table = make("table", "block");
  const head = table.insertRow();
  ["", ...heads].forEach((text) => head.append(headCell(text)));
  rows.forEach((cells, place) => {
    const row = table.insertRow();
    row.dataset.row = String(place);
    const open = button("cite", String(place + 1));
    open.setAttribute("aria-label", _("Open row {number} in its sheet", { number: place + 1 }));
    row.insertCell().append(open);
    cells.forEach((text) => row.append(make("td", "", text)));
  });
  wide.append(table);
  return wide;
};

// Groups with a bar each, as long as its figure is large beside the largest.
const drawBars = (groups) => {
  const bars = make("dl", "bars");
  groups.forEach(({ text, figure, share, negative }) => {
    const bar = make("span", negative ? "bar negative" : "bar");
    bar.style.inlineSize = `${100 * share}%`;
    const track = make("span", "track");
    track.append(bar);
    const value = make("dd", "");
    value.append(track, make("span", "figure", figure));
    bars.append(make("dt", "", text), value);
  });
  return bars;
};

// Days, months or years in their order, as a line; each point says its figure.
const drawLine = (points) => {
  const draw = (tag, values) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(values).forEach(([name, value]) => element.setAttribute(name, value));
    return element;
  };
  const places = points.map(({ height }, at) => [8 + (304 * at) / (points.length - 1), 92 - 84 * height]);
  const label = _("{first} to {last}: from {low} to {high}", { first: points[0].text, last: points.at(-1).text, low: points[0].figure, high: points.at(-1).figure });
  const svg = draw("svg", { viewBox: "0 0 320 100", role: "img", "aria-label": visible(label) });
  svg.append(draw("polyline", { points: places.map((place) => place.join(",")).join(" ") }));
  points.forEach(({ text, figure }, at) => {
    const dot = draw("circle", { cx: places[at][0], cy: places[at][1], r: 3 });
    const title = draw("title", {});
    title.textContent = visible(`${text}: ${figure}`);
    dot.append(title);
    svg.append(dot);
  });
  const ends = make("figcaption", "quiet");
  ends.append(make("span", "", points[0].text), make("span", "", points.at(-1).text));
  const figure = make("figure", "line");
  figure.append(svg, ends);
  return figure;
};

// What a whole table answered: its conditions, and folded its rows, how it was computed, and all rows as a file.
const drawWhole = (table, root, act) => {
  const box = make("div", "whole");
  if (table.conditions.length) {
    const line = make("div", "tags");
    line.setAttribute("role", "group");
    line.setAttribute("aria-label", _("Conditions"));
    line.append(...table.conditions.map((words, at) => drawCondition(words, at, act)));
    box.append(line);
  }
  if (table.line.length) box.append(drawLine(table.line));
  if (table.groups.length) box.append(drawBars(table.groups));
  const end = make("div", "meta quiet");
  if (table.more) end.append(make("span", "", table.more));
  const file = button("how", _("All rows as CSV"));
  file.onclick = () => act({ act: "csv", at: 0 });
  end.append(file);
  const formula = table.formula ? [make("p", "meaning", table.formula)] : [];
  const rows = drawOpening(table.words, [...formula, ...(table.rows.length ? [drawRows(table), end] : [])], "quiet");
  rows.open = Boolean(root.rowsOpen);
  rows.ontoggle = () => (root.rowsOpen = rows.open);
  box.append(rows);
  return box;
};

const drawRating = (rating) => {
  const group = make("span", "rating");
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", _("Your mark for this answer"));
  [[1, "good", _("Good answer")], [-1, "bad", _("Bad answer")]].forEach(([value, name, label]) => {
    const element = button("rate", label, name, true);
    element.dataset.rate = name;
    element.setAttribute("aria-pressed", String(rating === value));
    group.append(element);
  });
  return group;
};

const drawMeta = (data) => {
  const meta = make("div", "meta quiet");
  data.facts.forEach((fact) => meta.append(drawFact(fact)));
  if (data.steps.length) meta.append(drawNotes(data.steps, ngettext("{number} step", "{number} steps", data.steps.length)));
  if (data.notes.length) meta.append(drawNotes(data.notes, ngettext("{number} note", "{number} notes", data.notes.length)));
  if (data.searched) {
    const how = button("how", _("What was searched"));
    how.dataset.searched = "true";
    meta.append(how);
  }
  const tools = make("span", "tools");
  if (data.copy) tools.append(copyButton("rate", _("Copy answer"), data.copy, true));
  if (data.rateable) tools.append(drawRating(data.rating));
  if (tools.children.length) meta.append(tools);
  return meta;
};

// A question in a field of its own height. Enter asks it, Shift and Enter begin a line, Escape leaves it as it was.
const editQuestion = (parts, value, ask) => {
  parts.asked.parentElement.querySelector(".asked-again")?.remove();
  const form = make("div", "asked-again");
  const field = make("textarea", "edit");
  field.value = value;
  field.rows = Math.min(8, value.split("\n").length + 1);
  field.setAttribute("aria-label", _("Edit the question"));
  const stop = () => {
    form.remove();
    parts.asked.hidden = false;
    parts.asked.querySelector("button")?.focus({ preventScroll: true });
  };
  const send = () => {
    if (!field.value.trim()) return;
    stop();
    ask(field.value.trim());
  };
  field.onkeydown = (event) => {
    event.stopPropagation(); // letters are shortcuts of the page
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    }
    if (event.key === "Escape") stop();
  };
  const buttons = make("div", "buttons");
  const [cancel, again] = [button("retry", _("Leave it")), button("retry", _("Ask again"), "retry")];
  cancel.onclick = stop;
  again.onclick = send;
  buttons.append(cancel, again);
  form.append(field, buttons);
  parts.asked.hidden = true;
  parts.asked.after(form);
  field.focus();
};

// What was searched for where it is another thing than what was asked; a click puts it where it can be changed.
const drawUnderstood = (text) => {
  const open = button("how quiet", _("Understood as: {text}", { text }));
  open.dataset.understood = "true";
  open.title = _("Edit this and ask again");
  return open;
};

const skeleton = (root) => {
  const parts = {
    asked: make("div", "asked"),
    question: make("p", "question"),
    answer: make("div", "answer"),
    stage: make("p", "stage quiet"),
    understood: make("div", "understood"),
    body: make("div", "body"),
    after: make("div", "after"),
  };
  parts.stage.setAttribute("role", "status");
  parts.question.setAttribute("role", "heading");
  parts.question.setAttribute("aria-level", "2");
  parts.body.setAttribute("aria-live", "polite"); // told once it is whole: until then it is busy
  parts.after.setAttribute("aria-live", "off"); // to be read where one goes there, not told
  parts.answer.append(parts.stage, parts.understood, parts.body, parts.after);
  const pencil = button("rate pencil", _("Edit this question"), "pencil", true);
  pencil.dataset.edit = "true";
  parts.asked.append(pencil, parts.question);
  root.append(parts.asked, parts.answer);
  root.parts = parts;
  return parts;
};

const CLOSING = 2000; // ms in which a page that is drawn once more may take the focus away again
// A number or row that had the focus keeps it, or gets it back when its passage closes.
const focusBack = (root, data) => {
  const active = data.active ? `.cite[data-number="${data.active}"]` : data.row === null ? null : `[data-row="${data.row}"] .cite`;
  if (root.lastActive && !active) root.closed = { selector: root.lastActive, at: performance.now() };
  const closed = !active && root.closed && performance.now() - root.closed.at < CLOSING ? root.closed.selector : null;
  root.lastActive = active;
  const host = root.getRootNode();
  const focused = document.activeElement; // the passage itself may still be there for a moment
  const free = !focused || focused === document.body || focused.closest(".st-key-chat_passage");
  if (closed && free) host.querySelector(closed)?.focus({ preventScroll: true });
};

// The latest question comes into view once, with room below for its answer; then nobody moves what is being read.
const comeIntoView = (root, data) => {
  root.dataset.latest = String(Boolean(data.latest));
  if (!data.latest || root.cameFor === data.question) return;
  root.cameFor = data.question;
  requestAnimationFrame(() => root.scrollIntoView({ block: "start" }));
};

// What stands around all exchanges is a log, whose additions are told; Streamlit has no attribute for that.
const standInLog = (root) => {
  const log = root.getRootNode().host?.closest(".st-key-chat_exchanges");
  log?.setAttribute("role", "log");
  log?.setAttribute("aria-label", _("Conversation"));
};

export default function ({ data, parentElement, setTriggerValue }) {
  speak(data);
  const root = parentElement.querySelector(".exchange");
  const parts = root.parts || skeleton(root);
  standInLog(root);
  root.dataset.state = data.state;
  parts.question.textContent = visible(data.question);
  parts.asked.hidden = !data.question || Boolean(root.querySelector(".asked-again"));
  parts.asked.firstElementChild.hidden = !data.editable;
  parts.stage.textContent = data.stage;
  parts.stage.hidden = !data.stage;
  patch(parts.understood, data.understood ? [data.understood] : [], drawUnderstood);
  parts.body.setAttribute("aria-busy", String(data.state === "working"));
  const blocks = data.blocks.map((block) => ({ ...block, active: data.active, sources: data.sources }));
  patch(parts.body, blocks, (block) => drawBlock(block, data));
  const after = [];
  if (data.stopped) after.push({ part: "stopped" });
  if (data.cut) after.push({ part: "cut", continues: Boolean(data.continues) });
  if (data.error) after.push({ part: "error", error: data.error });
  if (data.sources.length) after.push({ part: "sources", sources: data.sources, active: data.active });
  if (data.table) after.push({ part: "table", table: data.table });
  if (data.next.length) after.push({ part: "next", steps: data.next });
  const { facts, notes, steps, rateable, rating, searched, copy } = data;
  if (data.state === "working" && steps.length) after.push({ part: "steps", steps });
  else if (facts.length || notes.length || steps.length || rateable || searched || copy) {
    after.push({ part: "meta", facts, notes, steps, rateable, rating, searched, copy });
  }
  if (rateable && rating) after.push({ part: "reason", rating, reason: data.reason });
  if (data.replaced) after.push({ part: "replaced", words: data.replaced });
  const rated = root.getRootNode().activeElement?.dataset.rate;
  patch(parts.after, after, (item) => {
    if (item.part === "stopped") return drawStopped();
    if (item.part === "cut") return drawCut(item.continues && ((act) => setTriggerValue("next", act)));
    if (item.part === "replaced") return drawReplaced(item.words);
    if (item.part === "reason") return drawReason(item.rating, item.reason, (text) => setTriggerValue("reason", text));
    if (item.part === "next") return drawNext(item.steps, (act) => setTriggerValue("next", act));
    if (item.part === "steps") return drawLines(item.steps, "steps quiet");
    if (item.part === "error") return drawError(item.error);
    if (item.part === "table") return drawWhole(item.table, root, (act) => setTriggerValue("table", act));
    if (item.part === "meta") return drawMeta(item);
    return drawSources(item.sources, data);
  });
  if (rated) root.querySelector(`[data-rate="${rated}"]`)?.focus({ preventScroll: true });
  root.querySelectorAll("[data-row]").forEach((row) => row.toggleAttribute("aria-current", Number(row.dataset.row) === data.row));
  listenForEvidence(root, data);
  focusBack(root, data);
  comeIntoView(root, data);
  root.onclick = (event) => {
    const number = event.target.closest("[data-number]");
    const thumb = event.target.closest("[data-rate]");
    const row = event.target.closest("[data-row]");
    if (number && !number.disabled) setTriggerValue("open", Number(number.dataset.number));
    else if (row) setTriggerValue("table", { act: "row", at: Number(row.dataset.row) });
    else if (thumb) setTriggerValue("rate", thumb.ariaPressed === "true" ? "none" : thumb.dataset.rate);
    else if (event.target.closest("[data-searched]")) setTriggerValue("searched", true);
    else if (event.target.closest("[data-retry]")) setTriggerValue("retry", true);
    else if (event.target.closest("[data-back]")) setTriggerValue("back", true);
    else if (data.editable && event.target.closest("[data-edit], [data-understood]")) {
      const value = event.target.closest("[data-understood]") ? data.understood : data.question;
      editQuestion(parts, value, (question) => setTriggerValue("edit", question));
    }
  };
}
