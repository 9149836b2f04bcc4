const act = (row, label, iconName, run, kind = "") => {
  const element = button(`act ${kind}`, label, iconName);
  element.onclick = run;
  row.append(element);
};

const drawHead = (chunk) => {
  const head = make("span", "head");
  head.append(make("strong", "", chunk.head));
  chunk.marks.forEach(([words, why]) => {
    const mark = make("span", `mark${why ? " warn" : ""}`, words);
    if (why) mark.title = why;
    head.append(mark);
  });
  head.append(make("span", "quiet", chunk.facts));
  return head;
};

const drawActs = (chunk, element, tell) => {
  const acts = make("div", "acts");
  if (chunk.index !== null) {
    act(acts, _("Correct"), "pencil", () => correct(chunk, element, tell));
    act(acts, _("Leave out"), "close", () => tell("leave", chunk.index));
  }
  if (chunk.undo) act(acts, chunk.undo, "back", () => tell("undo", chunk.place));
  return acts;
};

const drawChunk = (chunk, tell) => {
  const element = make("article", `chunk${chunk.on ? " on" : ""}${chunk.index === null ? " out" : ""}`);
  const body = make(chunk.index === null ? "div" : "button", "body");
  if (chunk.index !== null) {
    body.type = "button";
    body.dataset.mark = String(chunk.index);
    body.setAttribute("aria-pressed", String(chunk.on));
  }
  body.append(drawHead(chunk));
  if (chunk.section) body.append(make("span", "section quiet", chunk.section));
  body.append(make("span", "text", chunk.text));
  element.append(body);
  if (chunk.original) {
    const was = make("details", "was");
    was.append(make("summary", "", _("As read")), make("div", "", chunk.original));
    element.append(was);
  }
  element.append(drawActs(chunk, element, tell));
  return element;
};

// The text in a field, which is saved by its button or Ctrl and Enter; Escape keeps what was.
const correct = (chunk, element, tell) => {
  const field = make("textarea");
  field.value = chunk.text;
  field.setAttribute("aria-label", _("Text of {name}", { name: chunk.head }));
  const stop = () => {
    element.dataKey = "";
    element.replaceWith(Object.assign(drawChunk(chunk, tell), { dataKey: JSON.stringify(chunk) }));
  };
  const save = () => {
    const text = field.value.trim();
    stop();
    if (text && text !== chunk.text) tell("correct", { index: chunk.index, text });
  };
  field.onkeydown = (event) => {
    event.stopPropagation(); // letters are shortcuts of the page
    if (event.key === "Escape") stop();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
  };
  const acts = make("div", "acts");
  act(acts, _("Save"), null, save, "save");
  act(acts, _("Cancel"), null, stop);
  element.querySelector(".body .text").remove();
  element.querySelector(".acts").replaceWith(acts);
  element.querySelector(".was")?.remove();
  acts.before(field);
  field.style.height = `${Math.min(field.scrollHeight + 8, 420)}px`;
  field.focus();
};

export default function ({ data, parentElement, setTriggerValue }) {
  speak(data);
  const root = parentElement.querySelector(".chunks");
  if (!root.list) {
    root.heading = make("h3");
    root.list = make("div", "list");
    root.append(root.heading, root.list);
  }
  root.heading.textContent = data.title;
  const items = data.chunks.length ? data.chunks : [{ empty: data.empty }];
  patch(root.list, items.map((chunk) => ({ ...chunk, on: chunk.index !== null && data.marked === chunk.index })), (chunk) =>
    chunk.empty ? make("p", "quiet", chunk.empty) : drawChunk(chunk, setTriggerValue),
  );
  root.onclick = (event) => {
    const chunk = event.target.closest("[data-mark]");
    if (chunk) setTriggerValue("mark", Number(chunk.dataset.mark));
  };
}
