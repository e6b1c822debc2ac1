// Two systems query by query: where they differ, and what each retrieved.

const PAGE = 25;

function histogram(differences, width, names, colours) {
  const bins = 20;
  const size = Math.max(1, ...differences.map(Math.abs));
  const counts = new Array(bins * 2).fill(0);
  let equal = 0;
  for (const d of differences) {
    if (d === 0) equal += 1;
    else counts[d > 0 ? bins + Math.min(bins - 1, Math.ceil((d / size) * bins) - 1) : bins - 1 - Math.min(bins - 1, Math.ceil((-d / size) * bins) - 1)] += 1;
  }
  const height = 190;
  const box = { left: 48, right: width - 10, top: 22, bottom: height - 42 };
  const x = { place: (d) => box.left + ((d / size + 1) / 2) * (box.right - box.left), ticks: linearTicks(-size, size, width < 500 ? 4 : 8) };
  const y = scaleOf([0, ...counts], box.bottom, box.top, { zero: true, most: 3 });
  const wide = (box.right - box.left) / counts.length;
  const words = `${differences.filter((d) => d > 0).length} queries better with ${names[0]}, ${differences.filter((d) => d < 0).length} with ${names[1]}, ${equal} equal`;
  return svg("svg", { width, height, role: "img", "aria-label": words },
    upwards(y, box.left, box.right, (tick) => tick.toLocaleString("en"), "queries"),
    counts.map((count, n) => (count ? svg("rect", {
      x: box.left + n * wide + 0.5, y: y.place(count), width: Math.max(1, wide - 1), height: box.bottom - y.place(count),
      fill: colours[n < bins ? 1 : 0],
    }, svg("title", {}, `${count}`)) : null)),
    svg("line", { class: "axis", x1: x.place(0), x2: x.place(0), y1: box.top, y2: box.bottom }),
    across({ ...x, ticks: x.ticks }, box.bottom, box.bottom, (tick) => signed(tick, Number.isInteger(tick) ? 0 : 2), null, 0),
    svg("text", { x: box.left, y: height - 6 }, `\u25c0 ${names[1]} better`),
    svg("text", { x: box.right, y: height - 6, "text-anchor": "end" }, `${names[0]} better \u25b6`),
    svg("text", { class: "soft halo", x: box.right, y: 13, "text-anchor": "end" }, `${equal.toLocaleString("en")} equal, not drawn`));
}

function differenceBar(d, size, colours) {
  const [width, middle] = [110, 55];
  const x = (Math.abs(d) / size) * (middle - 4);
  return svg("svg", { width, height: 14, "aria-hidden": "true" },
    svg("line", { class: "axis", x1: middle, x2: middle, y1: 0, y2: 14 }),
    d ? svg("rect", { x: d > 0 ? middle : middle - x, y: 3, width: Math.max(1, x), height: 8, fill: colours[d > 0 ? 0 : 1] }) : null);
}

/** A text with its quantities marked; `met` holds those that meet the query's condition. */
function marked(content, spans, met) {
  const parts = [];
  let end = 0;
  for (let n = 0; n * 2 < spans.length; n += 1) {
    const [from, to] = [spans[2 * n], spans[2 * n + 1]];
    parts.push(content.slice(end, from), el("mark", { class: met.includes(n) ? "met" : null, title: met.includes(n) ? "meets the condition" : null }, content.slice(from, to)));
    end = to;
  }
  parts.push(content.slice(end));
  return parts;
}

function hit(shown, place, rank, where) {
  const [, docs, grades, , met] = shown.entry;
  const [id, title, content, cut, spans] = shown.docs[docs[place]];
  const grade = grades[place];
  const judged = grade === null ? "not judged" : grade > 0 ? `\u2713 relevant${grade > 1 ? `, grade ${grade}` : ""}` : "judged not relevant";
  return el("li", { class: grade > 0 ? "relevant" : "wrong" },
    el("div", { class: "head" }, rank ? el("b", {}, `${rank}.`) : null, el("span", { class: grade > 0 ? "relevant-mark" : "" }, judged),
      where ? el("span", {}, where) : null, text(id, "small")),
    title ? el("div", {}, el("b", {}, text(title))) : null,
    content === null ? null : el("div", { class: "any" }, marked(content, spans, met[place]), cut ? el("span", { class: "soft" }, ` \u2026 ${counted(cut, "more character")}`) : null));
}

