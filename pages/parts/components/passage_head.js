// What stands around the pages: whose page it is, which citation, what is to be known of it.
const drawSteps = (data, act) => {
  const at = data.numbers.indexOf(data.number);
  const steps = make("div", "steps");
  const step = (label, name, to) => {
    const tool = button("tool", label, name, true);
    tool.dataset.act = name;
    tool.disabled = to === undefined;
    tool.onclick = () => act("cite", to);
    return tool;
  };
  const said = make("span", "quiet", _("{at} of {whole}", { at: at + 1, whole: data.numbers.length }));
  steps.append(step(_("Previous citation"), "up", data.numbers[at - 1]), said, step(_("Next citation"), "down", data.numbers[at + 1]));
  return steps;
};

const drawHead = (data, act) => {
  const head = make("header", "head");
  const title = make("div", "heading");
  if (data.number) title.append(make("span", "number", String(data.number)));
  const name = make("h2", "", data.title);
  name.tabIndex = -1;
  title.append(name);
  head.append(title);
  if (data.numbers.length > 1) head.append(drawSteps(data, act));
  if (data.copy) head.append(copyButton("tool", _("Copy the passage"), data.copy, true));
  if (data.closable) {
    const close = button("tool close", _("Close"));
    close.prepend(icon("close"));
    close.dataset.act = "close";
    close.onclick = () => act("close", true);
    head.append(close);
  }
  return head;
};

// Only addresses of the web come here; the page is told nothing of where its reader comes from.
const drawOrigin = (data) => {
  const link = make("a", "origin", new URL(data.address).hostname);
  link.href = data.address;
  link.target = "_blank";
  link.rel = "noopener noreferrer nofollow";
  link.title = visible(data.address);
  return link;
};

const drawFacts = (data) => {
  const line = make("div", "facts quiet");
  data.facts.forEach(({ words, detail }) => {
    const fact = make("span", "", words);
    fact.title = visible(detail);
    line.append(fact);
  });
  if (data.address) line.append(drawOrigin(data));
  return line;
};

const drawQuote = (data) => {
  const quote = make("details", "quote");
  quote.open = data.quote_open;
  quote.append(make("summary", "", _("The passage as text")), make("blockquote", "", data.quote));
  if (data.score) quote.append(make("p", "quiet", data.score));
  return quote;
};

const drawWarning = (words) => {
  const warning = make("p", "warning");
  warning.append(icon("warning"), make("span", "", words));
  return warning;
};

const drawProblem = ({ message, help = "" }) => {
  const problem = make("div", "problem");
  problem.setAttribute("role", "alert");
  problem.append(make("p", "what", message));
  if (help) problem.append(make("p", "quiet", help));
  return problem;
};

