// A slash puts the cursor into the page's line, as in most places where people search.

const typing = () => {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return Boolean(focused?.closest('input, textarea, select, [contenteditable="true"], [role="dialog"]'));
};

export default function ({ data }) {
  const onKey = (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing()) return;
    const line = document.querySelector(data.selector);
    if (!line || line.disabled) return;
    event.preventDefault();
    line.focus();
    line.select();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}
