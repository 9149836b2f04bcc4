const drawBox = (box) => {
  const [left, top, right, bottom] = box.map((value) => value * 100);
  const element = make("div", "box");
  element.style.cssText = `left:${left}%;top:${top}%;width:${right - left}%;height:${bottom - top}%`;
  return element;
};

const drawPicture = (data) => {
  const sheet = make("div", "sheet");
  const picture = make("img");
  picture.alt = `Picture of ${data.page} of ${data.title}`;
  picture.width = data.picture.width;
  picture.height = data.picture.height;
  picture.src = `data:image/png;base64,${data.picture.png}`;
  sheet.append(picture, ...data.picture.boxes.map(drawBox));
  return sheet;
};

const drawText = (data) => {
  const text = make("div", "text");
  const { start, end } = data.span || { start: 0, end: 0 };
  const characters = Array.from(data.text); // offsets count code points, as Python does
  const cut = (from, to) => visible(characters.slice(from, to).join(""));
  const draw = (from, to) => {
    const [first, last] = [Math.max(from, start), Math.min(to, end)];
    return first < last ? [cut(from, first), make("mark", "", cut(first, last)), cut(last, to)] : [cut(from, to)];
  };
  let drawn = 0;
  for (const rows of tablesOf(data.text)) {
    const [from, to] = [rows[0][0].start, rows.at(-1).at(-1).end];
    text.append(...draw(drawn, from), drawTable(rows, draw, cut));
    drawn = to;
  }
  text.append(...draw(drawn, characters.length));
  return text;
};

// Lines whose cells are set apart by tabs, as spans of code points: two or more that follow each other are a table.
const tablesOf = (text) => {
  const tables = [];
  let [rows, place] = [[], 0];
  const close = () => {
    if (rows.length > 1) tables.push(rows);
    rows = [];
  };
  for (const line of text.split("\n")) {
    const cells = [];
    for (const cell of line.split("\t")) {
      const length = Array.from(cell).length;
      cells.push({ start: place, end: place + length });
      place += length + 1;
    }
    if (cells.length > 1 && line.trim()) rows.push(cells);
    else close();
  }
  close();
  return tables;
};

const drawTable = (rows, draw, cut) => {
  const table = make("table");
  for (const cells of rows) {
    const row = table.insertRow();
    cells.forEach(({ start, end }, column) => {
      // A stop alone stands for an empty first cell.
      if (column || cut(start, end) !== ".") row.insertCell().append(...draw(start, end));
      else row.insertCell();
    });
  }
  return table;
};

const drawHead = (data) => {
  const head = make("header", "head");
  const title = make("div", "heading");
  if (data.number) title.append(make("span", "number", String(data.number)));
  const name = make("h2", "", data.title);
  name.tabIndex = -1;
  title.append(name);
  head.append(title);
  if (data.closable) {
    const close = button("tool close", "Close");
    close.prepend(icon("close"));
    close.dataset.act = "close";
    head.append(close);
  }
  return head;
};

const drawBar = (data) => {
  const bar = make("div", "bar");
  const previous = button("tool", "Previous page", "left", true);
  previous.dataset.act = "previous";
  previous.disabled = !data.has_previous;
  const next = button("tool", "Next page", "right", true);
  next.dataset.act = "next";
  next.disabled = !data.has_next;
  bar.append(previous, make("span", "where", data.page), next);
  // Only addresses of the web come here; the page is told nothing of where its reader comes from.
  if (data.address) {
    const link = make("a", "tool origin", new URL(data.address).hostname);
    link.href = data.address;
    link.target = "_blank";
    link.rel = "noopener noreferrer nofollow";
    link.title = visible(data.address);
    bar.append(link);
  }
  if (data.away) {
    const back = button("tool back", "Back to the passage");
    back.dataset.act = "back";
    bar.append(back);
  } else if (data.facts.length) {
    const facts = make("span", "facts quiet", data.facts.map((fact) => fact.words).join(" · "));
    facts.title = visible(data.facts.map((fact) => fact.detail).filter(Boolean).join("\n"));
    bar.append(facts);
  }
  return bar;
};

const drawQuote = (data) => {
  const quote = make("details", "quote");
  quote.open = data.quote_open;
  quote.append(make("summary", "", "The passage as text"), make("blockquote", "", data.quote));
  return quote;
};

const drawWarning = (words) => {
  const warning = make("p", "warning");
  warning.append(icon("warning"), make("span", "", words));
  return warning;
};

const drawProblem = (data) => {
  const problem = make("div", "problem");
  problem.setAttribute("role", "alert");
  problem.append(make("p", "what", data.problem.message));
  if (data.problem.help) problem.append(make("p", "quiet", data.problem.help));
  return problem;
};

// The passage comes into view inside the panel; the page around it does not move.
const show = (body) => {
  const target = body.querySelector(".box, mark");
  if (!target) {
    body.scrollTop = 0;
    return;
  }
  const place = target.getBoundingClientRect().top - body.getBoundingClientRect().top + body.scrollTop;
  body.scrollTop = Math.max(0, place - body.clientHeight / 4);
};

const listen = (root, act) => {
  if (root.onEscape) document.removeEventListener("keydown", root.onEscape);
  root.onEscape = (event) => {
    if (event.key === "Escape" && !event.defaultPrevented && !document.querySelector('[role="dialog"]')) act("close");
  };
  document.addEventListener("keydown", root.onEscape);
};

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".passage");
  const act = (name) => setTriggerValue("act", name);
  root.onclick = (event) => {
    const tool = event.target.closest("[data-act]");
    if (tool && !tool.disabled) act(tool.dataset.act);
  };
  if (data.closable) listen(root, act);
  const key = JSON.stringify(data);
  if (root.dataKey !== key) {
    const focused = root.getRootNode().activeElement?.dataset.act;
    const first = root.dataKey === undefined;
    root.dataKey = key;
    const body = make("div", "view");
    body.tabIndex = 0;
    body.setAttribute("aria-label", "Page");
    if (data.problem) body.append(drawProblem(data));
    else body.append(data.picture ? drawPicture(data) : drawText(data));
    root.replaceChildren(...(data.closable ? [drawHead(data)] : []), drawBar(data), body);
    if (data.warning) body.before(drawWarning(data.warning));
    if (data.quote) root.append(drawQuote(data));
    requestAnimationFrame(() => show(body));
    if (focused) root.querySelector(`[data-act="${focused}"]:not(:disabled)`)?.focus({ preventScroll: true });
    else if (first && data.closable) root.querySelector("h2").focus({ preventScroll: true });
  }
  return () => document.removeEventListener("keydown", root.onEscape);
}
