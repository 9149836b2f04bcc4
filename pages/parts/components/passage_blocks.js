// Text without pages of its own: headings, tables, lists and paragraphs, with what of it is marked.
const TAGS = { paragraph: "p", item: "li", fixed: "pre" };

const drawParts = (parts) =>
  parts.map(([text, why, kind]) => {
    const part = make(kind && kind !== "near" ? "mark" : "span", `${kind}${why ? " unseen" : ""}`, text);
    if (why) part.title = _("Not to be seen in the document: {why}", { why: hiddenWhy(why) });
    return part;
  });

// What may be wider than the sheet is moved sideways, also by keys.
const widely = (label, content) => {
  const wide = make("div", "wide");
  wide.tabIndex = 0;
  wide.setAttribute("role", "group");
  wide.setAttribute("aria-label", label);
  wide.append(content);
  return wide;
};

const drawTable = (rows) => {
  const table = make("table");
  rows.forEach(({ head, cells }) => {
    const row = table.insertRow();
    cells.forEach(({ span, parts }) => {
      const group = cells.length === 1 ? "group" : "";
      const cell = head ? headCell(parts.map(([text]) => text).join(""), group) : make("td", group);
      cell.colSpan = span;
      cell.replaceChildren(...drawParts(parts));
      row.append(cell);
    });
  });
  return table;
};

const drawBlock = ({ kind, level, parts, rows }) => {
  if (rows) return widely(_("Table"), drawTable(rows));
  const block = make(TAGS[kind] || `h${Math.min(level + 2, 6)}`);
  block.append(...drawParts(parts));
  return kind === "fixed" ? widely(_("Text in columns, or code"), block) : block;
};

// A picture that the file holds; one that cannot be drawn leaves no gap.
const drawFigure = (address) => {
  const figure = make("figure");
  const picture = make("img");
  Object.assign(picture, { alt: _("Picture of the document"), loading: "lazy", onerror: () => figure.remove(), src: address });
  figure.append(picture);
  return figure;
};

const drawText = (blocks, addressOf) => {
  const text = make("div", "text");
  let list = null;
  blocks.forEach((block) => {
    if (block.kind === "item" && !list) {
      list = make("ul");
      list.setAttribute("role", "list"); // which it is for some readers only where it shows marks of its own
      text.append(list);
    } else if (block.kind !== "item") list = null;
    (list || text).append(block.kind === "figure" ? drawFigure(addressOf(block.figure)) : drawBlock(block));
  });
  return text;
};
