// The pages of a document one below the other: those near what is seen are fetched, drawn, and let go of again.
const PAD_PX = 12;
const PICTURES_PX = [1000, 1400, 2000, 2800, 4000];
const POINTS_PER_INCH = 72;
const PIXELS_PER_INCH = 96;
const LETTER = [612, 792]; // of a page whose size is not known
// How high lines of text, without what is between them, are at most where the text fits, and where that leaves less than
// the least: then it is moved sideways.
const LINE_PX = { least: 6, instead: 9, most: 14 };
const MARGIN = 0.02; // left beside the text, of a page's width
const KEPT = 8; // pages on each side that stay drawn
const NARROWEST = 0.2;
const WIDEST = 6;

class Pages {
  constructor(view, data, told) {
    Object.assign(this, { view, told, id: data.document, title: data.title, flow: !data.drawn, drawn: data.drawn, sound: data.sound });
    Object.assign(this, { fit: "auto", scale: 1, page: data.page, hits: [], now: null, pending: null, about: null });
    this.column = make("div", "pages");
    view.replaceChildren(this.column);
    this.near = new IntersectionObserver((seen) => this.come(seen), { root: view, rootMargin: "400px 0px" });
    this.size = new ResizeObserver(() => this.fitIn());
    view.onscroll = () => requestAnimationFrame(() => this.look());
    view.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  async start(target) {
    this.target = target;
    try {
      this.about = await ask(viewerUrl(this.id));
    } catch (problem) {
      return this.told.problem(problem);
    }
    this.size.observe(this.view);
  }

  // The panel has another size, or one at all.
  fitIn() {
    if (!this.view.clientWidth || !this.view.clientHeight) return;
    if (this.slots) return this.rescale();
    this.lay();
    this.told.ready(this.about);
    this.open(this.target);
  }

  lay() {
    this.near.disconnect();
    this.slots = this.about.pages.map(([width, height, label], place) => {
      const slot = make("div", this.flow ? "page flow" : "page");
      const size = width > 0 && height > 0 ? [width, height] : LETTER;
      Object.assign(slot, { number: place + 1, label, size });
      slot.dataset.page = String(place + 1);
      slot.style.setProperty("--w", size[0]);
      slot.style.setProperty("--h", size[1]);
      return slot;
    });
    this.column.replaceChildren(...this.slots);
    this.rescale();
    this.slots.forEach((slot) => this.near.observe(slot));
  }

  // Pages as they look, or their text set anew as wide as there is room.
  setFlow(flow) {
    this.flow = flow;
    const page = this.page;
    this.lay();
    this.go(page, this.target.page === page && this.target.cited ? ".box, mark.cited" : null);
  }

  // What fits as it should: the text across the panel, the page across it, or the whole page.
  fitted() {
    const wide = this.view.clientWidth - 2 * PAD_PX;
    const high = this.view.clientHeight - 2 * PAD_PX;
    const widths = this.slots.map((slot) => slot.size[0]).sort((a, b) => a - b);
    const width = widths[widths.length >> 1];
    const { set } = this.about;
    if (this.fit === "page") return Math.min(wide / width, high / this.slots[this.page - 1].size[1]);
    if (this.fit === "width" || !set || set.line_pt <= 0) return wide / width;
    const share = Math.min(Math.max(set.right - set.left, 0.3) + 2 * MARGIN, 1);
    const scale = Math.min(wide / (share * width), LINE_PX.most / set.line_pt);
    return scale * set.line_pt < LINE_PX.least ? LINE_PX.instead / set.line_pt : scale;
  }

  // `height`: what stays where it is, from the upper edge of what is seen.
  rescale(height = 0) {
    const at = this.anchor(height);
    const scale = typeof this.fit === "number" ? this.fit : this.fitted();
    this.scale = Math.min(Math.max(scale, NARROWEST), WIDEST);
    this.column.style.setProperty("--scale", this.scale);
    this.column.style.setProperty("--zoom", (this.scale * POINTS_PER_INCH) / PIXELS_PER_INCH);
    this.hold(at, height);
    this.told.scaled(this.fit, Math.round((this.scale * POINTS_PER_INCH * 100) / PIXELS_PER_INCH));
    clearTimeout(this.sharpening);
    this.sharpening = setTimeout(() => this.slots.forEach((slot) => slot.seen && this.sharpen(slot)), 200);
  }

  setFit(fit) {
    this.fit = fit;
    this.rescale(this.view.clientHeight / 3);
    if (fit !== "page" && typeof fit !== "number") this.centre();
  }

  zoom(factor) {
    this.setFit(Math.min(Math.max(this.scale * factor, NARROWEST), WIDEST));
  }

  wheel(event) {
    if (!event.ctrlKey || this.flow) return;
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY / 300));
  }

  // Where that lies on its page, and back there once all is of another size.
  anchor(height) {
    const slot = this.slots[this.page - 1];
    if (!slot?.offsetHeight) return null;
    const { scrollTop, scrollLeft, clientWidth, scrollWidth } = this.view;
    const y = (scrollTop + height - slot.offsetTop) / slot.offsetHeight;
    return { slot, y, x: (scrollLeft + clientWidth / 2) / scrollWidth };
  }

  hold(at, height) {
    if (!at) return;
    this.view.scrollTop = at.slot.offsetTop + at.y * at.slot.offsetHeight - height;
    this.view.scrollLeft = at.x * this.view.scrollWidth - this.view.clientWidth / 2;
  }

  // The text of a page that is wider than the panel begins at its left edge.
  centre() {
    const slot = this.slots[this.page - 1];
    const { set } = this.about;
    if (this.flow || !set || slot.offsetWidth <= this.view.clientWidth) return;
    const text = [(set.left - MARGIN) * slot.offsetWidth, (set.right + MARGIN) * slot.offsetWidth];
    const spare = Math.max(this.view.clientWidth - (text[1] - text[0]), 0) / 2;
    this.view.scrollLeft = slot.offsetLeft + text[0] - spare;
  }

  look() {
    if (!this.slots?.length) return;
    const line = this.view.scrollTop + this.view.clientHeight / 3;
    let [low, high] = [0, this.slots.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.slots[middle].offsetTop <= line) low = middle;
      else high = middle - 1;
    }
    if (this.slots[low].number === this.page) return;
    this.page = this.slots[low].number;
    this.told.page(this.page);
  }

  come(seen) {
    seen.forEach(({ target, isIntersecting }) => {
      target.seen = isIntersecting;
      clearTimeout(target.coming);
      if (isIntersecting) target.coming = setTimeout(() => this.fill(target), 60); // not those that are scrolled past
    });
    this.slots.forEach((slot) => {
      if (slot.firstChild && !slot.seen && !this.flow && Math.abs(slot.number - this.page) > KEPT) this.empty(slot);
    });
  }

  empty(slot) {
    slot.replaceChildren();
    slot.marks = slot.asked = slot.picture = undefined;
  }

  wanted(number) {
    const spans = { cited: [], near: [], hit: [], now: [] };
    if (this.target.page === number && this.target.cited) spans.cited.push(this.target.cited);
    if (this.target.page === number && this.target.near) spans.near.push(this.target.near);
    this.hits.forEach(([page, ...span]) => page === number && spans.hit.push(span));
    if (this.now?.[0] === number) spans.now.push(this.now.slice(1));
    return Object.entries(spans).flatMap(([kind, found]) => found.map((span) => [kind, span.join("-")]));
  }

  async fill(slot) {
    const wanted = this.wanted(slot.number);
    const key = JSON.stringify(wanted);
    if (!this.flow) this.sharpen(slot);
    if (slot.marks === key) return this.arrive(slot);
    if (slot.asked === key) return;
    slot.asked = key;
    const read = slot.querySelector(".words") !== null;
    const how = [...wanted, ...(this.flow ? [["flow", "1"]] : read ? [["marks", "1"]] : [])];
    try {
      const found = await ask(viewerUrl(this.id, `/pages/${slot.number}`, how));
      if (slot.asked !== key || !slot.isConnected) return;
      slot.marks = key;
      if (found.blocks) this.set(slot, found.blocks);
      else this.mark(slot, found);
      this.arrive(slot);
      if (this.flow) this.look(); // until it had its text, the page was lower than a line
    } catch (problem) {
      this.empty(slot);
      slot.append(drawProblem(problem));
    }
  }

  set(slot, blocks) {
    const parts = [drawText(blocks, (figure) => viewerUrl(this.id, `/pages/${slot.number}/figures/${figure}`))];
    if (this.slots.length > 1) parts.unshift(make("p", "turn quiet", _("Page {page}", { page: slot.label || slot.number })));
    slot.replaceChildren(...parts);
  }

  mark(slot, { marks, lines, sure, figures }) {
    const sheet = slot.querySelector(".sheet");
    sheet.querySelectorAll(".box, .near, .hit, .framed").forEach((mark) => mark.remove());
    // Below the words, in this order: what stands around a passage lies under it.
    const order = ["near", "cited", "hit", "now"];
    const drawn = [...marks].sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0])).map(drawMark);
    if (!sheet.querySelector(".words")) sheet.append(drawWords(lines, slot.size[1] / slot.size[0]));
    sheet.querySelector(".words").before(...drawn);
    const boxes = figures.map(({ box }) => box).filter(Boolean);
    sheet.querySelector(".words").before(...boxes.map((box) => drawMark(["figure", ...box])));
    if (!sure) drawn.forEach((mark) => (mark.title = _("About here: the text was read off the picture")));
  }

  // A picture with as many pixels as are shown of it.
  sharpen(slot) {
    if (this.flow) return;
    const needed = slot.offsetWidth * devicePixelRatio * 0.9;
    const width = PICTURES_PX.find((pixels) => pixels >= needed) || PICTURES_PX.at(-1);
    if (slot.picture >= width) return;
    slot.picture = width;
    if (!slot.firstChild) slot.append(make("div", "sheet"));
    const picture = make("img");
    picture.alt = _("Picture of page {page} of {title}", { page: slot.number, title: visible(this.title) });
    picture.onload = () => {
      if (slot.picture !== width || !slot.firstChild) return; // let go of meanwhile
      this.shape(slot, picture.naturalWidth / picture.naturalHeight);
      slot.querySelector("img")?.remove();
      slot.firstChild.prepend(picture);
    };
    picture.onerror = () => slot.firstChild?.replaceChildren(drawProblem({ message: _("Page {page} cannot be drawn.", { page: slot.number }) }));
    picture.src = viewerUrl(this.id, `/pages/${slot.number}/picture`, [["width", width]]);
  }

  // A page that text recognition turned upright has another shape than its file says.
  shape(slot, ratio) {
    const [width, height] = slot.size;
    if (Math.abs((ratio * height) / width - 1) < 0.05) return;
    slot.size = Math.abs((ratio * width) / height - 1) < 0.05 ? [height, width] : [width, width / ratio];
    slot.style.setProperty("--w", slot.size[0]);
    slot.style.setProperty("--h", slot.size[1]);
  }

  // A place comes into view inside the panel; the page around it does not move.
  open(target, { scroll = true } = {}) {
    this.target = target;
    if (!this.slots) return;
    const page = Math.min(Math.max(target.page, 1), this.slots.length);
    if (scroll) this.go(page, target.cited ? ".box, mark.cited" : null);
    this.refresh();
  }

  go(page, mark = null) {
    if (!this.slots) return;
    const slot = this.slots[Math.min(Math.max(page, 1), this.slots.length) - 1];
    this.pending = { slot, mark };
    this.view.scrollTop = Math.max(slot.offsetTop - PAD_PX, 0);
    this.centre();
    this.look();
    this.fill(slot);
  }

  show(place) {
    this.now = place;
    if (place) this.go(place[0], ".now");
    this.refresh();
  }

  setHits(hits, at) {
    this.hits = hits;
    this.show(hits[at] || null);
  }

  refresh() {
    this.slots?.forEach((slot) => slot.firstChild && this.fill(slot));
  }

  arrive(slot) {
    if (this.pending?.slot !== slot) return;
    const { mark } = this.pending;
    const found = mark && slot.querySelector(mark);
    this.pending = null;
    if (!found) return this.view.scrollTo({ top: Math.max(slot.offsetTop - PAD_PX, 0), left: this.view.scrollLeft });
    const [place, seen] = [found.getBoundingClientRect(), this.view.getBoundingClientRect()];
    const framed = found.matches(".box") ? slot.querySelector(".framed")?.getBoundingClientRect() : null;
    const top = Math.min(place.top, framed ? framed.top : place.top) - seen.top;
    // A figure is seen with its caption, as far as both have room.
    const fits = framed && place.bottom - seen.top - top < this.view.clientHeight;
    this.view.scrollTop += fits ? top - PAD_PX : place.top - seen.top - this.view.clientHeight / 4;
    const cell = found.closest("td, th");
    const wide = cell?.closest(".wide");
    if (wide) wide.scrollLeft = cell.getBoundingClientRect().right - wide.getBoundingClientRect().right;
    else if (place.left < seen.left || place.right > seen.right) this.view.scrollLeft += place.left - seen.left - 2 * PAD_PX;
    this.look();
  }

  end() {
    this.near.disconnect();
    this.size.disconnect();
    clearTimeout(this.sharpening);
  }
}
