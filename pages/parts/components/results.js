const drawMarked = (row) => {
  const text = make("p", "text");
  const characters = Array.from(row.text); // offsets count code points, as Python does
  let cursor = 0;
  row.marks.forEach(([from, to]) => {
    if (from < cursor) return;
    text.append(visible(characters.slice(cursor, from).join("")), make("mark", "", characters.slice(from, to).join("")));
    cursor = to;
  });
  text.append(visible(characters.slice(cursor).join("")));
  return text;
};

const drawPicture = (row) => {
  const frame = button("picture", _("Open {place} of {title}", { place: row.place, title: row.title }), row.picture ? null : "page", true);
  frame.dataset.open = row.id;
  frame.tabIndex = -1; // the title is the same way in, for the keyboard
  if (row.picture) {
    const picture = make("img");
    picture.alt = "";
    picture.src = `data:image/png;base64,${row.picture}`;
    frame.append(picture);
  }
  return frame;
};

const drawActs = (row) => {
  const acts = make("div", "acts");
  [["ask", _("Ask about it")], ["only", _("Only this document")]].forEach(([name, label]) => {
    const act = button("act", label);
    act.dataset[name] = row.id;
    act.setAttribute("aria-label", `${label}: ${row.title}`);
    acts.append(act);
  });
  return acts;
};

// Figures of ranking are of use to few: folded.
const drawScores = (row) => {
  const scores = make("details", "scores quiet");
  scores.append(make("summary", "", _("How this was found")), make("span", "", row.scores));
  return scores;
};

const drawRow = (row) => {
  const item = make("article", `result${row.compact ? " compact" : ""}`);
  item.dataset.id = row.id;
  if (row.active) item.setAttribute("aria-current", "true");
  if (!row.compact) item.append(drawPicture(row));
  const body = make("div", "body");
  const head = button("open", row.title);
  head.dataset.open = row.id;
  head.title = visible(row.title);
  const line = make("div", "head");
  if (row.compact) line.append(make("span", "number quiet", String(row.number)));
  line.append(head, make("span", "place quiet", row.place));
  body.append(line);
  if (row.section) {
    const section = make("p", "section quiet", row.section);
    section.title = visible(row.section);
    body.append(section);
  }
  body.append(drawMarked(row));
  const foot = make("div", "foot");
  foot.append(drawActs(row));
  if (row.similar) foot.append(make("span", "quiet", row.similar));
  if (row.scores) foot.append(drawScores(row));
  body.append(foot);
  item.append(body);
  return item;
};

export default function ({ data, parentElement, setTriggerValue }) {
  speak(data);
  const root = parentElement.querySelector(".results");
  const focused = root.getRootNode().activeElement?.closest("[data-id]")?.dataset.id;
  patch(root, data.rows, drawRow);
  if (focused && !root.getRootNode().activeElement) {
    root.querySelector(`[data-id="${CSS.escape(focused)}"] .open`)?.focus({ preventScroll: true });
  }
  root.onclick = (event) => {
    const target = event.target.closest("button");
    if (target) {
      const { open, ask, only } = target.dataset;
      if (open) setTriggerValue("open", open);
      else if (ask) setTriggerValue("ask", ask);
      else if (only) setTriggerValue("only", only);
      return;
    }
    const item = event.target.closest("[data-id]");
    if (event.target.closest("summary")) return;
    if (item && !String(window.getSelection())) setTriggerValue("open", item.dataset.id);
  };
}
