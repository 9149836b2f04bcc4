// The evidence behind a number that is pointed at, or has the focus: the quote, and the page around it as a small picture.
const DELAY_MS = 60;
const CROP_PX = 1400; // of the page's picture
const AROUND = 0.025; // shown beside what is marked, of the page
const HIGHEST_PX = 170;
const HIGHEST_FIGURE_PX = 320;

// What of the page is shown, in fractions of it: all of the marks, and most of its width, as a row's label stands far
// from its figures.
const cropOf = (marks) => {
  const [lefts, tops, rights, bottoms] = [1, 2, 3, 4].map((at) => marks.map((mark) => mark[at]));
  const width = Math.min(Math.max(Math.max(...rights) - Math.min(...lefts) + 2 * AROUND, 0.86), 1);
  const left = Math.min(Math.max(Math.min(...lefts) - AROUND, 0), (1 - width) / 2);
  return { left, width, top: Math.max(Math.min(...tops) - AROUND, 0), bottom: Math.min(Math.max(...bottoms) + AROUND, 1) };
};

const drawCrop = (card, picture, marks, figures, title) => {
  const crop = cropOf([...marks, ...figures]);
  const highest = figures.length ? HIGHEST_FIGURE_PX : HIGHEST_PX;
  const wanted = card.clientWidth / (crop.width * picture.naturalWidth);
  // A figure is shown whole, however small; of a passage its beginning, as large as can be.
  const scale = figures.length ? Math.min(wanted, highest / ((crop.bottom - crop.top) * picture.naturalHeight)) : wanted;
  const [wide, high] = [picture.naturalWidth * scale, picture.naturalHeight * scale];
  const frame = make("div", "crop");
  frame.style.height = `${Math.min((crop.bottom - crop.top) * high, highest)}px`;
  const sheet = make("div", "leaf");
  sheet.style.cssText = `width:${wide}px;height:${high}px;left:${(card.clientWidth - crop.width * wide) / 2 - crop.left * wide}px;top:${-crop.top * high}px`;
  picture.alt = _("Part of a page of {title}", { title: visible(title) });
  sheet.append(picture);
  marks.forEach(([, ...edges]) => {
    const [left, top, right, bottom] = edges.map((edge) => edge * 100);
    const mark = make("div", "marked");
    mark.style.cssText = `left:${left}%;top:${top}%;width:${right - left}%;height:${bottom - top}%`;
    sheet.append(mark);
  });
  frame.append(sheet);
  return frame;
};

// A picture that the file holds, whole.
const drawHeld = (picture, title) => {
  const frame = make("div", "held");
  picture.alt = _("Picture of {title}", { title: visible(title) });
  picture.style.maxHeight = `${HIGHEST_FIGURE_PX}px`;
  frame.append(picture);
  return frame;
};

// The places of the marks and the picture, or that of a figure whose caption is cited; null where the document has
// neither. Asked for once.
const evidence = new Map();
const evidenceOf = ({ place: [id, page, span] }) => {
  const key = [id, page, span].join();
  if (!evidence.has(key)) {
    const picture = new Image();
    const loaded = new Promise((done, failed) => Object.assign(picture, { onload: done, onerror: failed }));
    const asked = ask(viewerUrl(id, `/pages/${page}`, [["marks", "1"], ["cited", span]])).then(async ({ marks = [], figures = [] }) => {
      if (!marks.length && !figures.length) return null;
      const held = marks.length ? null : `/pages/${page}/figures/${figures[0].number}`;
      picture.src = viewerUrl(id, held || `/pages/${page}/picture`, held ? [] : [["width", CROP_PX]]);
      await loaded;
      return { marks, picture, figures: figures.filter(({ box }) => box).map(({ box }) => ["figure", ...box]) };
    });
    evidence.set(key, asked.catch(() => null));
    if (evidence.size > 60) evidence.delete(evidence.keys().next().value);
  }
  return evidence.get(key);
};

const drawCard = (source) => {
  const card = make("div", "card");
  card.id = "evidence";
  card.popover = "manual";
  card.setAttribute("role", "tooltip");
  const head = make("p", "whence");
  head.append(make("span", "title", source.title), make("span", "quiet", source.page));
  card.append(head, make("blockquote", "", source.quote));
  return card;
};

// Above the number where there is room, else below.
const place = (card, mark) => {
  const [at, own] = [mark.getBoundingClientRect(), card.getBoundingClientRect()];
  const above = at.top - own.height - 8;
  const top = above >= 8 ? above : Math.min(at.bottom + 8, innerHeight - own.height - 8);
  const left = Math.min(Math.max(at.left - 24, 8), innerWidth - own.width - 8);
  card.style.cssText += `;left:${left}px;top:${Math.max(top, 8)}px`;
};

const hideEvidence = (root) => {
  clearTimeout(root.pointing);
  root.card?.remove();
  root.card = null;
};

const showEvidence = async (root, mark, source) => {
  hideEvidence(root);
  const card = (root.card = drawCard(source));
  root.append(card);
  card.showPopover();
  mark.setAttribute("aria-describedby", card.id);
  place(card, mark);
  const found = await evidenceOf(source);
  if (!found || root.card !== card) return;
  const picture = found.picture.cloneNode();
  const drawn = found.marks.length
    ? drawCrop(card, picture, found.marks, found.figures, source.title)
    : drawHeld(picture, source.title);
  card.querySelector("blockquote").before(drawn);
  place(card, mark);
};

const listenForEvidence = (root, data) => {
  const sourceOf = (target) => {
    const mark = target?.closest?.(".cite[data-number]");
    const source = mark && data.sources.find(({ number, place: known }) => known && String(number) === mark.dataset.number);
    return source ? [mark, source] : null;
  };
  const point = (event, delay) => {
    const found = sourceOf(event.target);
    if (!found || event.pointerType === "touch") return;
    evidenceOf(found[1]); // asked for while one waits
    clearTimeout(root.pointing);
    root.pointing = setTimeout(() => found[0].isConnected && showEvidence(root, ...found), delay);
  };
  root.onpointerover = (event) => point(event, DELAY_MS);
  root.onpointerout = (event) => sourceOf(event.target) && hideEvidence(root);
  root.listening?.abort(); // of what was drawn before
  root.listening = new AbortController();
  const { signal } = root.listening;
  root.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && point(event, DELAY_MS), { signal });
  root.addEventListener("focusout", () => hideEvidence(root), { signal });
  root.onkeydown = (event) => {
    if (event.key !== "Escape" || !root.card) return;
    event.stopPropagation();
    hideEvidence(root);
  };
  root.onpointerdown = () => hideEvidence(root);
};
