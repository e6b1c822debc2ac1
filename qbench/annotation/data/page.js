// Texts are only ever shown as text: every node is made here, and nothing is parsed as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const STORE = `qbench annotate ${data.sheet} ${data.name}`;
const UNSURE = "?";
const choices = [
  ...data.scale.map((label, grade) => ({ grade, label, tone: data.tones[grade] })),
  { grade: UNSURE, label: "cannot tell", tone: "unsure" },
];
const total = data.queries.reduce((sum, query) => sum + query.items.length, 0);

let state = { annotator: "", answers: {}, unsaved: 0 };
let kept = true; // whether this browser keeps what is done
let query = 0, item = 0; // what is looked at
let target = null; // the file that was chosen for saving
let saving = false; // whether a file is being chosen or written
let cards = [];
let awaited = null; // the item whose cause the next digit names

const keys = data.queries.map((one) => one.items.map((shown) => JSON.stringify([one.id, shown.id])));
const key = (q, i) => keys[q][i];
const EMPTY = { grade: null, comment: "", cause: "" };
const answer = (q, i) => state.answers[key(q, i)] || EMPTY;
// Whatever is less than the best grade has a cause, where the sheet knows some.
const needsCause = (grade) => data.causes.length > 0 && Number.isInteger(grade) && grade < data.scale.length - 1;
const digit = (place) => String((place + 1) % 10);
const isJudged = (q, i) => answer(q, i).grade !== null;
const known = new Set(keys.flat());
let counts = []; // of judged items, by query: a large sheet is not counted anew at every key

// What was kept or loaded may be of any kind: only answers to items of this sheet, on its scale, are taken.
function clean(answers) {
  const taken = {};
  for (const [name, value] of Object.entries(answers && typeof answers === "object" ? answers : {})) {
    if (!known.has(name) || !value || typeof value !== "object") continue;
    const grade = choices.some((choice) => choice.grade === value.grade) ? value.grade : null;
    const comment = typeof value.comment === "string" ? value.comment : "";
    const cause = needsCause(grade) && data.causes.includes(value.cause) ? value.cause : "";
    if (grade !== null || comment) taken[name] = { grade, comment, cause };
  }
  return taken;
}

function restore() {
  try {
    const text = localStorage.getItem(STORE);
    if (text === null) return;
    const found = JSON.parse(text);
    state = {
      annotator: typeof found.annotator === "string" ? found.annotator : "",
      answers: clean(found.answers),
      unsaved: Number.isInteger(found.unsaved) ? found.unsaved : 0,
    };
  } catch (error) {
    if (!(error instanceof SyntaxError)) kept = false;
  }
}

function store(name, text) {
  try {
    localStorage.setItem(name, text);
    kept = true;
  } catch {
    kept = false;
  }
}

const keep = () => store(STORE, JSON.stringify(state));

// Tries it with a name of its own: another window may have kept more under STORE since it was read here.
function tryKeeping() {
  store(`${STORE} tried`, "");
  if (kept) localStorage.removeItem(`${STORE} tried`);
}

function changed() {
  state.unsaved += 1;
  keep();
}

function count(q) {
  counts[q] = data.queries[q].items.filter((_, i) => isJudged(q, i)).length;
  parts.queries.options[q].textContent = `${q + 1}. ${data.queries[q].text} (${counts[q]}/${data.queries[q].items.length})`;
}

function countAll() {
  data.queries.forEach((_, q) => count(q));
  progressed();
}

// ---- what is seen

