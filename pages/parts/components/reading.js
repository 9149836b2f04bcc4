// A page's text as it was read, line by line: a click shows where a line stands in the page's picture.
const drawLine = (line) => {
  if (line.empty) return make("p", "quiet", line.empty);
  if (line.gap) return make("div", "gap");
  const element = make("button", `line${line.outside ? " outside" : ""}`);
  element.type = "button";
  element.setAttribute("aria-pressed", String(line.on));
  if (line.outside) element.title = _("Running title, page number or the like: in no passage");
  line.parts.forEach(([text, why]) => {
    const part = make("span", why ? "unseen" : "", text);
    if (why) part.title = _("Not to be seen on the page: {why}", { why: hiddenWhy(why) });
    element.append(part);
  });
  return element;
};

export default function ({ data, parentElement, setTriggerValue }) {
  speak(data);
  const root = parentElement.querySelector(".reading");
  patch(root, data.lines.length ? data.lines : [{ empty: data.empty }], drawLine);
  root.onclick = (event) => {
    const line = event.target.closest(".line");
    if (line) setTriggerValue("mark", data.lines[[...root.children].indexOf(line)].span);
  };
}
