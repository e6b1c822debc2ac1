// Quality against cost: what is both better and cheaper than all others is on the front.

const PLANES = [
  { key: "ms_median", title: "Time per query", axis: "milliseconds per query, median", of: (cost) => cost.ms_median, upper: (cost) => cost.ms_p95 },
  { key: "index_bytes", title: "Size of the index", axis: "megabytes on disk", of: (cost) => megabytes(cost.index_bytes) },
];

if (rows.some((row) => row.cost && row.cost.calls)) {
  PLANES.push({ key: "tokens", title: "Tokens of language models", axis: "tokens read and written", of: (cost) => cost.tokens_read + cost.tokens_written });
}

const FRONT_LINES = ["7 4", "2 3"].map((dashes) => ({ fill: "none", stroke: "var(--text)", "stroke-width": 1.5, "stroke-dasharray": dashes }));

/** What is compared on a front: rows that were given conditions are not compared with rows that parsed them. */
function tasks(points) {
  const sources = ["given", "parsed"].filter((source) => points.some((p) => rows[p.row].conditions === source));
  if (sources.length < 2) return [{ name: "", points }];
  const other = { given: "parsed", parsed: "given" };
  return sources.map((name) => ({ name, points: points.filter((p) => rows[p.row].conditions !== other[name]) }));
}

/** Places that no other beats in both: no cheaper one is as good, none as cheap is better. */
function front(points) {
  const order = [...points].sort((a, b) => a.cost - b.cost || b.mean - a.mean);
  const best = [];
  for (const point of order) if (!best.length || point.mean > best[best.length - 1].mean) best.push(point);
  return best;
}

function scatter(plane, points, width) {
  const height = Math.max(280, Math.min(400, width * 0.62));
  const box = { left: 48, right: width - 10, top: 24, bottom: height - 44 };
  const costs = points.flatMap((p) => [p.cost, ...(p.upper === null ? [] : [p.upper])]);
  const x = scaleOf(costs, box.left + 10, box.right - 8, { log: true, zero: true, most: 6 });
  const y = scaleOf(points.flatMap((p) => [p.low, p.high]), box.bottom, box.top, { most: 5 });
  const fronts = tasks(points).map((task) => ({ ...task, best: front(task.points) }));
  const best = new Set(fronts.flatMap((one) => one.best));
  const path = (one) => one.best.map((p, n) => (n ? `H${x.place(p.cost)}V${y.place(p.mean)}` : `M${x.place(p.cost)} ${y.place(p.mean)}`)).join("") + `H${box.right}`;
  const most = width > 420 ? 26 : 18;
  const clip = (name) => (name.length > most ? `${name.slice(0, most - 1)}\u2026` : name);
  const named = points.map((p) => ({
    x: x.place(p.cost), y: y.place(p.mean),
    names: [...(points.length <= 12 ? [clip(`${rows[p.row].number} ${rows[p.row].label}`)] : []), rows[p.row].number],
  }));
  const words = `${plane.title}: ` + points.map((p) => `${rows[p.row].number} ${fixed(p.mean)} at ${short(p.cost)}`).join(", ") + `. ` + fronts.map((one) => `Front${one.name ? ` of ${one.name}` : ""}: ${numbersOf(one.best.map((p) => p.row).sort((a, b) => a - b))}.`).join(" ");
  return svg("svg", { width, height, role: "img", "aria-label": words },
    upwards(y, box.left, box.right, String, measureName()),
    across(x, box.top, box.bottom, short, plane.axis + (x.log ? ", log scale" : ""), (box.left + box.right) / 2),
    fronts.map((one, n) => svg("path", { class: "front", d: path(one), ...FRONT_LINES[n] })),
    points.map((p) => {
      const [px, py] = [x.place(p.cost), y.place(p.mean)];
      return svg("g", {}, svg("title", {}, `${rows[p.row].number} ${rows[p.row].label}: ${measureName()} ${fixed(p.mean)}${inBrackets(p)}, ${short(p.cost)} ${plane.axis}`),
        svg("line", { x1: px, x2: px, y1: y.place(p.low), y2: y.place(p.high), stroke: look(p.row).colour, opacity: 0.4 }),
        p.upper === null ? null : svg("line", { x1: px, x2: x.place(p.upper), y1: py, y2: py, stroke: look(p.row).colour, opacity: 0.4 }),
        best.has(p) ? svg("circle", { cx: px, cy: py, r: 9, fill: "none", stroke: "var(--text)", "stroke-width": 1 }) : null,
        mark(p.row, px, py, 5.5));
    }),
    labels(named, { left: box.left, right: box.right + 6, top: 10, bottom: box.bottom }));
}

function costFigure(plane, places) {
  const points = [];
  const left = [];
  for (const i of places) {
    const cost = rows[i].cost ? plane.of(rows[i].cost) : null;
    if (cost === null || cost === undefined || !(cost > 0)) {
      left.push(`${rows[i].number} (${cost === 0 ? "0" : cost === null || cost === undefined ? "not measured" : "below 0"})`);
      continue;
    }
    const upper = plane.upper ? plane.upper(rows[i].cost) : null;
    points.push({ row: i, cost, upper: upper > cost ? upper : null, ...cellOf(i) });
  }
  const named = tasks(points);
  return el("figure", {}, el("figcaption", {}, plane.title, points.length ? pngButton(plane.title) : null),
    points.length ? el("div", { class: "lines" }, named.map((task, n) => el("span", {}, svg("svg", { width: 34, height: 10, "aria-hidden": "true" }, svg("path", { d: "M0 5H34", ...FRONT_LINES[n] })),
      task.name ? `front of [${task.name}] and rows without conditions` : "front"))) : null,
    points.length ? sized((width) => scatter(plane, points, width)) : el("p", { class: "soft" }, "No chosen system has this cost."),
    left.length ? el("p", { class: "soft small" }, `Not in the chart: ${left.join(", ")}.`) : null);
}

function costView() {
  const place = el("div", {});
  follow(["measure", "filter", "shown"], () => {
    const places = charted();
    place.replaceChildren(
      places.length ? legend(places) : el("p", { class: "soft" }, whyNone()),
      places.length ? el("div", { class: "charts" }, PLANES.map((plane) => costFigure(plane, places))) : "");
  });
  return section("cost", "Quality against cost",
    costed ? [el("p", { class: "soft" }, "Broken lines and rings: the Pareto front. No chosen system of the same task is both better and cheaper than one on it."), place]
      : el("p", { class: "soft" }, "Nobody measured costs: these runs were made elsewhere."),
    costed ? how("Time per query: median, first stage included; what is done for many queries together counts in equal shares.",
      "Size of the index: all that the system searches, on disk; a shared part counts in full for each system.",
      "Upright lines: 95 % intervals of the means; level lines: from the median to the 95th percentile of the times. An axis is logarithmic where its values span more than a factor of ten.",
      "A point is on the front by its mean: neighbours on it need not differ significantly. Rows that were given conditions and rows that parsed them did different tasks: each have a front of their own, with the rows that use none.") : null);
}