function side(shown, i, j) {
  const lists = shown.entry[3];
  const [mine, theirs] = [lists[ran.indexOf(i)], lists[ran.indexOf(j)]];
  const other = (place) => {
    if (i === j) return null;
    const at = theirs.indexOf(place);
    return at < 0 ? `not in the first ${shown.top} of ${rows[j].number}` : `${rows[j].number}: rank ${at + 1}`;
  };
  return el("section", {}, el("h3", { class: "name" }, swatch(i), text(`${rows[i].number} ${rows[i].label}`)),
    mine.length ? el("ol", { class: "hits" }, mine.map((place, n) => hit(shown, place, n + 1, other(place)))) : el("p", { class: "soft" }, "No results."));
}

async function opened(q, i, j) {
  const scores = await scoreBlock();
  const known = await queryBlock();
  const order = [...ran].sort((a, b) => value(scores, b, q) - value(scores, a, q) || a - b);
  const parts = [
    el("p", {}, known.conditions[q] ? ["Condition: ", text(known.conditions[q])] : el("span", { class: "soft" }, "The query has no condition as data."),
      " ", el("span", { class: "soft small" }, "Query ", text(known.ids[q]))),
    el("details", { class: "how" }, el("summary", {}, `${measureName()} of all systems on this query`),
      el("ol", { class: "scores" }, order.map((k) => el("li", { class: k === i || k === j ? "picked" : null }, el("span", { class: "clip one" }, `${rows[k].number} ${rows[k].label}`), fixed(value(scores, k, q)))))),
  ];
  const about = data.queries.documents;
  if (!about) return [...parts, el("p", { class: "soft" }, "This page was made without the runs: what was retrieved is not here.")];
  const block = await documentBlock();
  const entry = block.shown.find((one) => one[0] === q);
  if (!entry) {
    return [...parts, el("p", { class: "soft" }, `What was retrieved for this query is left out, so that the page stays small: it is here for ${about.queries.toLocaleString("en")} of ${data.queries.all.toLocaleString("en")} queries.`)];
  }
  const shown = { entry, docs: block.docs, top: about.top };
  const [, docs, grades, lists, , relevant] = entry;
  const seen = new Set([...lists[ran.indexOf(i)], ...lists[ran.indexOf(j)]]);
  const missed = docs.map((_, place) => place).filter((place) => grades[place] > 0 && !seen.has(place));
  const others = (place) => {
    const finders = ran.filter((k, n) => lists[n].includes(place));
    return finders.length ? `found by ${numbersOf(finders)}` : `in no system's first ${about.top}`;
  };
  return [...parts,
    el("p", {}, `${counted(relevant, "document is", "documents are")} relevant; the first ${about.top} of each system are shown.`,
      about.quantities ? [" ", el("mark", {}, "quantity"), " ", el("mark", { class: "met" }, "meets the condition by value and unit")] : null),
    el("div", { class: i === j ? "sides one" : "sides" }, side(shown, i, j), i === j ? null : side(shown, j, i)),
    missed.length ? el("details", { class: "how" }, el("summary", {}, `Relevant, and in ${i === j ? "no list" : "neither list"}: ${missed.length}${relevant - [...seen].filter((place) => grades[place] > 0).length > missed.length ? ` of ${relevant - [...seen].filter((place) => grades[place] > 0).length}` : ""}`),
      el("ul", { class: "hits" }, missed.slice(0, 10).map((place) => hit(shown, place, 0, others(place))))) : null];
}

function value(scores, i, q) {
  const { values, scale } = scores[Math.min(chosen.measure, scores.length - 1)][ran.indexOf(i)];
  return values[q] / scale;
}