const parts = {
  done: el("span", { class: "done", id: "done" }),
  bar: el("progress", { max: total, value: 0, "aria-label": "judged" }),
  status: el("div", { class: "status", id: "status", role: "status" }),
  name: el("input", { id: "annotator", type: "text", placeholder: "Your name", "aria-label": "Your name", maxlength: 80 }),
  pick: el("input", { id: "file", type: "file", accept: ".json,application/json", hidden: true }),
  queries: el("select", { id: "queries", "aria-label": "Query" }),
  asked: el("section", { class: "asked" }),
  list: el("ol", { class: "list", id: "list" }),
  guide: el("section", { class: "guide", id: "guide", hidden: true }),
  help: el("section", { class: "guide", id: "help", hidden: true }),
  found: el("dialog", { class: "found", id: "found", "aria-labelledby": "found-title" }),
};
const buttons = {
  guide: el("button", { id: "show-guide", type: "button", onclick: () => toggle("guide"), "aria-expanded": "false" }, "Guideline"),
  help: el("button", { id: "show-help", class: "keyboard", type: "button", onclick: () => toggle("help"), "aria-expanded": "false" }, "Keys"),
  open: el("button", { id: "open", type: "button", onclick: () => parts.pick.click() }, "Open"),
  save: el("button", { id: "save", type: "button", class: "primary", onclick: () => save() }, "Save"),
  before: el("button", { id: "before", type: "button", onclick: () => show(query - 1), "aria-label": "Previous query" }, "‹"),
  after: el("button", { id: "after", type: "button", onclick: () => show(query + 1), "aria-label": "Next query" }, "›"),
  left: el("button", { id: "unjudged", type: "button", onclick: () => nextUnjudged() }, "Next unjudged"),
  on: el("button", { type: "button", onclick: () => show(query + 1) }, "Next query ›"),
};

function build() {
  document.getElementById("page").append(
    el("div", { class: "top" }, el("div", { class: "bar" },
      el("div", { class: "left" }, parts.done, parts.bar, parts.status),
      el("span", { class: "name" }, parts.name), buttons.guide, buttons.help, buttons.open, buttons.save, parts.pick)),
    parts.guide, parts.help,
    el("header", {}, el("div", { class: "where" }, buttons.before, parts.queries, buttons.after), parts.asked),
    parts.list,
    el("div", { class: "foot" }, buttons.left, buttons.on), parts.found);
  data.queries.forEach((one, q) => parts.queries.append(el("option", { value: q })));
  parts.queries.addEventListener("change", () => show(Number(parts.queries.value)));
  parts.name.addEventListener("input", () => { state.annotator = parts.name.value.trim(); keep(); });
  parts.pick.addEventListener("change", () => load());
  buildGuide();
  buildHelp();
}

function buildGuide() {
  let list = null;
  for (const [kind, text] of data.guideline) {
    if (kind === "l") {
      if (list === null) parts.guide.append(list = el("ul"));
      list.append(el("li", {}, text));
    } else {
      list = null;
      parts.guide.append(el(kind === "h" ? "h2" : "p", {}, text));
    }
  }
}

function buildHelp() {
  const rows = [
    ...choices.map((choice) => [String(choice.grade), choice.label]),
    ["⌫", "take the answer back (or click it again)"], ["↓ j", "next text"], ["↑ k", "text before"], ["→ n", "next query"],
    ["← p", "query before"], ["u", "next unjudged"], ["c", "comment (Esc to leave)"], ["g", "guideline"], ["h", "keys"],
    ["s", "save"],
  ];
  if (data.causes.length) {
    const worse = choices.filter((choice) => needsCause(choice.grade)).map((choice) => choice.grade).join(" or ");
    rows.push([`${worse}, then`, "the cause:"], ...data.causes.map((cause, place) => [digit(place), cause]));
  }
  const list = el("ul", { class: "keys" });
  for (const [name, what] of rows) list.append(el("li", {}, el("kbd", {}, name), ` ${what}`));
  parts.help.append(el("h2", {}, "Keys"), list);
}

function toggle(name) {
  parts[name].hidden = !parts[name].hidden;
  buttons[name].setAttribute("aria-expanded", String(!parts[name].hidden));
  if (parts[name].hidden) look(item);
  else parts[name].scrollIntoView({ block: "start" });
}

function asking(one) {
  return el("li", {}, one);
}

function show(q, i = 0) {
  if (q < 0 || q >= data.queries.length) return;
  query = q;
  const one = data.queries[q];
  parts.asked.replaceChildren(el("h1", {}, one.text), el("ul", { class: "asks" }, ...one.asks.map(asking)));
  cards = one.items.map((_, place) => card(q, place));
  parts.list.replaceChildren(...cards.map((made) => made.node));
  buttons.before.disabled = q === 0;
  buttons.after.disabled = buttons.on.disabled = q === data.queries.length - 1;
  parts.queries.value = String(q);
  window.scrollTo(0, 0);
  look(i, i > 0);
  progressed();
}

