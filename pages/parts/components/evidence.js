const drawText = (passage) => {
  const text = make("p", "text");
  const characters = Array.from(passage.text); // offsets count code points, as Python does
  let cursor = 0;
  passage.marks.forEach(([from, to]) => {
    text.append(visible(characters.slice(cursor, from).join("")), make("mark", "", characters.slice(from, to).join("")));
    cursor = to;
  });
  text.append(visible(characters.slice(cursor).join("")));
  return text;
};

const drawPassage = (passage) => {
  const details = make("details", `passage ${passage.tone}`);
  details.open = passage.open;
  details.dataset.rank = String(passage.rank);
  const summary = make("summary");
  const head = make("span", "head");
  head.append(make("span", "number", String(passage.rank)), make("span", "title", passage.title), make("span", "quiet", passage.place));
  if (passage.verdict) head.append(make("span", "verdict", passage.verdict));
  const score = make("span", "score quiet", passage.score);
  score.title = _("cosine similarity between question and passage, at most 1");
  head.append(score);
  summary.append(head, make("span", "preview quiet", passage.preview));
  details.append(summary, drawText(passage));
  return details;
};

export default function ({ data, parentElement }) {
  speak(data);
  const root = parentElement.querySelector(".evidence");
  const items = data.passages.length ? data.passages : [{ empty: data.empty }];
  patch(root, items, (item) => (item.empty ? make("p", "quiet", item.empty) : drawPassage(item)));
  if (data.active && root.active !== data.active) {
    const passage = root.querySelector(`[data-rank="${data.active}"]`);
    if (passage) {
      passage.open = true;
      passage.scrollIntoView({ block: "nearest" });
    }
  }
  root.active = data.active;
}
