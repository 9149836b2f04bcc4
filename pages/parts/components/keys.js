// A slash puts the cursor into the page's line, as in most places where people search; and it is there again when what
// was asked is answered.

// The line that the cursor came to by itself, until something is typed: who presses a slash for it gets none.
let cameTo = null;

// Nothing else has the focus: it was lost with the element that had it, or rests where the line is.
const free = () => {
  const element = focused();
  return !element || element === document.body || Boolean(element.closest(".st-key-chat_foot"));
};

// Or it is on what led here.
const freeAtFirst = () => free() || Boolean(focused().closest('[data-testid="stSidebarNav"]'));

// The line is enabled a moment after its answer is whole, and what led here is closed a moment after it did. On a touch
// screen the keyboard would cover the answer.
const comeTo = (selector, may = free, tries = 40) => {
  if (matchMedia("(pointer: coarse)").matches) return;
  const line = document.querySelector(selector);
  if (line && !line.disabled && may()) {
    line.focus({ preventScroll: true });
    cameTo = line;
  } else if (tries) setTimeout(() => comeTo(selector, may, tries - 1), 50);
};

const SCOPE_MENU = '.st-key-chat_scope_menu button[aria-expanded="true"]';

export default function ({ data, parentElement }) {
  speak(data);
  const root = parentElement.querySelector(".keys");
  const onLine = (event) => {
    if (!event.target.matches?.(data.selector)) return;
    if (event.type === "input") lookForMentions(root, event.target);
    else if (event.type === "focusout") closeMentions(root);
    else mentionKey(root, event);
    // What is searched need not be looked at any more once something is asked.
    if (event.key === "Enter" && !event.shiftKey && !event.defaultPrevented) document.querySelector(SCOPE_MENU)?.click();
  };
  const onKey = (event) => {
    const line = document.querySelector(data.selector);
    const isThere = line && event.target === line && cameTo === line && !line.value;
    if (event.key.length === 1) cameTo = null;
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (!line || line.disabled || (typing() && !isThere)) return;
    event.preventDefault();
    line.focus();
    line.select();
  };
  if (!root.came) comeTo(data.selector, freeAtFirst);
  else if (root.turn !== undefined && root.turn !== data.turn && !data.busy) comeTo(data.selector);
  root.came = true;
  if (!data.busy) root.turn = data.turn;
  document.addEventListener("keydown", onKey);
  const heard = data.mentions ? ["input", "keydown", "focusout"] : [];
  heard.forEach((name) => document.addEventListener(name, onLine, true));
  return () => {
    document.removeEventListener("keydown", onKey);
    heard.forEach((name) => document.removeEventListener(name, onLine, true));
  };
}
