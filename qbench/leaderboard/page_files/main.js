// Puts the parts together.

function bar() {
  const links = [["table", "Systems"], ["pairs", "Pairs"], ["buckets", "Kinds of query"], ["cost", "Cost"], ["queries", "Query by query"],
    ...(data.picture ? [["picture", "Why a document is there"]] : []), ["about", "How it was made"]];
  const select = el("select", { id: "measure", onchange: (event) => { chosen.measure = Number(event.target.value); changed("measure"); } },
    data.measures.map((name, m) => el("option", { value: m, selected: m === chosen.measure }, m ? name : `${name} (primary)`)));
  return el("div", { class: "bar" }, el("label", {}, "Measure", select),
    el("nav", { "aria-label": "Parts of the page" }, links.map(([id, title]) => el("a", { href: `#${id}` }, title))));
}

function size() {
  const facts = data.about.benchmark || {};
  const parts = [counted(rows.length, "system"), `${counted(queryCount(), "query", "queries")}${facts.split ? ` (${facts.split})` : ""}`];
  if (data.about.topics) parts.push(counted(data.about.topics, "topic"));
  for (const what of ["documents", "sentences", "descriptions"]) if (facts[what]) parts.push(`${facts[what].toLocaleString("en")} ${what}`);
  return [...parts, `ranked by ${data.measures[0]}`].join(" \u00b7 ");
}

const FEW_NOTES = 6;

function notes() {
  if (!data.notes.length) return null;
  const list = el("ul", {}, data.notes.map((note) => el("li", {}, text(note))));
  const title = "Before believing a figure";
  return el("div", { class: "notes", role: "note" }, data.notes.length > FEW_NOTES
    ? el("details", {}, el("summary", {}, el("b", {}, `${title}: ${data.notes.length} notes`)), list)
    : [el("b", {}, title), list]);
}

/** What the benchmark asks: some of its queries, with what they mean when pointed at. */
function samples() {
  if (!data.samples.length) return null;
  return el("p", { class: "samples" }, "Queries such as ", data.samples.map((one) => el("q", {
    title: [one.condition, one.relevant === null ? "" : counted(one.relevant, "relevant document")].filter(Boolean).join(" \u00b7 ") || null,
  }, text(one.text))));
}

const toComparison = addressed();
const page = document.getElementById("page");
page.append(el("a", { class: "skip", href: "#table" }, "To the table"), el("h1", {}, text(data.name)), el("p", { class: "soft" }, size()), ...[samples()].filter(Boolean),
  ...(ran.length > 1 ? [el("p", { class: "verdict" }, text(data.verdict))] : []),
  ...(data.words.length ? [el("p", { class: "board-words" }, data.words.map((word) => [el("span", { class: "tag warning" }, word), " "]))] : []), bar());
page.append(...[tableView(), notes()].filter(Boolean));
changed("measure");
document.documentElement.dataset.ready = "table";

// The table is on the screen before the rest is drawn.
setTimeout(() => {
  const before = listeners.length;
  page.append(...[matrixView(), bucketsView(), costView(), queriesView(), pictureView(), aboutView()].filter(Boolean));
  for (const one of listeners.slice(before)) one.draw();
  if (toComparison) goToQueries();
  window.addEventListener("hashchange", () => {
    // A link was followed, or edited: what it says is drawn, and what it does not say stays.
    if (!location.hash.includes("=")) return;
    const comparison = addressed();
    document.getElementById("measure").value = String(chosen.measure);
    for (const one of listeners) one.draw();
    if (comparison) goToQueries();
  });
  document.documentElement.dataset.ready = "all";
}, 0);
