const drawHead = (data) => {
  const head = make("thead");
  const row = make("tr");
  if (data.ticks) row.append(unseenHead("Shown"));
  data.columns.forEach((column) => {
    const cell = make("th", column.kind);
    cell.scope = "col";
    if (column.sort) cell.append(drawSort(column, data.sort, cell));
    else cell.textContent = column.label;
    row.append(cell);
  });
  if (data.rows.some((line) => line.acts.length)) row.append(unseenHead("Actions"));
  head.append(row);
  return head;
};

const unseenHead = (label) => {
  const cell = make("th");
  cell.append(make("span", "unseen", label));
  return cell;
};

const drawSort = (column, order, cell) => {
  const current = order && order[0] === column.key;
  cell.setAttribute("aria-sort", current ? (order[1] ? "descending" : "ascending") : "none");
  const sort = button("sort", column.label);
  sort.dataset.sort = column.key;
  if (current) sort.append(icon(order[1] ? "down" : "up"));
  return sort;
};

const drawCell = (cell, column, row) => {
  const element = make("td", `${column.kind} ${cell.tone}`);
  element.dataset.label = column.label;
  if (cell.open) {
    const open = button("open", cell.text);
    open.dataset.open = row.id;
    element.append(open);
  } else {
    const text = make("span", cell.badge ? "badge" : "value", cell.text);
    if (cell.help) {
      text.classList.add("explained");
      text.title = cell.help;
      text.tabIndex = 0;
      text.setAttribute("aria-label", `${cell.text} (${cell.help})`);
    }
    element.append(text);
  }
  if (cell.note) element.append(make("span", "note quiet", cell.note));
  return element;
};

const drawTick = (row) => {
  const cell = make("td", "tick");
  const box = make("input");
  box.type = "checkbox";
  box.checked = row.ticked;
  box.dataset.tick = row.id;
  box.setAttribute("aria-label", `Show ${row.name}`);
  cell.append(box);
  return cell;
};

const drawRow = (row, data) => {
  const line = make("tr");
  if (data.ticks) line.append(drawTick(row));
  row.cells.forEach((cell, index) => line.append(drawCell(cell, data.columns[index], row)));
  if (data.rows.some((other) => other.acts.length)) {
    const acts = make("td", "acts");
    row.acts.forEach((act) => {
      const element = button("act", `${act.label} ${row.name}`, act.icon, true);
      if (act.word) element.append(make("span", "", act.word));
      element.dataset.act = act.name;
      element.dataset.row = row.id;
      acts.append(element);
    });
    line.append(acts);
  }
  return line;
};

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".table");
  if (!root.table) {
    root.table = make("table");
    root.table.append(make("tbody"));
    root.append(root.table);
  }
  const sorted = root.getRootNode().activeElement?.dataset.sort;
  root.table.className = data.kind;
  root.table.setAttribute("aria-label", data.label);
  root.table.querySelector("thead")?.remove();
  root.table.prepend(drawHead(data));
  const shape = JSON.stringify([data.columns, data.ticks]);
  const body = root.table.querySelector("tbody");
  if (root.shape !== shape) body.replaceChildren();
  root.shape = shape;
  patch(body, data.rows, (row) => drawRow(row, data));
  if (sorted) root.querySelector(`[data-sort="${sorted}"]`)?.focus({ preventScroll: true });
  root.onclick = (event) => {
    const target = event.target.closest("button, input");
    if (!target) return;
    const { sort, open, act, row, tick } = target.dataset;
    if (sort) setTriggerValue("sort", sort);
    else if (open) setTriggerValue("open", open);
    else if (act) setTriggerValue("act", { name: act, id: row });
    else if (tick) setTriggerValue("tick", tick);
  };
}
