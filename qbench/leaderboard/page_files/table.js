// The table: every row with its ranks, intervals, letters and costs; sorted and filtered by the reader.

const CONDITIONS = {
  none: "uses no conditions",
  given: "conditions given",
  parsed: "conditions parsed",
  unknown: "not known",
};

const COSTS = [
  { key: "ms_median", title: "ms/query", help: "median, milliseconds", of: (cost) => cost.ms_median },
  { key: "ms_p95", title: "ms p95", help: "95th percentile, milliseconds", of: (cost) => cost.ms_p95 },
  { key: "index_bytes", title: "index MB", help: "size of all that it searches", of: (cost) => megabytes(cost.index_bytes) },
  { key: "index_seconds", title: "index s", help: "seconds to build all that it searches", of: (cost) => cost.index_seconds },
  { key: "extraction_seconds", title: "quantities s", help: "of these, seconds to find quantities", of: (cost) => cost.extraction_seconds },
  { key: "peak_bytes", title: "peak MB", help: "highest resident memory", of: (cost) => megabytes(cost.peak_bytes) },
];
const costed = rows.some((row) => row.cost);
/** What language models cost: columns where a row asked one; not 0 but nothing for rows that did not. */
const asked = (name) => (cost) => (cost.calls ? cost[name] : null);
if (rows.some((row) => row.cost && row.cost.calls)) {
  COSTS.push(
    { key: "calls", title: "calls", help: "questions to language models, recorded ones included", of: asked("calls") },
    { key: "tokens_read", title: "tokens read", help: "by language models", of: asked("tokens_read") },
    { key: "tokens_written", title: "tokens written", help: "by language models", of: asked("tokens_written") },
    { key: "refused", title: "refused", help: "calls that the server or the model refused", of: asked("refused") },
    { key: "malformed", title: "malformed", help: "calls whose answers lack the form asked for", of: asked("malformed") },
    { key: "money", title: "price", help: "of the tokens, by --prices", of: asked("money") },
  );
}

const sortKeys = {
  place: (i) => (rows[i].cells ? -cellOf(i).mean : Infinity),
  letter: (i) => i,
  label: (i) => rows[i].label.toLowerCase(),
};
data.measures.forEach((_, m) => { sortKeys[`m${m}`] = (i) => rows[i].cells[m][0]; });
COSTS.forEach((cost) => { sortKeys[cost.key] = (i) => (rows[i].cost ? cost.of(rows[i].cost) : null); });

/** Rows in the chosen order: those without a run, or without the figure that is sorted by, come last either way. */
function sorted(places) {
  const { key, falling } = chosen.sort;
  const value = (i) => (rows[i].cells || key === "letter" || key === "label" ? sortKeys[key](i) : null);
  const lacks = (i) => (rows[i].cells ? 0 : 2) + (value(i) === null ? 1 : 0);
  return [...places].sort((i, j) => {
    if (lacks(i) !== lacks(j)) return lacks(i) - lacks(j);
    const [a, b] = [value(i), value(j)];
    const by = a < b ? -1 : a > b ? 1 : 0;
    return (falling ? -by : by) || i - j;
  });
}

function heading(key, title, { falling = true, kind = "number", help = "" } = {}) {
  const now = chosen.sort.key === key;
  const state = now ? (chosen.sort.falling ? "descending" : "ascending") : "none";
  const press = () => {
    chosen.sort = { key, falling: now ? !chosen.sort.falling : falling };
    changed("sort");
    document.getElementById(`sort-${key}`)?.focus();
  };
  return el("th", { scope: "col", class: kind, "aria-sort": state, title: help || null },
    el("button", { class: "plain", id: `sort-${key}`, onclick: press }, title));
}

/** The intervals of all rows on one axis, a strip for each row. */
function strip(i, scale, width) {
  const cell = cellOf(i);
  const { mean, low, high } = cell;
  const x = scale.place;
  return svg("svg", { width, height: 24, role: "img", "aria-label": `${fixed(mean)}, ${fromTo(cell) ? `from ${fromTo(cell)}` : "no interval"}` },
    scale.ticks.map((tick) => svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: 0, y2: 24 })),
    svg("line", { x1: x(low), x2: x(high), y1: 12, y2: 12, stroke: look(i).colour, "stroke-width": 2 }),
    mark(i, x(mean), 12, 4.5));
}

