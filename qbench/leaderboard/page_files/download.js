// Files that the page gives away: the table as CSV, a chart as PNG.

function save(name, blob) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const fileName = (...parts) => [data.name, ...parts].join("-").toLowerCase().replace(/[^\p{L}\p{N}.]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 80) || "leaderboard";

/** A cell of CSV; what a spreadsheet would take for a formula is text there. */
function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const plain = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** The rows that pass the filters, in the order of the table, with the figures of all measures. */
function tableAsCsv() {
  const head = ["number", "system", "conditions", ...data.measures.flatMap((name) => [name, `${name} low`, `${name} high`, `${name} best rank`, `${name} worst rank`]), ...COSTS.map((cost) => cost.title)];
  const lines = sorted(passing()).map((i) => {
    const row = rows[i];
    const figures = data.measures.flatMap((_, m) => {
      if (!row.cells) return [null, null, null, null, null];
      const { mean, low, high } = cellOf(i, m);
      return [mean, ...(low < high ? [low, high] : [null, null]), ...row.ranks[m]];
    });
    return [row.number, row.label, row.conditions, ...figures, ...COSTS.map((cost) => (row.cost ? cost.of(row.cost) : null))];
  });
  return [head, ...lines].map((line) => line.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

const csvButton = () => el("button", { onclick: () => save(`${fileName()}.csv`, new Blob([tableAsCsv()], { type: "text/csv" })) }, "Download CSV");

const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "paint-order", "opacity", "font", "text-anchor"];

/** A chart with the page's styles written into it, so that it looks the same elsewhere. */
function standalone(chart) {
  const copy = chart.cloneNode(true);
  const [from, to] = [chart.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((node, n) => {
    const style = getComputedStyle(node);
    for (const name of DRAWN) to[n].style.setProperty(name, style.getPropertyValue(name));
  });
  return new XMLSerializer().serializeToString(copy);
}

/** A chart as a PNG, three pixels for each of the screen, on the page's ground. */
async function picture(chart) {
  const [width, height] = [chart.width.baseVal.value, chart.height.baseVal.value];
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(chart))}`;
  await image.decode();
  const canvas = el("canvas", { width: width * 3, height: height * 3 });
  const pen = canvas.getContext("2d");
  pen.fillStyle = getComputedStyle(document.body).backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((ready) => canvas.toBlob(ready, "image/png"));
}

/** A button that saves the chart of its figure. */
const pngButton = (title) => el("button", {
  class: "tiny", "aria-label": `Download ${title} as PNG`,
  onclick: async (event) => {
    const chart = event.currentTarget.closest("figure").querySelector("svg[role=img]");
    if (chart) save(`${fileName(title)}.png`, await picture(chart));
  },
}, "PNG");
