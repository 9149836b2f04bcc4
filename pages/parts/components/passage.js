// How wide the panel is beside the conversation: kept, as far as the browser keeps anything.
const WIDTH = "lectern-panel";
const setWidth = (pixels) => {
  const width = Math.round(Math.min(Math.max(pixels, 360), innerWidth - 320));
  document.documentElement.style.setProperty("--lectern-panel", `${width}px`);
  try {
    localStorage.setItem(WIDTH, String(width));
  } catch {} // a browser may keep nothing
};
try {
  if (localStorage.getItem(WIDTH)) setWidth(Number(localStorage.getItem(WIDTH)));
} catch {} // as above

const drawGrip = (root) => {
  const grip = make("div", "grip");
  grip.tabIndex = 0;
  grip.setAttribute("role", "separator");
  grip.setAttribute("aria-orientation", "vertical");
  grip.setAttribute("aria-label", _("Width of the document"));
  const say = () => {
    const share = Math.round((100 * root.clientWidth) / innerWidth);
    Object.entries({ valuemin: 10, valuemax: 100, valuenow: share }).forEach(([name, value]) => grip.setAttribute(`aria-${name}`, String(value)));
  };
  grip.setAttribute("aria-valuenow", "50");
  grip.onfocus = say;
  grip.onpointerdown = (event) => {
    event.preventDefault();
    grip.setPointerCapture(event.pointerId);
    grip.onpointermove = (moved) => setWidth(innerWidth - moved.clientX);
  };
  grip.onpointerup = () => (grip.onpointermove = null);
  grip.onkeydown = ({ key }) => {
    const step = { ArrowLeft: 40, ArrowRight: -40 }[key];
    if (step) setWidth(root.clientWidth + step);
    say();
  };
  return grip;
};

const slotted = (root, name, part) => {
  root[name]?.remove();
  root[name] = part;
  return part;
};

// What stands around the pages is drawn anew with whatever is opened; the pages stay where they are.
const dress = (root, data, act) => {
  const focused = root.getRootNode().activeElement?.dataset.act;
  if (data.closable) root.prepend(slotted(root, "head", drawHead(data, act)));
  slotted(root, "facts", drawFacts(data));
  if (data.facts.length || data.address) root.view.before(root.facts);
  const warning = slotted(root, "warning", data.warning ? drawWarning(data.warning) : make("span"));
  if (data.warning) root.view.before(warning);
  const quote = slotted(root, "quote", data.quote ? drawQuote(data) : make("span"));
  if (data.quote) root.append(quote);
  if (focused) root.querySelector(`[data-act="${focused}"]:not(:disabled)`)?.focus({ preventScroll: true });
};

const KEYS = {
  ArrowRight: (root) => root.pages.go(root.pages.page + 1),
  ArrowLeft: (root) => root.pages.go(root.pages.page - 1),
  "+": (root) => root.pages.zoom(1.2),
  "=": (root) => root.pages.zoom(1.2),
  "-": (root) => root.pages.zoom(1 / 1.2),
  0: (root) => root.pages.setFit("auto"),
  "/": (root) => root.find(),
};

// Keys while the pages have the focus. Up, down and page keys move them by themselves.
const press = (root, event) => {
  if (event.target.matches("input")) return;
  const { key, ctrlKey, metaKey, altKey } = event;
  const finds = (ctrlKey || metaKey) && key === "f";
  const sideways = key.startsWith("Arrow") && root.view.scrollWidth > 1.25 * root.view.clientWidth; // margins are no matter
  if (!root.pages?.about || altKey || ((ctrlKey || metaKey) && !finds)) return;
  if (!finds && (!KEYS[key] || sideways)) return;
  event.preventDefault();
  event.stopPropagation();
  if (finds) root.find();
  else KEYS[key](root);
};

const report = (root, act) => {
  root.awaited.push(root.pages.page);
  act("page", root.pages.page);
};

