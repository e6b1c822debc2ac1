// Why a document is the best one of a query: what `qbench explain` prints, as bars.

/** The bars of one heading, drawn to a scale of their own: shares to 1, sums to the largest. */
function barGroup([title, bars]) {
  const wide = 120;
  const most = Math.max(1, ...bars.map(([, value]) => value || 0));
  const row = ([name, value, note]) => {
    const share = Math.max(0, value || 0) / most;
    return el("tr", {}, el("th", { scope: "row" }, text(name)),
      el("td", { class: "drawn" }, svg("svg", { width: wide, height: 12, "aria-hidden": "true" },
        svg("rect", { class: "grid", x: 0.5, y: 0.5, width: wide - 1, height: 11, fill: "none" }),
        svg("rect", { x: 0, y: 0, width: share * wide, height: 12, fill: "var(--c0)" }))),
      el("td", { class: "figure" }, fixed(value)), el("td", { class: "soft small" }, el("span", {}, note)));
  };
  return el("table", { class: "bars" }, el("caption", {}, text(title)), el("tbody", {}, bars.map(row)));
}

function pictureView() {
  const one = data.picture;
  if (!one) return null;
  const row = rows.find((each) => each.label === one.label);
  return section("picture", "Why a document is there",
    el("p", {}, `The first document of ${row ? `${row.number} ` : ""}`, text(one.label), " for ", el("q", {}, text(one.query)), ":"),
    el("blockquote", { class: "any" }, text(one.text), " ", el("span", { class: "soft small" }, text(one.doc))),
    el("div", { class: "reasons" }, one.groups.map(barGroup)),
    how("Bars of one heading have one scale; those of two headings cannot be compared.",
      "`qbench explain` prints the same of every query, document and system."));
}
