const COLUMNS = [
  ["title", "Title", "text"],
  ["pages", "Pages", "number"],
  ["chunks", "Chunks", "number"],
  ["size", "Size", "number"],
  ["added", "Added", "number"],
  ["state", "State", "text"],
];

const sorted = (rows, order) => {
  if (!order) return rows;
  const [column, down] = order;
  const compare = (a, b) =>
    typeof a.sort[column] === "number" ? a.sort[column] - b.sort[column] : String(a.sort[column]).localeCompare(String(b.sort[column]));
  return [...rows].sort((a, b) => (down ? -compare(a, b) : compare(a, b)));
};

const drawHead = (order) => {
  const head = make("thead");
  const row = make("tr");
  COLUMNS.forEach(([name, label, kind]) => {
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
  last.append(make("span", "unseen", "Actions"));
  row.append(last);
  head.append(row);
  return head;
};

const drawTitle = (row) => {
  const cell = make("td", "title");
  const open = button("open", row.title);
  open.dataset.open = row.id;
  open.disabled = !row.openable;
  cell.append(open);
  if (row.source) cell.append(make("span", "source quiet", row.source));
  if (row.problem) {
    cell.append(make("span", "problem", row.problem));
    if (row.help) cell.append(make("span", "source quiet", row.help));
  }
  return cell;
};

const drawRow = (row) => {
  const line = make("tr");
  line.append(drawTitle(row));
  const cell = (name, value) => {
    const element = make("td", `${name === "added" ? "" : "number "}${name}`, value);
    if (name === "pages") element.dataset.unit = row.sort.pages === 1 ? "page" : "pages";
    return element;
  };
  [["pages", row.pages], ["chunks", row.chunks], ["size", row.size], ["added", row.added]].forEach(([name, value]) =>
    line.append(cell(name, value)),
  );
  const state = make("td", "state");
  state.append(make("span", `badge ${row.sort.state}`, row.state));
  line.append(state);
  const acts = make("td", "acts");
  if (row.retryable) {
    const retry = button("act", `Try ${row.title} again`, "retry", true);
    retry.dataset.retry = row.id;
    acts.append(retry);
  }
  const remove = button("act", `Remove ${row.title}`, "bin", true);
  remove.dataset.remove = row.id;
  acts.append(remove);
  line.append(acts);
  return line;
};

const draw = (root, data) => {
  if (!root.table) {
    root.table = make("table");
    root.append(root.table);
  }
  const body = root.table.querySelector("tbody") || make("tbody");
  root.table.querySelector("thead")?.remove();
  root.table.replaceChildren(drawHead(root.order), body);
  patch(body, sorted(data.rows, root.order), drawRow);
};

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".shelf");
  draw(root, data);
  root.onclick = (event) => {
    const target = event.target.closest("button");
    if (!target || target.disabled) return;
    const { sort, open, remove, retry } = target.dataset;
    if (sort) {
      root.order = root.order && root.order[0] === sort ? [sort, !root.order[1]] : [sort, false];
      draw(root, data);
      root.querySelector(`[data-sort="${sort}"]`).focus();
    } else if (open) setTriggerValue("open", open);
    else if (remove) setTriggerValue("remove", remove);
    else if (retry) setTriggerValue("retry", retry);
  };
}
