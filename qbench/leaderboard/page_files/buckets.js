// Means by kind of query: a small chart for each bucket, the same axis in all charts of a dimension.

/** 1.96 standard errors by bucket, from the scores and topics of the queries; null where not all are in the page. */
async function spreads(title) {
  if (!data.queries || data.queries.here !== data.queries.all || chosen.measure >= data.queries.layout.length) return null;
  const [scores, known] = await Promise.all([scoreBlock(), queryBlock()]);
  const found = known.buckets.find((one) => one.title === title);
  if (!found) return null;
  return (row, bucket) => {
    const { values, scale } = scores[chosen.measure][ran.indexOf(row)];
    const topics = new Map();
    let [n, sum] = [0, 0];
    for (let q = 0; q < values.length; q += 1) {
      if (found.of[q] !== bucket) continue;
      const value = values[q] / scale;
      n += 1;
      sum += value;
      const topic = topics.get(known.topics[q]) || [0, 0];
      topics.set(known.topics[q], [topic[0] + 1, topic[1] + value]);
    }
    let squares = 0;
    for (const [size, total] of topics.values()) squares += (total - (size * sum) / n) ** 2;
    return topics.size < 2 ? null : (1.96 * Math.sqrt((squares * topics.size) / (topics.size - 1))) / n;
  };
}

const TOO_FEW = "too few";
const byQuery = (data.about.tests || {}).by === "query";

/** Whether a bucket has too few topics for means. */
const silent = (dimension, bucket) => dimension.means[0][bucket].every((mean) => mean === null);

function bucketChart(dimension, bucket, places, high, spread) {
  const means = dimension.means[chosen.measure][bucket];
  const line = 19;
  const bottom = 6 + places.length * line;
  return sized((width) => {
    // Names stand where there is room for them, numbers elsewhere.
    const names = places.map((i) => rows[i].label);
    const wide = Math.max(...names.map((name) => name.length)) * 6.6 + 12;
    const named = wide < width * 0.46;
    const left = named ? wide : 26;
    const scale = scaleOf([0, high], left, width - 44, { zero: true, most: 4 });
    return svg("svg", { width, height: bottom + 20, role: "img", "aria-label": places.map((i) => `${rows[i].number} ${fixed(means[i])}`).join(", ") },
      across(scale, 2, bottom, String),
      places.map((i, n) => {
        const y = 6 + n * line + line / 2;
        const x = scale.place(means[i]);
        const half = spread ? spread(i, bucket) : null;
        return svg("g", {}, svg("title", {}, `${rows[i].number} ${rows[i].label}: ${fixed(means[i])}${half === null ? "" : ` \u00b1 ${fixed(half)}`}`),
          svg("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, named ? names[n] : rows[i].number),
          half === null ? null : svg("line", {
            x1: scale.place(Math.max(0, means[i] - half)), x2: Math.min(width - 40, scale.place(means[i] + half)), y1: y, y2: y,
            stroke: look(i).colour, "stroke-width": 1.5, opacity: 0.75,
          }),
          mark(i, x, y, 4.5),
          svg("text", { class: "soft", x: width - 2, y: y + 4, "text-anchor": "end" }, fixed(means[i], 2)));
      }));
  });
}

function bucketTable(dimension, places) {
  return el("details", { class: "how" }, el("summary", {}, "As a table"),
    scrolling(dimension.title,
      el("table", {}, el("caption", {}, `${dimension.title}: ${measureName()}`),
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, dimension.dimension), el("th", { scope: "col", class: "number" }, "queries"), el("th", { scope: "col", class: "number" }, "topics"),
          places.map((i) => el("th", { scope: "col", class: "number", title: rows[i].label }, rows[i].number)))),
        el("tbody", {}, dimension.names.map((name, b) => el("tr", {}, el("th", { scope: "row" }, text(name)), el("td", { class: "number" }, dimension.sizes[b].toLocaleString("en")), el("td", { class: "number" }, dimension.topics[b].toLocaleString("en") + (silent(dimension, b) ? `, ${TOO_FEW}` : "")),
          places.map((i) => el("td", { class: "number" }, fixed(dimension.means[chosen.measure][b][i])))))))));
}

function bucketsView() {
  const place = el("div", {});
  let turn = 0;
  follow(["measure", "filter", "shown"], async () => {
    const mine = ++turn;
    const places = charted();
    const draw = (spread) => data.buckets.map((dimension) => {
      const means = dimension.means[chosen.measure];
      const values = means.flatMap((bucket) => places.map((i) => bucket[i] ?? 0));
      return el("section", {}, el("h3", {}, dimension.title),
        el("div", { class: "multiples" }, dimension.names.map((name, b) =>
          el("figure", {}, el("figcaption", {}, text(name), silent(dimension, b) ? null : pngButton(`${dimension.title} ${name}`), " ", el("span", { class: "soft small" }, `${counted(dimension.sizes[b], "query", "queries")}, ${counted(dimension.topics[b], "topic")}`)),
            silent(dimension, b) ? el("p", { class: "soft" }, `${TOO_FEW} ${byQuery ? "queries" : "topics"} to say anything`) : bucketChart(dimension, b, places, Math.max(0.05, ...values), spread.get(dimension.title))))),
        bucketTable(dimension, places));
    });
    if (!data.buckets.length) {
      place.replaceChildren(el("p", { class: "soft" }, "There are no buckets: they were not asked for, or the queries' conditions are not known, or all queries are of one kind."));
      return;
    }
    if (!places.length) {
      place.replaceChildren(el("p", { class: "soft" }, whyNone()));
      return;
    }
    const show = (spread) => place.replaceChildren(legend(places), ...draw(spread));
    if (!place.firstChild) show(new Map());
    const found = new Map();
    for (const dimension of data.buckets) found.set(dimension.title, await spreads(dimension.title).catch(() => null));
    if (mine === turn) show(found);
  });
  return section("buckets", "By kind of query", el("p", { class: "soft" }, "The systems that are ticked in the table. All charts of a group have the same axis."), place,
    how("A point is the mean over the queries of the bucket; every query is in one bucket of each group.",
      `A bucket of fewer than ten ${byQuery ? "queries" : "topics"} has no mean: it would say more of them than of the kind of query.`,
      `Lines: 1.96 standard errors of that mean from ${byQuery ? "query to query" : "topic to topic"}, in the bucket alone (normal approximation). They are not tests: many buckets are looked at, and none is corrected for.`));
}
