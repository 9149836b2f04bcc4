// Lines that open a page: a document's sections, or what is to be known of its pages.
const drawRow = (row) => {
  const line = make(row.page ? "button" : "div", `row${row.warn ? " warn" : ""}${row.level === 1 && !row.warn ? " first" : ""}`);
  if (row.page) {
    line.type = "button";
    line.dataset.page = row.page;
    line.setAttribute("aria-current", String(row.here));
  }
  line.style.paddingLeft = `${0.5 + Math.max(row.level - 1, 0) * 1.1}rem`;
  const name = make("span", "name", row.name);
  if (row.detail) name.append(make("span", "detail quiet", row.detail));
  line.append(name);
  if (row.place) line.append(make("span", "place quiet", row.place));
  return line;
};

export default function ({ data, parentElement, setTriggerValue }) {
  speak(data);
  const root = parentElement.querySelector(".outline");
  const items = data.rows.length ? data.rows : [{ empty: data.empty }];
  patch(root, items, (row) => (row.empty ? make("p", "quiet", row.empty) : drawRow(row)));
  root.onclick = (event) => {
    const line = event.target.closest("[data-page]");
    if (line) setTriggerValue("open", data.rows[[...root.children].indexOf(line)].open);
  };
}
