// The address holds what the reader chose: a link to it shows the same view.

/** Short names of sorted columns are those of `sortKeys`; a minus in front says falling. */
function address() {
  const parts = new URLSearchParams();
  if (chosen.measure) parts.set("measure", measureName());
  if (chosen.filter.trim()) parts.set("filter", chosen.filter.trim());
  const sources = [...new Set(rows.map((row) => row.conditions))];
  const shown = sources.filter((source) => chosen.conditions.has(source));
  if (shown.length < sources.length) parts.set("show", shown.join(","));
  if (chosen.sort.key !== "place" || chosen.sort.falling) parts.set("sort", (chosen.sort.falling ? "-" : "") + chosen.sort.key);
  const charts = [...chosen.shown].sort((i, j) => i - j);
  if (charts.join() !== ran.slice(0, 8).join()) parts.set("charts", charts.map((i) => rows[i].number).join(","));
  if (chosen.paired) parts.set("compare", chosen.pair.map((i) => rows[i].number).join(","));
  return parts.toString().replaceAll("%2C", ",").replaceAll("%40", "@");
}

/** Writes the choice into the address, without a step back in the browser's history. */
function remember() {
  const wanted = address();
  try {
    if (wanted) history.replaceState(null, "", `#${wanted}`);
    else if (location.hash.includes("=")) history.replaceState(null, "", location.pathname + location.search);
  } catch {
    // A page within another page may have no address of its own.
  }
}

/** The rows of some numbers; undefined where one is unknown. */
function numbered(list) {
  const found = list.split(",").filter(Boolean).map((number) => ran.find((i) => rows[i].number === number));
  return found.includes(undefined) ? undefined : found;
}

/** Takes the choice from the address; what makes no sense in it is left as it is. Gives whether it names a comparison. */
function addressed() {
  if (!location.hash.includes("=")) return false;
  const parts = new URLSearchParams(location.hash.slice(1));
  const measure = data.measures.indexOf(parts.get("measure"));
  if (measure >= 0) chosen.measure = measure;
  if (parts.has("filter")) chosen.filter = parts.get("filter");
  const sources = (parts.get("show") || "").split(",").filter((source) => rows.some((row) => row.conditions === source));
  if (sources.length) chosen.conditions = new Set(sources);
  const [, minus, key] = /^(-?)(\w+)$/.exec(parts.get("sort") || "") || [];
  if (key && Object.hasOwn(sortKeys, key)) chosen.sort = { key, falling: Boolean(minus) };
  const charts = parts.has("charts") ? numbered(parts.get("charts")) : undefined;
  if (charts) chosen.shown = new Set(charts);
  const pair = numbered(parts.get("compare") || "");
  if (!pair || pair.length !== 2) return false;
  chosen.pair = pair;
  chosen.paired = true;
  return true;
}
