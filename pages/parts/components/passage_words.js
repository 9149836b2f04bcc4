// The words of a page over its picture, unseen, so that they can be selected and copied; and what is marked of them.
const LAYER_PX = 1000;
const measure = new OffscreenCanvas(1, 1).getContext("2d");

const drawWord = (text, left, width, top, height) => {
  const word = make("span", "word", text);
  measure.font = "100px sans-serif";
  const natural = (measure.measureText(text).width * height) / 100 || 1;
  word.style.cssText = `left:${left}px;top:${top}px;font-size:${height}px;transform:scaleX(${width / natural})`;
  return word;
};

// Each word reaches to the next one of its line, so that a selection has no gaps. `shape`: a page's height to its width.
const drawWords = (lines, shape) => {
  const layer = make("div", "words");
  layer.style.height = `${LAYER_PX * shape}px`;
  lines.forEach(([top, bottom, words]) => {
    words.forEach(([text, left, right], place) => {
      const next = words[place + 1];
      const width = ((next ? next[1] : right) - left) * LAYER_PX;
      const height = (bottom - top) * LAYER_PX * shape;
      layer.append(drawWord(next ? `${text} ` : text, left * LAYER_PX, width, top * LAYER_PX * shape, height));
    });
    layer.lastChild?.append("\n");
  });
  const rest = make("div", "rest");
  // Where there is no word nothing is selected; below where one begins, so that words above are still reached.
  layer.onpointerdown = ({ clientY }) => {
    const { top, height } = layer.getBoundingClientRect();
    rest.style.top = `${(100 * (clientY - top)) / height}%`;
  };
  layer.onpointerup = () => (rest.style.top = "");
  layer.append(rest);
  return layer;
};

const MARKS = { cited: "box", near: "near", hit: "hit", now: "hit now", figure: "framed" };

const drawMark = ([kind, ...edges]) => {
  const [left, top, right, bottom] = edges.map((edge) => edge * 100);
  const mark = make("div", MARKS[kind]);
  mark.style.cssText = `left:${left}%;top:${top}%;width:${right - left}%;height:${bottom - top}%`;
  return mark;
};