function queryRow(q, i, j, known, scores, size) {
  const [a, b] = [value(scores, i, q), value(scores, j, q)];
  const details = el("tr", { class: "open", hidden: true, id: `query-${q}` }, el("td", { colspan: 4 }, ""));
  const name = known.texts[q] || known.ids[q];
  const toggle = async (event) => {
    const button = event.currentTarget;
    const open = details.hidden;
    details.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    if (open && !details.dataset.made) {
      details.dataset.made = "yes";
      details.firstChild.replaceChildren("Reading\u2026");
      try {
        details.firstChild.replaceChildren(...(await opened(q, i, j)).filter(Boolean));
      } catch (fault) {
        details.firstChild.replaceChildren(unreadable(fault));
      }
    }
  };
  return [el("tr", {},
    el("td", { class: "text" }, el("button", { class: "plain any", "aria-expanded": "false", "aria-controls": `query-${q}`, onclick: toggle }, name)),
    el("td", { class: "number" }, fixed(a)), i === j ? null : el("td", { class: "number" }, fixed(b)),
    i === j ? null : el("td", { class: "bar-cell" }, el("span", {}, el("span", { class: "number" }, signed(a - b)), differenceBar(a - b, size, twoColours(i, j))))), details];
}

const unreadable = (fault) => el("p", {}, "This browser cannot read the compressed part of the page (it needs DecompressionStream, which browsers have had since 2023): ", text(String(fault)));

const ORDERS = {
  gap: ["largest difference", (a, b) => Math.abs(b) - Math.abs(a)],
  first: ["first system better", (a, b) => b - a],
  second: ["second system better", (a, b) => a - b],
};

function queryList(state, known, scores) {
  const [i, j] = chosen.pair;
  const all = known.ids.map((_, q) => q);
  const wanted = state.words.trim().toLowerCase();
  const picked = all
    .filter((q) => !wanted || known.texts[q].toLowerCase().includes(wanted) || known.ids[q].toLowerCase().includes(wanted))
    .filter((q) => known.buckets.every((one, d) => state.buckets[d] === undefined || state.buckets[d] < 0 || one.of[q] === state.buckets[d]));
  const gap = (q) => Math.round((value(scores, i, q) - value(scores, j, q)) * 1e6) / 1e6;
  const order = i === j && state.order !== "id" ? ["", (p, q) => p - q] : ORDERS[state.order];
  // Of one system alone the queries with the lowest scores come first.
  const by = i === j ? (q) => value(scores, i, q) : gap;
  if (order) picked.sort((p, q) => order[1](by(p), by(q)) || p - q);
  const differences = picked.map(gap);
  const size = Math.max(1, ...differences.map(Math.abs));
  const names = [rows[i].number, rows[j].number];
  const alone = i === j;
  const mean = (k) => (picked.length ? picked.reduce((sum, q) => sum + value(scores, k, q), 0) / picked.length : null);
  const better = differences.filter((d) => d > 0).length;
  const worse = differences.filter((d) => d < 0).length;
  const body = el("tbody", {});
  let until = 0;
  const more = el("button", { onclick: () => extend() }, "Show more");
  const extend = () => {
    body.append(...picked.slice(until, until + PAGE).flatMap((q) => queryRow(q, i, j, known, scores, size)));
    until = Math.min(picked.length, until + PAGE);
    more.hidden = until >= picked.length;
    more.textContent = `Show ${Math.min(PAGE, picked.length - until)} more of ${(picked.length - until).toLocaleString("en")}`;
  };
  extend();
  const part = picked.length === all.length ? counted(all.length, "query", "queries") : `${picked.length.toLocaleString("en")} of ${counted(all.length, "query", "queries")}`;
  return [
    relation(i, j) || i === j ? null : el("p", { class: "notes" }, "These two did different tasks: one was given conditions, the other parsed them. Their difference says what parsing costs, and was not tested."),
    alone && ran.length > 1 ? el("p", { class: "notes" }, "This is one system against itself: choose another.") : null,
    alone ? el("p", {}, `${part}. ${measureName()}: ${fixed(mean(i))}.`) : el("p", {}, `${part}. ${measureName()}: ${names[0]} ${fixed(mean(i))}, ${names[1]} ${fixed(mean(j))}. ${names[0]} is better on ${better.toLocaleString("en")}, ${names[1]} on ${worse.toLocaleString("en")}, equal on ${(picked.length - better - worse).toLocaleString("en")}.`),
    picked.length && !alone ? sized((width) => histogram(differences, Math.min(width, 760), names, twoColours(i, j))) : null,
    picked.length ? scrolling("Queries", el("table", { class: "queries" },
      el("caption", {}, "Open a query to see what each system retrieved."),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Query"), el("th", { scope: "col", class: "number" }, names[0]), alone ? null : el("th", { scope: "col", class: "number" }, names[1]), alone ? null : el("th", { scope: "col" }, `${names[0]} \u2212 ${names[1]}`))),
      body)) : null,
    el("p", {}, more),
  ].filter(Boolean);
}