function card(q, i) {
  const one = data.queries[q].items[i];
  const grades = choices.map((choice) =>
    el("button", { type: "button", class: `tone-${choice.tone}`, "data-grade": choice.grade, onclick: () => click(i, choice.grade) },
      el("kbd", {}, String(choice.grade)), choice.label));
  const comment = el("input", { class: "comment", type: "text", placeholder: "Comment", "aria-label": "Comment", maxlength: 2000,
    oninput: () => { set(q, i, { comment: comment.value }); } });
  const causes = data.causes.map((cause, place) =>
    el("button", { type: "button", "data-cause": cause, onclick: () => clickCause(i, cause) }, el("kbd", {}, digit(place)), cause));
  const reasons = el("div", { class: "causes", role: "group", "aria-label": "Why?", hidden: true }, ...causes);
  const text = el("p", {}, ...one.text.map(piece));
  const node = el("li", { class: "item", onclick: () => look(i, false) },
    ...(one.claim ? [el("p", { class: "claim" }, one.claim)] : []), ...(one.title ? [el("h2", {}, one.title)] : []), text,
    ...(one.said || []).map((line) => el("p", { class: "said" }, line)),
    el("div", { class: "grades", role: "group", "aria-label": data.question }, ...grades), reasons, comment);
  const made = { node, grades, comment, reasons, causes, i };
  paint(made);
  return made;
}

function piece(part) {
  if (typeof part === "string") return part;
  const [text, note] = part;
  return el("mark", {}, text, ...(note ? [" ", el("small", {}, `(${note})`)] : []));
}

function paint(made) {
  const given = answer(query, made.i);
  for (const button of made.grades) {
    button.setAttribute("aria-pressed", String(button.dataset.grade === String(given.grade)));
  }
  made.reasons.hidden = !needsCause(given.grade);
  for (const button of made.causes) button.setAttribute("aria-pressed", String(button.dataset.cause === given.cause));
  made.node.dataset.tone = (choices.find((choice) => choice.grade === given.grade) || { tone: "" }).tone;
  if (made.comment.value !== given.comment) made.comment.value = given.comment;
}

function look(i, scroll = true) {
  item = Math.max(0, Math.min(i, cards.length - 1));
  cards.forEach((made) => made.node.classList.toggle("now", made.i === item));
  if (scroll && cards[item]) cards[item].node.scrollIntoView({ block: "nearest" });
}

function progressed() {
  const done = counts.reduce((sum, number) => sum + number, 0);
  parts.done.textContent = `${done} of ${total} judged`;
  parts.bar.value = done;
  if (!kept) tell("This browser keeps nothing: save often.", true);
  else if (!state.unsaved) tell(done ? "Saved." : "");
  else tell(done === total ? "All judged: save the file and give it back." : "Kept in this browser, not yet saved to a file.");
}

function tell(text, warn = false) {
  parts.status.textContent = text;
  parts.status.classList.toggle("warn", warn);
}

// ---- what is done

function set(q, i, change) {
  const next = { ...answer(q, i), ...change };
  if (!needsCause(next.grade)) next.cause = "";
  if (next.grade === null && !next.comment) delete state.answers[key(q, i)];
  else state.answers[key(q, i)] = next;
  changed();
  count(q);
  progressed();
}

function give(grade) {
  if (answer(query, item).grade === grade) return; // a key sets, however often it is pressed
  set(query, item, { grade });
  paint(cards[item]);
}

function giveCause(i, cause) {
  set(query, i, { cause });
  paint(cards[i]);
}

function clickCause(i, cause) {
  look(i, false);
  giveCause(i, answer(query, i).cause === cause ? "" : cause);
}

function takeBack() {
  set(query, item, { grade: null });
  paint(cards[item]);
}

function click(i, grade) {
  look(i, false);
  if (answer(query, i).grade === grade) takeBack();
  else give(grade);
}

function nextUnjudged() {
  const size = data.queries.length;
  for (let step = 0; step <= size; step += 1) {
    const q = (query + step) % size;
    for (let i = step === 0 ? item : 0; i < data.queries[q].items.length; i += 1) {
      if (!isJudged(q, i)) {
        if (q === query) look(i); else show(q, i);
        return;
      }
    }
  }
}