// What a tool opens below the line of tools, and closes again.
const opener = (root, tool, draw) => {
  let part = null;
  const stop = () => {
    part.remove();
    part.end?.();
    part = null;
    tool.setAttribute("aria-expanded", "false");
    tool.focus({ preventScroll: true });
  };
  tool.setAttribute("aria-expanded", "false");
  tool.onclick = () => {
    if (part) return stop();
    part = draw(root.pages, stop);
    root.tools.bar.after(part);
    part.field?.focus();
    tool.setAttribute("aria-expanded", "true");
  };
  return () => (part ? part.field.select() : tool.click());
};

// Away from the passage there is a way back.
const offerBack = (root) => {
  const { target, page } = root.pages;
  root.back?.remove();
  if (!target.cited || target.page === page) return;
  root.back = button("tool back", _("Back to the passage"), "back");
  root.back.onclick = () => {
    root.pages.open(target);
    root.view.focus({ preventScroll: true });
  };
  root.view.after(root.back);
};

const openPages = (root, data, act) => {
  root.awaited = [];
  const told = {
    problem: (problem) => root.view.replaceChildren(drawProblem(problem)),
    ready: (about) => {
      tellPage(root.tools, root.pages);
      for (const name of ["find", "outline"]) root.tools.tools[name].disabled = false;
      root.tools.tools.outline.hidden = !about.sections.length;
    },
    scaled: (fit, percent) => tellSize(root.tools, fit, percent),
    page: () => {
      tellPage(root.tools, root.pages);
      if (root.player?.paused) root.player.currentTime = 60 * (root.pages.page - 1);
      offerBack(root);
      clearTimeout(root.reporting);
      if (data.follows) root.reporting = setTimeout(() => report(root, act), 500);
    },
  };
  root.pages = new Pages(root.view, data, told);
  root.tools = drawTools(data, root.pages);
  root.view.before(root.tools.bar);
  root.player = data.sound ? drawPlayer(data) : null;
  if (root.player) root.view.before(root.player);
  root.find = opener(root, root.tools.tools.find, drawFinder);
  opener(root, root.tools.tools.outline, drawOutline);
  root.pages.start(targetOf(data));
};

const targetOf = ({ page, cited, near }) => ({ page, cited, near });

const build = (root, data, act) => {
  root.pages?.end();
  root.view = make("div", "view");
  root.view.tabIndex = 0;
  root.view.setAttribute("aria-label", _("Pages"));
  root.replaceChildren(root.view);
  root.pages = null;
  if (data.closable) root.append(drawGrip(root));
  if (data.problem) root.view.append(drawProblem(data.problem));
  else openPages(root, data, act);
};

// A page that was reported as looked at comes back as the one to show: nothing is moved then.
const echoes = (root, { page }) => {
  const place = root.awaited.indexOf(page);
  if (place >= 0) root.awaited.splice(0, place + 1);
  return place >= 0;
};

const listen = (root, data, act) => {
  root.onkeydown = (event) => press(root, event);
  if (root.onEscape) document.removeEventListener("keydown", root.onEscape);
  root.onEscape = (event) => {
    if (event.key === "Escape" && !event.defaultPrevented && !document.querySelector('[role="dialog"]')) act("close", true);
  };
  if (data.closable) document.addEventListener("keydown", root.onEscape);
};

export default function ({ data, parentElement, setTriggerValue }) {
  speak(data);
  const root = parentElement.querySelector(".passage");
  const act = (name, value) => setTriggerValue(name, value);
  listen(root, data, act);
  const key = JSON.stringify(data);
  if (root.dataKey !== key) {
    const first = root.dataKey === undefined;
    const opened = JSON.stringify([data.document, data.problem]);
    root.dataKey = key;
    if (root.opened !== opened) build(root, data, act);
    else if (root.pages) root.pages.open(targetOf(data), { scroll: !echoes(root, data) });
    root.opened = opened;
    dress(root, data, act);
    if (first && data.closable) root.querySelector("h2").focus({ preventScroll: true });
  }
  return () => {
    document.removeEventListener("keydown", root.onEscape);
    document.documentElement.classList.remove("lectern-wide");
  };
}
