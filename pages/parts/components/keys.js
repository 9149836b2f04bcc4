// A slash puts the cursor into the page's line, as in most places where people search; and it is there again when what
// was asked is answered.

const NO_TEXT = ["button", "checkbox", "color", "file", "image", "radio", "range", "reset", "submit"];

const focused = () => {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element;
};

const typing = () => {
  const element = focused();
  if (element?.closest('[role="dialog"]')) return true;
  if (element?.tagName === "INPUT") return !NO_TEXT.includes(element.type);
  return Boolean(element?.closest('textarea, select, [contenteditable="true"]'));
};

// Nothing else has the focus: it was lost with the element that had it, or rests where the line is.
const free = () => {
  const element = focused();
  return !element || element === document.body || Boolean(element.closest(".st-key-chat_foot"));
};

// The line is enabled a moment after its answer is whole. On a touch screen the keyboard would cover the answer.
const comeBack = (selector, tries = 40) => {
  if (matchMedia("(pointer: coarse)").matches || !free()) return;
  const line = document.querySelector(selector);
  if (line && !line.disabled) line.focus({ preventScroll: true });
  else if (tries) setTimeout(() => comeBack(selector, tries - 1), 50);
};

export default function ({ data, parentElement }) {
  const onKey = (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing()) return;
    const line = document.querySelector(data.selector);
    if (!line || line.disabled) return;
    event.preventDefault();
    line.focus();
    line.select();
  };
  const root = parentElement.querySelector(".keys");
  if (root.turn !== undefined && root.turn !== data.turn && !data.busy) comeBack(data.selector);
  if (!data.busy) root.turn = data.turn;
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}