function byKey(grade) {
  give(grade);
  if (needsCause(grade)) awaited = key(query, item);
  else nextUnjudged();
}

// After a grade that needs a cause the next digit names it; any other key goes on as ever.
function causeByKey(name) {
  const waiting = awaited === key(query, item);
  awaited = null;
  const cause = waiting && data.causes.find((_, place) => digit(place) === name);
  if (!cause) return false;
  giveCause(item, cause);
  nextUnjudged();
  return true;
}

const actions = {
  ArrowDown: () => look(item + 1), j: () => look(item + 1), ArrowUp: () => look(item - 1), k: () => look(item - 1),
  ArrowRight: () => show(query + 1), n: () => show(query + 1), ArrowLeft: () => show(query - 1), p: () => show(query - 1),
  u: nextUnjudged, c: () => cards[item].comment.focus(), g: () => toggle("guide"), h: () => toggle("help"), s: () => save(),
  Backspace: takeBack,
};
for (const choice of choices) actions[String(choice.grade)] = () => byKey(choice.grade);

document.addEventListener("keydown", (event) => {
  if (parts.found.open) return;
  if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (causeByKey(event.key)) {
    event.preventDefault();
    return;
  }
  if (!Object.hasOwn(actions, event.key)) return;
  event.preventDefault();
  actions[event.key]();
});

// ---- files

function saved() {
  const lines = [];
  data.queries.forEach((one, q) => one.items.forEach((shown, i) => {
    const given = state.answers[key(q, i)];
    const cause = given && given.cause ? { cause: given.cause } : {};
    if (given) lines.push(JSON.stringify({ query_id: one.id, doc_id: shown.id, grade: given.grade, ...cause, comment: given.comment }));
  }));
  const head = { qbench: "answers", sheet: data.sheet, name: data.name, annotator: state.annotator, items: total };
  return `${JSON.stringify(head).slice(0, -1)},\n"answers": [\n${lines.join(",\n")}\n]}\n`;
}

function fileName() {
  const who = state.annotator.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
  return `${data.name}-${who || "answers"}.json`;
}

async function save() {
  if (saving) return;
  saving = true;
  const before = state.unsaved;
  let note;
  try {
    note = await write(saved());
  } catch (error) {
    if (error.name !== "AbortError") tell(`Not saved: ${error.message}`, true);
    return;
  } finally {
    saving = false;
  }
  state.unsaved -= before; // what was answered meanwhile is not in the file
  keep();
  progressed();
  if (note) tell(note);
}

// A file of the user's choice where the browser can, else a download. Gives what the user should know of it.
async function write(text) {
  if (!window.showSaveFilePicker) return download(text);
  const known = target;
  if (known) {
    try {
      return await put(known, text);
    } catch {
      target = null; // it was removed, or may no longer be written: another is chosen
    }
  }
  let chosen;
  try {
    const types = [{ description: "Answers", accept: { "application/json": [".json"] } }];
    chosen = await window.showSaveFilePicker({ suggestedName: fileName(), types });
  } catch (error) {
    if (error.name === "AbortError") {
      if (known) throw new Error(`${known.name} can no longer be written, and no other file was chosen.`);
      throw error;
    }
    // Within another page, or too long after the key was pressed, no file may be asked for.
    download(text);
    return `Saved among the downloads, as ${fileName()}.`;
  }
  await put(chosen, text);
  target = chosen;
}

async function put(file, text) {
  const stream = await file.createWritable();
  await stream.write(text);
  await stream.close();
}

function download(text) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: fileName() });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

async function load() {
  const file = parts.pick.files[0];
  parts.pick.value = "";
  if (!file) return;
  let found;
  try {
    found = JSON.parse(await file.text());
  } catch {
    tell(`${file.name} is not a whole file of answers.`, true);
    return;
  }
  if (!found || found.qbench !== "answers" || found.sheet !== data.sheet || !Array.isArray(found.answers)) {
    tell(`${file.name} holds no answers to this sheet.`, true);
    return;
  }
  merge(found, file.name);
}

