// The matrix of pairs: who is significantly above whom, and what is known of a pair.

const NUMBERS_UP_TO = 10;
/** Columns are headed by names up to so many, of so many characters, and where the page is wide; else by numbers. */
const NAMES_UP_TO = 8;
const NAME_LENGTH = 24;

function verdict(i, j) {
  const found = relation(i, j);
  if (!found) return { kind: "none", sign: "", words: "not compared: they did different tasks" };
  if (!found.significant) return { kind: "same", sign: "\u2248", words: "cannot be told apart" };
  return found.difference > 0
    ? { kind: "above", sign: "\u25b2", words: "significantly above" }
    : { kind: "below", sign: "\u25bc", words: "significantly below" };
}

function pairDetails(i, j) {
  const found = relation(i, j);
  const title = el("h3", {}, text(`${rows[i].number} ${rows[i].label}`), " against ", text(`${rows[j].number} ${rows[j].label}`));
  const onward = data.queries ? el("button", { onclick: () => { compare(i, j); goToQueries(); } }, "Compare query by query") : null;
  if (!found) return el("div", { class: "pair" }, title, el("p", {}, "These two were not compared: one was given conditions, the other parsed them."), onward);
  const [n, m] = [ran.indexOf(i), ran.indexOf(j)];
  const counts = data.queries && data.queries.wins[chosen.measure];
  const total = queryCount();
  const line = (term, what) => [el("dt", {}, term), el("dd", {}, what)];
  const wins = counts ? [counts[n][m], counts[m][n]] : null;
  return el("div", { class: "pair" }, title,
    el("p", {}, `${rows[i].number} ${verdict(i, j).words === "cannot be told apart" ? "and" : "is " + verdict(i, j).words} ${rows[j].number}${verdict(i, j).kind === "same" ? " cannot be told apart" : ""} on ${measureName()}.`),
    el("dl", {},
      line("Difference", `${signed(found.difference)}${found.low < found.high ? ` (95 % interval ${signed(found.low)} to ${signed(found.high)})` : ""}`),
      line("p", `${probability(found.p)}; after Holm ${probability(found.holm)}`),
      line("Effect d_z", found.effect === null ? "not defined: the difference never varies" : signed(found.effect, 2)),
      wins ? line("Queries", `${rows[i].number} scores higher on ${wins[0].toLocaleString("en")}, ${rows[j].number} on ${wins[1].toLocaleString("en")}, equal on ${(total - wins[0] - wins[1]).toLocaleString("en")}`) : null),
    onward);
}

function matrixTable(open, details) {
  const places = passing().filter((i) => rows[i].cells).sort((i, j) => cellOf(j).mean - cellOf(i).mean || i - j);
  if (places.length < 2) return el("p", { class: "soft" }, ran.length < 2 ? "There are no two systems with runs to compare." : "No two systems with runs pass the filters of the table.");
  const numbers = open.wins || places.length <= NUMBERS_UP_TO;
  const named = places.length <= NAMES_UP_TO && window.innerWidth >= 1000 && places.every((j) => rows[j].label.length <= NAME_LENGTH);
  const counts = data.queries && data.queries.wins[chosen.measure];
  const share = (i, j) => `${Math.round((100 * counts[ran.indexOf(i)][ran.indexOf(j)]) / queryCount())} %`;
  const buttons = new Map();
  const key = (i, j) => `${i} ${j}`;
  const select = (i, j) => {
    for (const [name, button] of buttons) {
      button.setAttribute("aria-pressed", String(name === key(i, j)));
      button.tabIndex = name === key(i, j) ? 0 : -1;
    }
    open.pair = [i, j];
    details.replaceChildren(pairDetails(i, j));
  };
  const move = (event, at, to) => {
    const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    let [y, x] = [at + step[0], to + step[1]];
    // The diagonal holds no pair: step over it.
    if (y === x) [y, x] = [y + step[0], x + step[1]];
    const next = places[y] !== undefined && places[x] !== undefined ? buttons.get(key(places[y], places[x])) : null;
    if (next) next.focus();
  };
  const cell = (i, j, y, x) => {
    if (i === j) return el("td", { class: "self", "aria-label": "itself" }, "");
    const { kind, sign, words } = verdict(i, j);
    const found = relation(i, j);
    const button = el("button", {
      "aria-pressed": "false", tabindex: "-1",
      "aria-label": `${rows[i].number} against ${rows[j].number}: ${words}${found ? `, ${signed(found.difference)}` : ""}`,
      onclick: () => select(i, j), onkeydown: (event) => move(event, y, x),
    }, !found ? "\u2013" : open.wins ? `${share(i, j)} ${sign}` : numbers ? `${signed(found.difference)} ${sign}` : sign);
    buttons.set(key(i, j), button);
    return el("td", { class: kind }, button);
  };
  const table = el("table", { class: numbers ? "matrix wide" : "matrix" },
    el("caption", {}, `${measureName()}: ${open.wins ? "on which share of the queries the row scores higher than the column" : "the row's mean less the column's"}. \u25b2 significantly above, \u25bc significantly below, \u2248 cannot be told apart, \u2013 not compared.`),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "System"), places.map((j) => el("th", { scope: "col", title: rows[j].label, class: named ? "named" : "" }, named ? rows[j].label : rows[j].number)))),
    el("tbody", {}, places.map((i, y) => el("tr", {},
      el("th", { scope: "row" }, el("span", { class: "name" }, el("b", {}, rows[i].number), el("span", { class: "clip one", title: rows[i].label }, rows[i].label))),
      places.map((j, x) => cell(i, j, y, x))))));
  const first = open.pair && buttons.has(key(...open.pair)) ? open.pair : firstPair(places);
  select(...first);
  return scrolling("Matrix of pairs", table, null);
}

function matrixView() {
  const open = { pair: null, wins: false };
  const place = el("div", {});
  const details = el("div", { "aria-live": "polite" });
  const draw = () => {
    details.replaceChildren();
    place.replaceChildren(matrixTable(open, details));
  };
  follow(["measure", "filter"], draw);
  const cells = el("label", {}, "Cells show", el("select", { id: "cells", onchange: (event) => { open.wins = event.target.value === "wins"; draw(); } },
    el("option", { value: "difference" }, "differences of means"), el("option", { value: "wins" }, "shares of queries won")));
  const tests = data.about.tests || {};
  return section("pairs", "Who is significantly above whom",
    el("p", { class: "soft" }, "Choose a cell, or go through them with the arrow keys. The table's filters apply here."),
    ran.length > 1 && data.queries ? el("div", { class: "controls" }, cells) : null,
    el("div", { class: "beside" }, place, details),
    how(`Two-sided paired randomisation test by ${tests.by}, ${counted(tests.resamples || 0, "resample")}, seed ${tests.seed}; Holm over ${tests.family || "all pairs of a measure"}; level ${tests.level}.`,
      `Interval of a difference: 95 %, bootstrap over ${tests.by === "query" ? "queries" : "topics"}, the same draws for all systems. Effect d_z: mean difference in units of its standard deviation from ${tests.by} to ${tests.by}.`,
      data.winCaption ? "A query counts as a win however small the difference." : null));
}
