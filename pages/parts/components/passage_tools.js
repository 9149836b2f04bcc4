// The line of tools: pages, size, search, outline, the original.
const FITS = ["auto", "width", "page"];

const drawTools = (data, pages) => {
  const bar = make("div", "bar");
  const tools = {};
  const tool = (name, label, symbol, act) => {
    tools[name] = button("tool", label, symbol, true);
    tools[name].dataset.act = name;
    tools[name].onclick = act;
    return tools[name];
  };
  const group = (name, ...parts) => {
    const element = make("div", `group ${name}`);
    element.append(...parts);
    bar.append(element);
  };
  const where = make("span", "where");
  const size = button("tool size", "");
  size.dataset.act = "size";
  size.onclick = () => pages.setFit(FITS[(FITS.indexOf(pages.fit) + 1) % 3]);
  group("turning", tool("previous", _("Previous page"), "left", () => pages.go(pages.page - 1)), where,
    tool("next", _("Next page"), "right", () => pages.go(pages.page + 1)));
  group("sizing", tool("smaller", _("Smaller"), "minus", () => pages.zoom(1 / 1.2)), size,
    tool("larger", _("Larger"), "plus", () => pages.zoom(1.2)));
  const save = make("a", "tool");
  save.href = viewerUrl(data.document, "/original");
  save.download = "";
  save.title = _("Download the original");
  save.setAttribute("aria-label", save.title);
  save.append(icon("save"));
  const flow = tool("flow", _("Show the text alone"), "text", () => {
    pages.setFlow(!pages.flow);
    flow.setAttribute("aria-pressed", String(pages.flow));
    bar.dataset.flow = String(pages.flow);
  });
  flow.setAttribute("aria-pressed", "false");
  flow.hidden = !data.drawn;
  bar.dataset.flow = String(!data.drawn);
  group("others", tool("find", _("Search in this document"), "find", null), tool("outline", _("Outline"), "outline", null), flow,
    tool("wide", _("Wide"), "wide", () => tools.wide.setAttribute("aria-pressed", String(document.documentElement.classList.toggle("lectern-wide")))),
    save);
  tools.wide.setAttribute("aria-pressed", String(document.documentElement.classList.contains("lectern-wide")));
  for (const name of ["previous", "next", "find", "outline"]) tools[name].disabled = true; // until there are pages
  return { bar, tools, where, size };
};

// Which page it is; a click makes it a field for another one.
const tellPage = ({ where, tools }, pages, over = false) => {
  const { page, about } = pages;
  const label = about.pages[page - 1][2];
  const values = { page, whole: about.pages.length, label };
  const named = label && label !== String(page);
  const words = pages.sound
    ? named ? _("Minute {page} of {whole} (from {label})", values) : _("Minute {page} of {whole}", values)
    : named ? _("Page {label} ({page} of {whole})", values) : _("Page {page} of {whole}", values);
  const open = button("tool", words);
  open.title = _("Go to a page");
  open.dataset.act = "page";
  open.onclick = () =>
    edit(where, {
      value: pages.sound ? String(page) : label || String(page), label: _("Page"), stop: () => tellPage({ where, tools }, pages, true),
      save: (text) => {
        const number = about.pages.findIndex((one) => one[2] === text) + 1;
        pages.go(number || Number.parseInt(text, 10) || page);
        tellPage({ where, tools }, pages, true);
        pages.view.focus({ preventScroll: true });
      },
    });
  if (over || !where.querySelector("input")) where.replaceChildren(open);
  tools.previous.disabled = page <= 1;
  tools.next.disabled = page >= about.pages.length;
};

const tellSize = ({ size }, fit, percent) => {
  size.firstChild.textContent = `${percent} %`;
  const titles = {
    auto: _("Fit the text; a click fits the width"), width: _("Fit the width; a click fits the page"), page: _("Fit the page; a click fits the text"),
  };
  size.title = titles[fit] || _("As chosen; a click fits the text");
  size.setAttribute("aria-label", _("{percent} percent. {what}", { percent, what: size.title }));
};

// A recording is played from the minute that is read.
const drawPlayer = (data) => {
  const player = make(data.sound, "player");
  player.controls = true;
  player.preload = "metadata";
  player.src = viewerUrl(data.document, "/original");
  player.setAttribute("aria-label", _("Recording"));
  return player;
};

// A field over the pages; its hits are stepped through.
const drawFinder = (pages, stop) => {
  const finder = make("div", "finder");
  finder.setAttribute("role", "search");
  const field = make("input", "edit");
  field.placeholder = _("Search in this document");
  field.setAttribute("aria-label", field.placeholder);
  const said = make("span", "quiet said");
  said.setAttribute("role", "status");
  let [at, late, asked] = [-1, 0, ""];
  const move = (step) => {
    if (!pages.hits.length) return;
    at = (at + step + pages.hits.length) % pages.hits.length;
    pages.show(pages.hits[at]);
    said.textContent = _("{at} of {whole}", { at: at + 1, whole: `${pages.hits.length}${finder.more ? "+" : ""}` });
  };
  const look = async () => {
    const words = field.value.trim();
    if (words === asked) return;
    asked = words;
    const found = words ? await ask(viewerUrl(pages.id, "/find", [["q", words]])).catch(() => ({ hits: [] })) : { hits: [] };
    if (asked !== words) return;
    finder.more = found.more;
    at = Math.max(found.hits.findIndex(([page]) => page >= pages.page), 0) - 1;
    pages.hits = found.hits;
    said.textContent = words ? _("Not in this document") : "";
    if (found.hits.length) move(1);
    else pages.show(null);
  };
  field.oninput = () => {
    clearTimeout(late);
    late = setTimeout(look, 250);
  };
  field.onkeydown = async (event) => {
    event.stopPropagation(); // letters are shortcuts of the page
    if (event.key === "Escape") stop();
    if (event.key !== "Enter") return;
    if (field.value.trim() === asked) move(event.shiftKey ? -1 : 1);
    else await look();
  };
  const [before, after, close] = [[_("Previous hit"), "up"], [_("Next hit"), "down"], [_("Close the search"), "close"]].map(([label, name]) => button("tool", label, name, true));
  before.onclick = () => move(-1);
  after.onclick = () => move(1);
  close.onclick = stop;
  finder.append(field, said, before, after, close);
  finder.field = field;
  finder.end = () => pages.setHits([], -1);
  return finder;
};

// As the document calls a page, else its place.
const tellPlace = (pages, page) => {
  const label = pages.about.pages[page - 1][2];
  return pages.sound && label ? label : _("p. {page}", { page: label || page });
};

const drawOutline = (pages, stop) => {
  const list = make("nav", "headings");
  list.setAttribute("aria-label", _("Outline"));
  const { sections } = pages.about;
  sections.forEach(([title, level, page, start]) => {
    const row = button("row", title);
    row.style.paddingInlineStart = `${0.75 + 0.9 * Math.min(level - 1, 5)}rem`;
    row.append(make("span", "quiet", tellPlace(pages, page)));
    row.onclick = () => {
      pages.show([page, start, start + [...title].length]);
      stop();
    };
    list.append(row);
  });
  const here = sections.findLastIndex(([, , page]) => page <= pages.page);
  requestAnimationFrame(() => {
    list.children[here]?.setAttribute("aria-current", "true");
    list.children[here]?.scrollIntoView({ block: "center" });
    (list.children[here] || list.firstChild).focus({ preventScroll: true });
  });
  list.onkeydown = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    event.preventDefault();
    stop();
  };
  return list;
};
