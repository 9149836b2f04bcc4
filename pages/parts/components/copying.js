// A button that copies a text.

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".copying");
  if (root.dataKey === data.text) return;
  root.dataKey = data.text;
  root.replaceChildren(copyButton("copy", data.label, data.text));
}
