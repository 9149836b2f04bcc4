// The rows of a table as they were read, some at a time: what sorts, narrows and counts them is the server.
const drawColumn = (column, place) => {
  const cell = make("th", column.is_number ? "number" : "");
  cell.scope = "col";
  cell.setAttribute("aria-sort", column.sorted);
  const sort = button("sort", column.head);
  sort.dataset.sort = place;
  if (column.sorted !== "none") sort.append(icon(column.sorted === "descending" ? "down" : "up"));
  cell.append(sort, make("span", "kind", column.kind));
  column.facts.forEach((fact) => cell.append(make("span", "fact", fact)));
  return cell;
};

const drawRow = (row, place, columns) => {
  const line = make("tr");
  line.dataset.row = place;
  columns.forEach((column, at) => {
    const cell = make("td", column.is_number ? "number" : "");
    if (at === 0) {
      cell.append(button("open", row[at] || "–"));
    } else {
      cell.textContent = visible(row[at] ?? "");
    }
    line.append(cell);
  });
  return line;
};

const drawGrid = (data) => {
  const wide = make("div", "wide");
  wide.tabIndex = 0;
  wide.setAttribute("role", "group");
  wide.setAttribute("aria-label", visible(data.label));
  const table = make("table");
  const head = table.createTHead().insertRow();
  head.append(...data.columns.map(drawColumn));
  const body = table.createTBody();
  body.append(...data.rows.map((row, place) => drawRow(row, place, data.columns)));
  wide.append(table);
  return wide;
};

const drawFoot = (data) => {
  const foot = make("footer");
  const words = make("span", "quiet words", data.words);
  words.setAttribute("role", "status");
  const steps = make("span", "steps");
  [["back", _("Rows before"), "left", data.back], ["on", _("Rows after"), "right", data.on]].forEach(([name, label, sign, can]) => {
    const step = button("step", label, sign, true);
    step.dataset.step = name;
    step.disabled = !can;
    steps.append(step);
  });
  foot.append(words, steps);
  return foot;
};

export default function ({ data, parentElement, setTriggerValue }) {
  speak(data);
  const root = parentElement.querySelector(".grid");
  const before = root.querySelector(".wide");
  const focused = root.getRootNode().activeElement;
  const again = focused?.dataset.sort !== undefined ? `[data-sort="${focused.dataset.sort}"]`
    : focused?.dataset.step !== undefined ? `[data-step="${focused.dataset.step}"]` : "";
  const left = before ? before.scrollLeft : 0;
  patch(root, [{ foot: true, words: data.words, back: data.back, on: data.on }, { grid: data }], (item) =>
    item.foot ? drawFoot(item) : drawGrid(item.grid));
  root.querySelector(".wide").scrollLeft = left;
  if (again) root.querySelector(again)?.focus();
  root.onclick = (event) => {
    const sort = event.target.closest("[data-sort]");
    const step = event.target.closest("[data-step]");
    const row = event.target.closest("tr[data-row]");
    if (sort) setTriggerValue("sort", Number(sort.dataset.sort));
    else if (step) setTriggerValue("step", step.dataset.step);
    else if (row) setTriggerValue("open", Number(row.dataset.row));
  };
}
