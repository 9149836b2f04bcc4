// A button that copies a text, in a dialog of downloads.

// A download disables its button for a moment, and with it the focus is gone, without which no dialog hears Escape.
const keepFocus = (dialog) => {
  const giveBack = ([{ target }]) => {
    if (!target.disabled && document.activeElement === document.body) target.focus();
  };
  new MutationObserver(giveBack).observe(dialog, { attributeFilter: ["disabled"], subtree: true });
};

export default function ({ data, parentElement }) {
  speak(data);
  const root = parentElement.querySelector(".copying");
  if (root.dataKey === data.text) return;
  if (root.dataKey === undefined) keepFocus(root.getRootNode().host.closest("[role=dialog]"));
  root.dataKey = data.text;
  root.replaceChildren(copyButton("copy", data.label, data.text));
}
