const drawChunk = (chunk, marked) => {
  const element = make("button", "chunk");
  element.type = "button";
  element.dataset.mark = String(chunk.index);
  element.setAttribute("aria-pressed", String(marked === chunk.index));
  const head = make("span", "head");
  head.append(make("strong", "", chunk.head), make("span", "quiet", chunk.facts));
  element.append(head);
  if (chunk.section) element.append(make("span", "section quiet", chunk.section));
  element.append(make("span", "text", chunk.text));
  return element;
};

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".chunks");
  if (!root.list) {
    root.heading = make("h3");
    root.list = make("div", "list");
    root.append(root.heading, root.list);
  }
  root.heading.textContent = data.title;
  const items = data.chunks.length ? data.chunks : [{ empty: data.empty }];
  patch(root.list, items.map((chunk) => ({ ...chunk, on: data.marked === chunk.index })), (chunk) =>
    chunk.empty ? make("p", "quiet", chunk.empty) : drawChunk(chunk, data.marked),
  );
  root.onclick = (event) => {
    const chunk = event.target.closest("[data-mark]");
    if (chunk) {
      setTriggerValue("mark", Number(chunk.dataset.mark));
          }
  };
}
