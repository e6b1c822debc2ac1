// How the figures were made: command, benchmark, settings, versions, digests.

function facts(value, order) {
  return el("dl", { class: "facts" }, (order || Object.keys(value)).map((name) => [name, value[name]]).filter(([, one]) => one !== null && one !== "").map(([name, one]) =>
    [el("dt", {}, text(name.replaceAll("_", " "))), el("dd", {}, one !== null && typeof one === "object" && !Array.isArray(one) ? facts(one) : text(Array.isArray(one) ? one.join(", ") : String(one)))]));
}

function aboutView() {
  const { command } = data.about;
  const titles = { benchmark: "Benchmark", topics: "Topics", settings: "Settings", tests: "Tests", versions: "Versions" };
  const marks = rows.filter((row) => row.digest || Object.keys(row.meta).length);
  return section("about", "How it was made",
    command ? [el("p", {}, "The command that makes the figures again:"), el("pre", {}, el("code", {}, command.split(" ").flatMap((word) => [el("span", { class: "word" }, word), " "])))] : null,
    data.order.filter(([name]) => name !== "command").map(([name, keys]) => [el("h3", {}, titles[name] || text(name)),
      keys ? facts(data.about[name], keys) : el("p", {}, text(String(data.about[name])))]),
    marks.length ? [el("h3", {}, "Runs"), scrolling("Runs", el("table", {}, el("caption", {}, "A digest names everything that could change a run."),
      el("thead", {}, el("tr", {}, ["", "System", "Digest", "Known of the run"].map((title) => el("th", { scope: "col" }, title)))),
      el("tbody", {}, marks.map((row) => el("tr", {}, el("td", {}, row.number), el("th", { scope: "row" }, el("span", { class: "clip" }, row.label)), el("td", {}, el("code", {}, row.digest || "-")),
        el("td", { class: "small" }, text(Object.entries(row.meta).map(([name, one]) => `${name.replaceAll("_", " ")}: ${one}`).join("; "))))))))] : null,
    el("p", { class: "soft" }, "The page is one file and asks no server for anything. qbench writes the same figures as Markdown, LaTeX, JSON and Parquet too."));
}
