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

const TAGS = { paragraph: "p", item: "li", fixed: "pre" };

const drawParts = (parts) =>
  parts.map(([text, why, on]) => {
    const part = make(on ? "mark" : "span", why ? "unseen" : "", text);
    if (why) part.title = `Not to be seen in the document: ${why}`;
    return part;
  });

// What may be wider than the sheet is moved sideways, also by keys.
const widely = (label, content) => {
  const wide = make("div", "wide");
  wide.tabIndex = 0;
  wide.setAttribute("role", "region");
  wide.setAttribute("aria-label", label);
  wide.append(content);
  return wide;
};

const drawTable = (rows) => {
  const table = make("table");
  rows.forEach(({ head, cells }) => {
    const row = table.insertRow();
    cells.forEach(({ span, parts }) => {
      const cell = make(head ? "th" : "td", cells.length === 1 ? "group" : "");
      cell.colSpan = span;
      cell.append(...drawParts(parts));
      row.append(cell);
    });
  });
  return table;
};

const drawBlock = ({ kind, level, parts, rows }) => {
  if (rows) return widely("Table", drawTable(rows));
  const block = make(TAGS[kind] || `h${Math.min(level + 2, 6)}`);
  block.append(...drawParts(parts));
  return kind === "fixed" ? widely("Text in columns, or code", block) : block;
};

const drawText = (data) => {
  const text = make("div", "text");
  let list = null;
  data.blocks.forEach((block) => {
    if (block.kind === "item" && !list) {
      list = make("ul");
      list.setAttribute("role", "list"); // which it is for some readers only where it shows marks of its own
      text.append(list);
    } else if (block.kind !== "item") list = null;
    (list || text).append(drawBlock(block));
  });
  return text;
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
  const cell = target.closest("td, th");
  const wide = cell?.closest(".wide");
  if (wide) wide.scrollLeft = cell.getBoundingClientRect().right - wide.getBoundingClientRect().right;
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
