// A document's tables as they were read, each with its caption and the page that it stands on. Heads of several lines and
// names over whole rows, which st.dataframe does not have, stand as they do on the page.
const drawTable = (table) => {
  if (table.empty) return make("p", "quiet", table.empty);
  const figure = make("section");
  const head = make("header");
  const place = button("place", table.place);
  place.dataset.open = "";
  head.append(make("span", "caption", table.caption), place);
  const wide = make("div", "wide");
  wide.tabIndex = 0;
  wide.setAttribute("aria-label", table.caption);
  const grid = make("table");
  const width = Math.max(...table.rows.map((row) => row.length));
  table.rows.forEach((row, number) => {
    const line = grid.insertRow();
    row.forEach((text) => line.append(number < table.heads ? headCell(text) : make("td", "", text)));
    if (row.length === 1) {
      line.firstChild.colSpan = width;
      line.firstChild.classList.add("group");
    }
  });
  wide.append(grid);
  figure.append(head, wide);
  return figure;
};

export default function ({ data, parentElement, setTriggerValue }) {
  speak(data);
  const root = parentElement.querySelector(".tables");
  patch(root, data.tables.length ? data.tables : [{ empty: data.empty }], drawTable);
  root.onclick = (event) => {
    if (event.target.closest("[data-open]")) {
      const figure = event.target.closest("section");
      setTriggerValue("open", data.tables[[...root.children].indexOf(figure)].open);
    }
  };
}