function leaderboardTable() {
  const places = sorted(passing());
  const width = 136;
  const scale = ran.length
    ? scaleOf(ran.flatMap((i) => [cellOf(i).low, cellOf(i).high]), 6, width - 6, { most: 3 })
    : { place: () => 0, ticks: [] };
  // Labels at the edges move inwards.
  const at = (tick) => Math.min(Math.max(scale.place(tick), String(tick).length * 3.5), width - String(tick).length * 3.5);
  const axis = svg("svg", { width, height: 18, "aria-hidden": "true" },
    spaced(scale.ticks, at, String, width).map((tick) => svg("text", { class: "soft", x: at(tick), y: 14, "text-anchor": "middle" }, String(tick))));
  const others = data.measures.map((_, m) => m).filter((m) => m !== chosen.measure);
  const head = el("tr", {},
    heading("place", "Ranks", { falling: false, help: `from the best to the worst rank that the tests on ${measureName()} leave open` }),
    heading("label", "System", { falling: false, kind: "key" }),
    heading(`m${chosen.measure}`, measureName()),
    el("th", { scope: "col" }, "95 % interval", axis),
    el("th", { scope: "col", class: "letters" }, "Not told apart from"),
    others.map((m) => heading(`m${m}`, data.measures[m])),
    costed ? COSTS.map((cost) => heading(cost.key, cost.title, { falling: false, help: cost.help })) : []);
  const span = 3 + others.length + (costed ? COSTS.length : 0);
  const body = places.map((i) => {
    const row = rows[i];
    const pick = el("input", {
      type: "checkbox", checked: chosen.shown.has(i), "aria-label": `${row.number} in the charts`,
      onchange: (event) => { event.target.checked ? chosen.shown.add(i) : chosen.shown.delete(i); changed("shown"); },
    });
    const title = el("th", { scope: "row", class: "key" },
      el("span", { class: "name" }, row.cells ? el("label", { class: "pick", title: "shown in the charts" }, pick, swatch(i)) : null, el("b", {}, row.number), el("span", { class: "clip", title: row.label }, row.label)),
      row.words.map((word) => el("span", { class: "tag warning" }, word)));
    if (!row.cells) {
      return el("tr", { class: "lost" }, el("td", { class: "number" }, "-"), title,
        el("td", { colspan: span, class: "why" }, el("span", { class: "tag" }, "no run"), " ", text(row.problem || "no reason was given")));
    }
    const same = ran.filter((j) => relation(i, j) && !relation(i, j).significant);
    const figure = (m, strong) => {
      const cell = cellOf(i, m);
      return el("td", { class: "number" }, el("span", { class: strong ? "mean" : "" }, fixed(cell.mean)), el("sup", {}, cell.letters), el("span", { class: "ci" }, fromTo(cell).replace(" to ", "\u2013") || "-"));
    };
    return el("tr", {}, el("td", { class: "number rank" }, rankText(i)), title,
      figure(chosen.measure, true), el("td", {}, strip(i, scale, width)),
      el("td", { class: "letters", title: same.map((j) => rows[j].label).join(", ") || null }, same.length ? apartOf(same) : el("span", { class: "soft" }, "\u2013")),
      others.map((m) => figure(m)),
      costed ? COSTS.map((cost) => el("td", { class: "number" }, row.cost && cost.of(row.cost) !== null ? short(cost.of(row.cost)) : "-")) : []);
  });
  const total = places.length === rows.length ? counted(rows.length, "system") : `${places.length} of ${counted(rows.length, "system")}`;
  return scrolling("Table of systems",
    el("table", { class: "leaderboard" }, el("caption", {}, `${total}; means over ${counted(queryCount(), "query", "queries")}, 95 % intervals below them.`),
      el("thead", {}, head), el("tbody", {}, body.length ? body : el("tr", {}, el("td", { colspan: span + 2 }, "No system passes the filters.")))));
}

