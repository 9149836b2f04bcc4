// After an @ what it can mean: documents, tags, sections and collections. The arrows choose, Enter or Tab takes one.
const MENTION = /(?:^|[\s(])@("?)([^"@\n]{0,60})$/;
const begun = (line) => line.value.slice(0, line.selectionStart).match(MENTION);

const closeMentions = (root) => {
  root.mentions?.remove();
  root.mentions = null;
};

const takeMention = (root, line, label) => {
  const match = begun(line), at = line.selectionStart;
  const start = at - match[2].length - match[1].length - 1, text = `@"${label.replaceAll('"', "")}" `;
  const setValue = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set;
  setValue.call(line, line.value.slice(0, start) + text + line.value.slice(at)); // so that Streamlit hears of it
  line.dispatchEvent(new Event("input", { bubbles: true }));
  line.setSelectionRange(start + text.length, start + text.length);
  closeMentions(root);
};

const markMention = (root, at) => {
  const rows = [...root.mentions.querySelectorAll("li")];
  root.at = (at + rows.length) % rows.length;
  rows.forEach((row, place) => row.setAttribute("aria-selected", String(place === root.at)));
  rows[root.at].scrollIntoView({ block: "nearest" });
  root.mentions.querySelector(".unheard").textContent = rows[root.at].textContent;
};

const drawMentions = (root, line, found) => {
  const kinds = { document: _("document"), collection: _("collection"), tag: _("tag"), section: _("section") };
  closeMentions(root);
  if (!found.length) return;
  const box = make("div", "mentions"), list = make("ul"), heard = make("span", "unheard");
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", _("What @ can mean"));
  heard.setAttribute("role", "status");
  found.forEach((one) => {
    const row = make("li");
    row.setAttribute("role", "option");
    row.dataset.label = one.label;
    row.append(make("span", "label", one.label), make("span", "quiet", one.of || ` ${kinds[one.kind]}`));
    row.onpointerdown = (event) => {
      event.preventDefault(); // the line keeps the focus
      takeMention(root, line, one.label);
    };
    list.append(row);
  });
  const place = line.getBoundingClientRect();
  Object.assign(box.style, { left: `${place.left}px`, width: `${place.width}px`, bottom: `${innerHeight - place.top + 10}px` });
  box.append(list, heard);
  box.popover = "manual"; // above everything, wherever the line stands
  root.append(box);
  box.showPopover();
  root.mentions = box;
  markMention(root, 0);
};

const lookForMentions = async (root, line) => {
  const match = begun(line);
  const turn = (root.turnOfMentions = (root.turnOfMentions || 0) + 1);
  if (!match) return closeMentions(root);
  const told = await ask(findUrl(match[2], true)).catch(() => ({ found: [] }));
  if (turn === root.turnOfMentions && begun(line)) drawMentions(root, line, told.found);
};

const mentionKey = (root, event) => {
  if (!root.mentions || event.isComposing) return;
  const steps = { ArrowDown: 1, ArrowUp: -1 };
  if (event.key in steps) markMention(root, root.at + steps[event.key]);
  else if (event.key === "Enter" || event.key === "Tab") takeMention(root, event.target, root.mentions.querySelectorAll("li")[root.at].dataset.label);
  else if (event.key === "Escape") closeMentions(root);
  else return;
  event.preventDefault();
  event.stopImmediatePropagation();
};