/** Compare two systems, and let the page's address say which, for a link to it. */
function compare(i, j) {
  chosen.pair = [i, j];
  chosen.paired = true;
  changed("pair");
}

function goToQueries() {
  document.getElementById("queries-title").focus();
  document.getElementById("queries").scrollIntoView();
}

function systemSelect(n, title) {
  const pick = (event) => compare(...chosen.pair.map((i, m) => (m === n ? Number(event.target.value) : i)));
  const select = el("select", { id: `pair-${n}`, onchange: pick },
    ran.map((i) => el("option", { value: i }, `${rows[i].number} ${rows[i].label}`.slice(0, 80))));
  follow(["pair"], () => { select.value = String(chosen.pair[n]); });
  return el("label", { class: "stacked" }, el("span", {}, title), select);
}

function queriesView() {
  const about = data.queries;
  if (!about) return section("queries", "Query by query", el("p", { class: "soft" }, "No system has a run: there is nothing to look up."));
  const place = el("div", {}, "Reading\u2026");
  const state = { words: "", buckets: {}, order: "gap" };
  const filters = el("span", { class: "controls" });
  let turn = 0;
  const draw = async () => {
    const mine = ++turn;
    try {
      const [known, scores] = await Promise.all([queryBlock(), scoreBlock()]);
      if (mine !== turn) return;
      if (!filters.firstChild) {
        filters.append(...known.buckets.map((one, d) => el("label", { class: "stacked" }, el("span", {}, one.dimension),
          el("select", { onchange: (event) => { state.buckets[d] = Number(event.target.value); draw(); } },
            el("option", { value: -1 }, "all"), one.names.map((name, b) => el("option", { value: b }, name))))));
      }
      place.replaceChildren(...(chosen.measure < scores.length ? [] : [el("p", {}, `The page holds the scores of single queries for ${data.measures.slice(0, scores.length).join(", ")} only: choose one of these.`)]),
        ...(chosen.measure < scores.length ? queryList(state, known, scores) : []));
    } catch (fault) {
      place.replaceChildren(unreadable(fault));
    }
  };
  follow(["measure", "pair"], draw);
  const swap = () => compare(chosen.pair[1], chosen.pair[0]);
  const documents = about.documents;
  return section("queries", "Query by query",
    el("div", { class: "controls" },
      ran.length > 1 ? [systemSelect(0, "First system"), el("button", { onclick: swap, title: "swap the two systems", "aria-label": "swap the two systems" }, "\u21c4"), systemSelect(1, "Second system")] : null,
      el("label", { class: "stacked" }, el("span", {}, "Words"), el("input", { type: "search", id: "query-words", placeholder: "in the query", oninput: (event) => { state.words = event.target.value; draw(); } })),
      ran.length < 2 ? null : el("label", { class: "stacked" }, el("span", {}, "Order"), el("select", { id: "query-order", onchange: (event) => { state.order = event.target.value; draw(); } },
        Object.entries(ORDERS).map(([name, [title]]) => el("option", { value: name }, title)), el("option", { value: "id" }, "query id"))),
      filters), place,
    how(about.here < about.all ? `The page holds the scores of ${about.here.toLocaleString("en")} of ${about.all.toLocaleString("en")} queries: those on which systems differ most. The means here are theirs alone.` : "The page holds the scores of all queries, to four decimals.",
      documents ? `What was retrieved is here for ${documents.queries.toLocaleString("en")} of ${about.all.toLocaleString("en")} queries${documents.queries < about.all ? ": by turns those on which systems differ most on the primary measure, and a fixed sample of the others" : ""}; the first ${documents.top} documents of each system, and up to ${documents.missed} relevant ones that no system has there.` : "The page was made without the runs.",
      documents && documents.texts ? `Of a document the first ${documents.text} characters are here; ${counted(documents.cut, "document is", "documents are")} longer.` : documents ? "The documents' texts are not known: runs were scored against a file of judgments." : null,
      documents && documents.texts ? (documents.quantities ? "Marked quantities are the benchmark's own, of its table of quantities. One that meets a condition does so by value and unit; whether it is about the right thing is not looked at." : "The benchmark holds no quantities of its documents: none is marked.") : null));
}