/** Names of rows where there are one or two short ones, else their numbers. */
const apartOf = (places) => (places.length <= 2 && places.every((j) => rows[j].label.length <= 24)
  ? places.map((j, n) => [n ? el("br") : null, text(rows[j].label)]) : numbersOf(places));

const queryCount = () => (data.queries ? data.queries.all : (data.about.benchmark && data.about.benchmark.queries) || 0);

function headline() {
  if (!ran.length) return el("p", { class: "headline" }, "No system has a run: every row of the table says why.");
  const order = [...ran].sort((i, j) => cellOf(j).mean - cellOf(i).mean || i - j);
  const best = order[0];
  const figure = `${fixed(cellOf(best).mean)}${inBrackets(cellOf(best))}`;
  if (ran.length === 1) return el("p", { class: "headline" }, text(`${rows[best].number} ${rows[best].label}`), ` has a mean ${measureName()} of ${figure}.`);
  const near = ran.filter((j) => relation(best, j) && !relation(best, j).significant);
  const apart = ran.filter((j) => relation(best, j) && relation(best, j).significant);
  const other = ran.filter((j) => j !== best && !relation(best, j));
  // One or two are named; of more, the numbers.
  const list = (places) => (places.length <= 2 ? places.map((j) => rows[j].label).join(", ") : numbersOf(places).replaceAll(" ", ", "));
  const said = [text(`${rows[best].number} ${rows[best].label}`), ` has the highest ${measureName()}: ${figure}. `];
  if (near.length) said.push(`It cannot be told apart from ${list(near)}. `);
  const all = ran.length < rows.length ? "all others that ran" : "all others";
  if (apart.length) said.push(`It is significantly above ${apart.length === ran.length - 1 ? all : list(apart)}. `);
  if (other.length) said.push(`It was not compared with ${list(other)}, which did another task.`);
  return el("p", { class: "headline" }, said);
}

function tableView() {
  const place = el("div", {});
  const lead = el("div", {});
  follow(["measure", "sort", "filter", "shown"], () => {
    const kept = place.querySelector(".scroll")?.scrollLeft || 0;
    place.replaceChildren(leaderboardTable());
    place.querySelector(".scroll").scrollLeft = kept;
  });
  follow(["measure"], () => lead.replaceChildren(headline()));
  const search = el("input", {
    value: chosen.filter, type: "search", id: "filter", placeholder: "part of a name, or a number",
    oninput: (event) => { chosen.filter = event.target.value; changed("filter"); },
  });
  const sources = [...new Set(rows.map((row) => row.conditions))];
  const boxes = sources.length < 2 ? null : el("div", { class: "group", role: "group", "aria-label": "Conditions" }, el("span", { class: "soft" }, "Show"),
    sources.map((source) => el("label", {},
      el("input", {
        type: "checkbox", checked: chosen.conditions.has(source), value: source,
        onchange: (event) => { event.target.checked ? chosen.conditions.add(source) : chosen.conditions.delete(source); changed("filter"); },
      }), CONDITIONS[source] || source)));
  follow(["address"], () => {
    search.value = chosen.filter;
    boxes?.querySelectorAll("input").forEach((box) => { box.checked = chosen.conditions.has(box.value); });
  });
  const all = (places) => () => { chosen.shown = new Set(places); changed("shown"); };
  const picks = ran.length < 2 ? null : el("div", { class: "group", role: "group", "aria-label": "In the charts" }, el("span", { class: "soft" }, "In the charts"),
    ran.length > 8 ? el("button", { onclick: all(ran.slice(0, 8)) }, "first 8") : null,
    el("button", { onclick: all(ran) }, "all"), el("button", { onclick: all([]) }, "none"));
  return section("table", "Systems", lead,
    el("div", { class: "controls" }, el("label", {}, "Filter", search), boxes, picks, csvButton()), place,
    how(...data.caption, "Ranks follow the chosen measure.",
      "Not told apart from: rows that were compared with this one and whose difference is not significant. Two rows of which each "
      + "cannot be told from a third may still differ."));
}
