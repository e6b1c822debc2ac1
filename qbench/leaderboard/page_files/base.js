// What every part of the page uses: its data, what the reader chose, elements made of text, figures as text.

const data = JSON.parse(document.getElementById("data").textContent);
const rows = data.rows;
const ran = rows.map((row, i) => i).filter((i) => rows[i].cells);

/** What the reader chose. `measure` is a place in data.measures, `shown` holds rows in charts, `pair` two rows. */
const chosen = {
  measure: 0,
  filter: "",
  conditions: new Set(rows.map((row) => row.conditions)),
  sort: { key: "place", falling: false },
  shown: new Set(ran.slice(0, 8)),
  pair: [],
  paired: false,
};
const listeners = [];

/** Calls a function now and after every change of what the reader chose; `what` names the changes it needs. */
function follow(what, draw) {
  listeners.push({ what, draw });
}

function changed(what) {
  remember();
  for (const one of listeners) if (one.what.includes(what)) one.draw();
}

const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const text = (content, kind) => el("span", { class: `any ${kind || ""}` }, content);

function fixed(value, digits = 3) {
  return value === null || value === undefined ? "-" : value.toFixed(digits).replace(/^-(0\.?0*)$/, "$1");
}
const signed = (value, digits = 3) => (value === null ? "-" : (value > 0 ? "+" : value < 0 ? "\u2212" : "") + fixed(Math.abs(value), digits));
const probability = (p) => (p === null ? "-" : p < 0.0001 ? "< 0.0001" : p.toFixed(4));
const counted = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many || one + "s"}`;

/** Three significant digits, without an exponent where a reader needs none. */
function short(value) {
  if (value === null || value === undefined) return "-";
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString("en");
  if (size === 0) return "0";
  return size < 0.001 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}

const megabytes = (bytes) => (bytes === null || bytes === undefined ? null : bytes / 1e6);

/** Rows that pass the filters, in the order of the leaderboard. */
function passing() {
  const wanted = chosen.filter.trim().toLowerCase();
  return rows
    .map((row, i) => i)
    .filter((i) => chosen.conditions.has(rows[i].conditions))
    .filter((i) => !wanted || rows[i].label.toLowerCase().includes(wanted) || rows[i].number === wanted);
}

/** Rows of charts: chosen ones with a run that pass the filters. */
const charted = () => passing().filter((i) => rows[i].cells && chosen.shown.has(i));

/** Why there is no row of charts. */
function whyNone() {
  if (!ran.length) return "No system has a run.";
  if (!passing().some((i) => rows[i].cells)) return "No system with a run passes the filters of the table.";
  return chosen.shown.size ? "No system that passes the filters of the table is ticked in it: tick some, or change the filters."
    : "No system is chosen: tick some in the table.";
}

/** relation(measure)[i][j]: what is known of rows i and j, seen from i; undefined where they were not compared. */
const relations = data.pairs.measures.map((figures) => {
  const table = rows.map(() => []);
  data.pairs.a.forEach((a, n) => {
    const b = data.pairs.b[n];
    const side = (sign) => ({
      difference: sign * figures.difference[n],
      low: sign > 0 ? figures.ci_low[n] : -figures.ci_high[n],
      high: sign > 0 ? figures.ci_high[n] : -figures.ci_low[n],
      effect: figures.effect[n] === null ? null : sign * figures.effect[n],
      p: figures.p[n],
      holm: figures.p_holm[n],
      significant: Boolean(figures.significant[n]),
    });
    table[a][b] = side(1);
    table[b][a] = side(-1);
  });
  return table;
});
const relation = (i, j) => relations[chosen.measure][i][j];

/** Numbers of rows; three or more neighbours become a range. */
function numbersOf(places) {
  const parts = [];
  for (const place of places) {
    const last = parts[parts.length - 1];
    if (last && last[last.length - 1] === place - 1) last.push(place);
    else parts.push([place]);
  }
  return parts
    .flatMap((part) =>
      part.length > 2
        ? [`${rows[part[0]].number}\u2013${rows[part[part.length - 1]].number}`]
        : part.map((place) => rows[place].number))
    .join(" ");
}

/** The ranks that the tests of the chosen measure leave open to a row: "2", or "1\u20133". */
function rankText(i) {
  const [best, worst] = rows[i].ranks[chosen.measure];
  return best === worst ? String(best) : `${best}\u2013${worst}`;
}

/** The first two rows of some that were compared; else the first two, or the only one twice. */
function firstPair(places) {
  for (const i of places) for (const j of places) if (relation(i, j)) return [i, j];
  return places.length === 1 ? [places[0], places[0]] : places.slice(0, 2);
}
chosen.pair = firstPair(ran);

const measureName = () => data.measures[chosen.measure];
const cellOf = (i, measure = chosen.measure) => ({
  mean: rows[i].cells[measure][0],
  low: rows[i].cells[measure][1],
  high: rows[i].cells[measure][2],
  letters: rows[i].cells[measure][3],
});

/** An interval in words; nothing where it has no width: one topic, or figures that are all equal, say nothing. */
const fromTo = ({ low, high }) => (low < high ? `${fixed(low)} to ${fixed(high)}` : "");
const inBrackets = (cell) => (fromTo(cell) ? ` (${fromTo(cell)})` : "");

/** Results of blocks that are read once, when somebody first needs them. */
const read = {};
function once(name, make) {
  read[name] ??= make();
  return read[name];
}
const json = async (name) => JSON.parse(new TextDecoder().decode(await readBlock(name)));
const queryBlock = () => once("queries", () => json("queries"));
const documentBlock = () => once("documents", () => json("documents"));

/** scores[measure][row with a run]: a typed array over the queries; ten-thousandths where `scale` is 10000. */
const scoreBlock = () =>
  once("scores", async () => {
    const bytes = await readBlock("scores");
    const size = data.queries.here;
    return data.queries.layout.map(({ type, start }) => {
      const kind = type === "u2" ? Uint16Array : Float32Array;
      const scale = type === "u2" ? 10000 : 1;
      return ran.map((_, n) => ({ scale, values: new kind(bytes, start + n * size * kind.BYTES_PER_ELEMENT, size) }));
    });
  });

/** A table that scrolls sideways where it has no room; a line above it and a shadow at its edge say that it goes on. */
function scrolling(label, table, tabindex = "0") {
  const inside = el("div", { class: "scroll", tabindex, role: "region", "aria-label": label }, table);
  const place = el("div", { class: "edges" }, el("p", { class: "sideways soft small", "aria-hidden": "true" }, "More columns: scroll sideways \u2192"), inside);
  const see = () => {
    place.classList.toggle("wider", inside.scrollWidth > inside.clientWidth + 1);
    place.classList.toggle("further", inside.scrollLeft + inside.clientWidth < inside.scrollWidth - 1);
  };
  inside.addEventListener("scroll", see, { passive: true });
  const watch = new ResizeObserver(see);
  watch.observe(inside);
  watch.observe(table);
  return place;
}

/** A part of the page with its heading and its place in the navigation. */
function section(id, title, ...children) {
  return el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title`, tabindex: "-1" }, title), children);
}

function how(...lines) {
  return el("details", { class: "how" }, el("summary", {}, "How this is made"),
    el("ul", {}, lines.filter(Boolean).map((line) => el("li", {}, line))));
}
