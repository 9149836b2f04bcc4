const drawTitle = (root, data) => {
  const line = make("h2", "name");
  const change = button("change", _("Rename {title}", { title: data.title }), "pencil", true);
  const again = (title) => {
    root.replaceChildren(drawTitle(root, { ...data, title }), drawTagged(root, data));
    root.querySelector(".change").focus();
  };
  const rename = (title) => {
    again(title ?? data.found);
    if (title !== data.title) root.tell("rename", { id: data.id, title });
  };
  change.onclick = () =>
    edit(line, {
      value: data.title, label: _("Title"), save: rename, stop: () => again(data.title),
      back: data.found ? { label: _("Found title: {title}", { title: data.found }), act: () => rename(null) } : null,
    });
  line.append(make("span", "", data.title), change);
  return line;
};

const drawTagged = (root, data) => tagLine(data.tags, data.known, (change) => root.tell("tag", { ids: [data.id], ...change }));

export default function ({ data, parentElement, setTriggerValue }) {
  speak(data);
  const root = parentElement.querySelector(".naming");
  root.tell = setTriggerValue;
  const key = JSON.stringify(data);
  if (root.dataKey === key) return;
  root.dataKey = key;
  root.replaceChildren(drawTitle(root, data), drawTagged(root, data));
}
