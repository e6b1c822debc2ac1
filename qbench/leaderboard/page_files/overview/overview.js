// Several leaderboards: systems by benchmarks, sorted by any column.

const data = JSON.parse(document.getElementById("data").textContent);
const chosen = { column: -1, falling: false, filter: "" };
const figure = (value) => (value === null ? "-" : value.toFixed(3));
const span = (best, worst) => (best === worst ? String(best) : `${best}\u2013${worst}`);

function value(row) {
  if (chosen.column === -2) return row.label.toLowerCase();
  if (chosen.column === -1) return row.rank;
  const place = row.places[chosen.column];
  return place && place[0];
}

// The address holds what the reader chose: a link to it shows the same view.

/** Names of the columns in an address: a board is its number, from 1. */
const columnName = (column) => (column === -1 ? "rank" : column === -2 ? "system" : String(column + 1));

function remember() {
  const parts = new URLSearchParams();
  if (chosen.filter.trim()) parts.set("filter", chosen.filter.trim());
  if (chosen.column !== -1 || chosen.falling) parts.set("sort", (chosen.falling ? "-" : "") + columnName(chosen.column));
  const wanted = parts.toString();
  try {
    if (wanted || location.hash.includes("=")) history.replaceState(null, "", wanted ? `#${wanted}` : location.pathname + location.search);
  } catch {
    // A page within another page may have no address of its own.
  }
}

/** Takes the choice from the address; what makes no sense in it is left as it is. */
function addressed() {
  const parts = new URLSearchParams(location.hash.slice(1));
  if (parts.has("filter")) chosen.filter = parts.get("filter");
  const [, minus, name] = /^(-?)(\w+)$/.exec(parts.get("sort") || "") || [];
  const column = [-1, -2, ...data.boards.keys()].find((one) => columnName(one) === name);
  if (column !== undefined) { chosen.column = column; chosen.falling = Boolean(minus); }
}

/** Rows in the chosen order; those without the figure come last either way. */
function order() {
  const wanted = chosen.filter.trim().toLowerCase();
  return data.rows.filter((row) => row.label.toLowerCase().includes(wanted)).sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === null || b === null) return (a === null) - (b === null);
    return (a < b ? -1 : a > b ? 1 : 0) * (chosen.falling ? -1 : 1);
  });
}

function heading(column, title, kind, link) {
  const now = chosen.column === column;
  const press = () => {
    chosen.falling = now ? !chosen.falling : column >= 0;
    chosen.column = column;
    changed();
  };
  return el("th", { scope: "col", class: kind, "aria-sort": now ? (chosen.falling ? "descending" : "ascending") : "none" },
    el("button", { class: "plain any", onclick: press }, title), link ? [" ", el("a", { href: link, class: "small" }, "page")] : null);
}

const place = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Systems on all benchmarks" });

function draw() {
  const head = el("tr", {}, heading(-1, "Mean rank", "number"), heading(-2, "System", "key"),
    data.boards.map((name, n) => heading(n, name, "number", data.links[n])));
  const body = order().map((row) => el("tr", {},
    el("td", { class: "number rank" }, row.rank === null ? "-" : String(Number(row.rank.toFixed(2)))),
    el("th", { scope: "row", class: "key" }, el("span", { class: "clip", title: row.label }, row.label)),
    row.places.map((found) => el("td", { class: "number" }, found ? [el("span", { class: "mean" }, figure(found[0])),
      el("sup", { title: "rank" }, span(found[3], found[4])), el("span", { class: "ci" }, found[1] < found[2] ? `${figure(found[1])}\u2013${figure(found[2])}` : "-")] : "-"))));
  place.replaceChildren(el("table", { class: "leaderboard" },
    el("caption", {}, `${data.measure}; ranks beside the means, 95 % intervals below them.`),
    el("thead", {}, head), el("tbody", {}, body)));
}

function changed() {
  remember();
  draw();
}

addressed();
document.getElementById("page").append(
  el("h1", {}, `${data.boards.length} benchmarks`),
  el("p", { class: "soft" }, `${data.rows.length} systems, ${data.measure}`),
  el("div", { class: "controls" }, el("label", {}, "Filter", el("input", { type: "search", id: "filter", placeholder: "part of a name", value: chosen.filter, oninput: (event) => { chosen.filter = event.target.value; changed(); } }))),
  place,
  el("details", { class: "how" }, el("summary", {}, "How this is made"), el("ul", {},
    el("li", {}, "Ranks are those that the tests of a board leave open; the mean rank is the mean of their middles."),
    el("li", {}, "A system without a run on some board has no mean rank: it would be compared on other benchmarks than the others."),
    el("li", {}, "On each board, systems whose conditions were given are ranked apart from those that read them in the query's text."))));
draw();
window.addEventListener("hashchange", () => {
  addressed();
  document.getElementById("filter").value = chosen.filter;
  draw();
});
document.documentElement.dataset.ready = "all";