// What is here and lacks in the file stays; what both have, and differently, is the annotator's to decide.
function merge(found, name) {
  const rows = found.answers.filter((row) => row && typeof row === "object");
  const theirs = clean(Object.fromEntries(rows.map((row) => [JSON.stringify([row.query_id, row.doc_id]), row])));
  const whose = typeof found.annotator === "string" ? found.annotator.trim() : "";
  const others = Object.keys(state.answers).length && whose && state.annotator && whose !== state.annotator;
  if (others && !window.confirm(`${name} is the work of ${whose}, and what is here is the work of ${state.annotator}. Put them together?`)) return;
  const names = Object.keys(theirs);
  const mine = (one) => state.answers[one] || EMPTY;
  const grades = names.filter((one) => ![null, mine(one).grade].includes(theirs[one].grade) && mine(one).grade !== null);
  const comments = names.filter((one) => !["", mine(one).comment].includes(theirs[one].comment) && mine(one).comment);
  const differ = [[grades.length, "grade"], [comments.length, "comment"]].filter(([size]) => size).map(([size, what]) => some(size, what)).join(" and ");
  const take = Boolean(differ) && window.confirm(`What is here differs from ${name} in ${differ}. Take what the file has? (Cancel keeps what is here.)`);
  const before = JSON.stringify(state);
  for (const one of names) {
    const [file, here] = [theirs[one], mine(one)];
    const theirGrade = file.grade !== null && (take || here.grade === null);
    const same = file.grade === here.grade && !here.cause;
    state.answers[one] = {
      grade: theirGrade ? file.grade : here.grade,
      cause: theirGrade || same ? file.cause : here.cause,
      comment: file.comment && (take || !here.comment) ? file.comment : here.comment,
    };
  }
  if (!state.annotator && whose) parts.name.value = state.annotator = whose;
  if (JSON.stringify(state) !== before) changed();
  countAll();
  show(query, item);
  tell(`${some(names.length, "answer")} read from ${name}.`);
}

const some = (size, what) => `${size} ${what}${size === 1 ? "" : "s"}`;

// ---- the work that this browser holds when the page is opened

function welcome() {
  const [answers, comments] = [Object.values(state.answers), Object.values(state.answers).filter((one) => one.comment)];
  if (!answers.length && !state.annotator) return;
  const done = answers.filter((one) => one.grade !== null).length;
  const work = `${done} of ${total} judged${comments.length ? `, ${some(comments.length, "comment")}` : ""}`;
  const whose = state.annotator ? `the work of ${state.annotator}` : "work without a name";
  const files = () => (state.unsaved ? "Not all of it is saved to a file." : "It was saved to a file.");
  const where = el("p", { class: "status" }, files());
  const afresh = () => {
    if (!window.confirm(`Remove ${whose} (${work}) from this browser? ${files()}`)) return;
    startAfresh();
    parts.found.close();
  };
  const saveIt = async () => {
    await save();
    where.textContent = state.unsaved ? `${files()} ${parts.status.textContent}` : files();
  };
  parts.found.replaceChildren(
    el("h2", { id: "found-title" }, "Is this your work?"),
    el("p", {}, `This browser holds ${whose} on this sheet: ${work}.`), where,
    el("div", { class: "choose" },
      el("button", { type: "button", class: "primary", id: "go-on", onclick: () => parts.found.close() }, "Go on with it"),
      el("button", { type: "button", id: "save-found", onclick: saveIt }, "Save it to a file"),
      el("button", { type: "button", id: "afresh", onclick: afresh }, "Start afresh")));
  parts.found.showModal();
}

function startAfresh() {
  state = { annotator: "", answers: {}, unsaved: 0 };
  target = null; // the file is another's
  parts.name.value = "";
  keep();
  countAll();
  show(0);
}

// The sheet is open twice: both windows show the same.
function agree() {
  if (!kept) return; // what stands here could not be kept, and is newer
  restore();
  parts.name.value = state.annotator;
  cards.forEach(paint);
  countAll();
}
window.addEventListener("storage", (event) => {
  if (event.key === STORE) agree();
});
window.addEventListener("focus", agree);

window.addEventListener("beforeunload", (event) => {
  if (!kept && state.unsaved) event.preventDefault();
});

restore();
build();
parts.name.value = state.annotator;
tryKeeping();
countAll();
show(0);
nextUnjudged();
welcome();
