// Marks, axes and labels: small parts that all charts are made of.

const MARKS = ["circle", "square", "triangle", "diamond", "cross", "down", "star"];

/** The mark of a row: its colour and its shape, which no two of 56 rows share. */
function look(i) {
  const n = ran.indexOf(i);
  return { colour: `var(--c${n % 8})`, shape: MARKS[n % MARKS.length] };
}

function mark(i, x, y, size = 5) {
  const { colour, shape } = look(i);
  const s = size;
  const paths = {
    square: `M${x - s} ${y - s}h${2 * s}v${2 * s}h${-2 * s}z`,
    triangle: `M${x} ${y - s * 1.2}L${x + s * 1.2} ${y + s}L${x - s * 1.2} ${y + s}z`,
    down: `M${x} ${y + s * 1.2}L${x + s * 1.2} ${y - s}L${x - s * 1.2} ${y - s}z`,
    diamond: `M${x} ${y - s * 1.35}L${x + s * 1.35} ${y}L${x} ${y + s * 1.35}L${x - s * 1.35} ${y}z`,
    cross: `M${x - s} ${y - s}L${x + s} ${y + s}M${x - s} ${y + s}L${x + s} ${y - s}`,
    star: `M${x - s * 1.2} ${y}H${x + s * 1.2}M${x} ${y - s * 1.2}V${y + s * 1.2}M${x - s * 0.8} ${y - s * 0.8}L${x + s * 0.8} ${y + s * 0.8}M${x - s * 0.8} ${y + s * 0.8}L${x + s * 0.8} ${y - s * 0.8}`,
  };
  if (shape === "circle") return svg("circle", { cx: x, cy: y, r: s, fill: colour });
  const line = shape === "cross" || shape === "star";
  return svg("path", { d: paths[shape], fill: line ? "none" : colour, stroke: colour, "stroke-width": line ? 2.4 : 0 });
}

const swatch = (i) => svg("svg", { width: 15, height: 15, "aria-hidden": "true" }, mark(i, 7.5, 7.5, 4.6));

function legend(places) {
  return el("ul", { class: "legend", "aria-label": "Systems" },
    places.map((i) => el("li", { title: rows[i].label }, swatch(i), el("b", {}, rows[i].number), el("span", { class: "clip one" }, rows[i].label))));
}

/** Round places from low to high: about `most`, and no fewer than three. */
function linearTicks(low, high, most = 5) {
  for (let wanted = most; ; wanted += 1) {
    const ticks = roundPlaces(low, high, wanted);
    if (ticks.length >= 3 || wanted > most + 8) return ticks;
  }
}

function roundPlaces(low, high, most) {
  const rough = (high - low) / most || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 2.5, 5, 10].find((one) => one * power >= rough * 0.999);
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-6; n += 1) ticks.push(Number((n * step).toPrecision(12)));
  return ticks;
}

/** Powers of ten; with few of them also 2 and 5 times them. */
function logTicks(low, high) {
  const ticks = [];
  const few = Math.log10(high / low) < 3;
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high * 1.0001; power += 1) {
    for (const times of few ? [1, 2, 5] : [1]) {
      const tick = times * 10 ** power;
      if (tick >= low * 0.9999 && tick <= high * 1.0001) ticks.push(tick);
    }
  }
  return ticks;
}

/** A scale from numbers to pixels with its ticks; logarithmic where the numbers span more than a factor of ten. */
function scaleOf(values, from, to, { log = false, zero = false, most = 5 } = {}) {
  let low = Math.min(...values);
  let high = Math.max(...values);
  if (log && low > 0 && high / low > 10) {
    low /= 1.5;
    high *= 1.5;
    const place = (value) => from + ((Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low))) * (to - from);
    return { place, ticks: logTicks(low, high), log: true };
  }
  if (zero) low = Math.min(0, low);
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  high += room;
  if (!zero || low < 0) low -= room;
  return { place: (value) => from + ((value - low) / (high - low)) * (to - from), ticks: linearTicks(low, high, most), log: false };
}

/** Leaves out labels of ticks that would touch their neighbours, or leave the chart. */
function spaced(ticks, place, name, width = Infinity, gap = 7) {
  let end = -gap;
  return ticks.filter((tick) => {
    const half = (name(tick).length * 7) / 2;
    if (place(tick) - half < end + gap || place(tick) + half > width) return false;
    end = place(tick) + half;
    return true;
  });
}

function across(scale, top, bottom, name, title, middle) {
  const named = new Set(spaced(scale.ticks, scale.place, name));
  return [
    scale.ticks.map((tick) => svg("line", { class: "grid", x1: scale.place(tick), x2: scale.place(tick), y1: top, y2: bottom })),
    [...named].map((tick) => svg("text", { class: "soft", x: scale.place(tick), y: bottom + 15, "text-anchor": "middle" }, name(tick))),
    title ? svg("text", { x: middle, y: bottom + 34, "text-anchor": "middle" }, title) : null,
  ];
}

function upwards(scale, left, right, name, title) {
  return [
    scale.ticks.map((tick) => svg("line", { class: "grid", x1: left, x2: right, y1: scale.place(tick), y2: scale.place(tick) })),
    scale.ticks.map((tick) => svg("text", { class: "soft", x: left - 6, y: scale.place(tick) + 4, "text-anchor": "end" }, name(tick))),
    title ? svg("text", { x: 4, y: 13 }, title) : null,
  ];
}

/** Puts a label beside each point where it hides no mark and no other label; the letter alone if the name has no room. */
function labels(points, box) {
  const taken = points.map(({ x, y }) => [x - 6, y - 6, x + 6, y + 6]);
  const free = (area) =>
    area[0] >= box.left && area[2] <= box.right && area[1] >= box.top && area[3] <= box.bottom &&
    !taken.some((other) => area[0] < other[2] && area[2] > other[0] && area[1] < other[3] && area[3] > other[1]);
  return points.map(({ x, y, names }) => {
    for (const name of names) {
      const wide = name.length * 6.4 + 4;
      const spots = [[x + 7, y - 8, "start"], [x - 7, y - 8, "end"], [x + 7, y + 17, "start"], [x - 7, y + 17, "end"],
        [x + 11, y + 4, "start"], [x - 11, y + 4, "end"], [x, y - 12, "middle"], [x, y + 21, "middle"]];
      for (const [tx, ty, anchor] of spots) {
        const left = anchor === "start" ? tx : anchor === "end" ? tx - wide : tx - wide / 2;
        const area = [left, ty - 11, left + wide, ty + 3];
        if (free(area)) {
          taken.push(area);
          return svg("text", { class: "halo", x: tx, y: ty, "text-anchor": anchor }, name);
        }
      }
    }
    return null;
  });
}

/** The colours of two rows beside each other. */
function twoColours(i, j) {
  const [one, other] = [look(i).colour, look(j).colour];
  return one === other ? ["var(--c0)", "var(--c1)"] : [one, other];
}

/** Draws a chart as wide as its place, again when that changes. */
function sized(draw) {
  const place = el("div", { class: "sized" });
  let last = 0;
  const again = () => {
    const width = Math.floor(place.clientWidth);
    if (width > 0 && width !== last) {
      last = width;
      place.replaceChildren(draw(width));
    }
  };
  new ResizeObserver(again).observe(place);
  return place;
}
