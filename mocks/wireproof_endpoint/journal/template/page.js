"use strict";
// Nothing that was received or sent becomes markup: every text is put in by textContent.
const ASK_MS = 500;
const one = (selector) => document.querySelector(selector);
const list = one("tbody"), detail = one("#detail"), title = one("#detail-title"), content = one(".content");
const form = one(".filters"), count = one(".count"), pause = one(".pause"), region = one(".scroll");
const seen = new Map(); // number → {entry, row}
let shown = null; // the number of the request that is shown
let parts = new Map(); // name of a part of the detail → {node, from}

// Characters that would not be seen, or would turn the text around.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
const visible = (text) => String(text).replace(HIDDEN, (it) => "\\u" + it.charCodeAt(0).toString(16).padStart(4, "0"));

function made(name, text, attributes = {}) {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = visible(text);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

const state = (entry) => entry.ended ?? "under way";
const took = (seconds) => seconds === null ? "" : seconds < 1 ? `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms` : `${seconds.toFixed(2)} s`;
const script = (entry) => entry.script === null ? "" : entry.part ? `${entry.script}, part ${entry.part + 1}` : entry.script;

function badge(entry) {
  return made("span", [entry.status, state(entry)].filter(Boolean).join(" "), { class: `state ${state(entry).replaceAll(" ", "-")}` });
}

// The list

function put(entry) {
  let it = seen.get(entry.number);
  if (!it) {
    it = { row: made("tr") };
    it.button = made("button", undefined, { type: "button", tabindex: "-1" });
    // Anywhere in the row, unless some of its text was marked to be copied.
    it.row.addEventListener("click", () => { if (getSelection().isCollapsed) choose(entry.number, true); });
    const head = made("th", undefined, { scope: "row" });
    head.append(it.button);
    it.cells = [made("td"), made("td"), made("td", undefined, { class: "number" })];
    it.row.append(head, ...it.cells);
    list.prepend(it.row);
    seen.set(entry.number, it);
  }
  it.entry = entry;
  const words = visible(`${entry.number} ${entry.method} ${entry.path}`);
  // A line breaks behind a slash, not within a word. What has not changed stays, for whoever marks it.
  if (it.button.textContent !== words) it.button.replaceChildren(...words.split(/(?<=\/)/).flatMap((text) => [text, made("wbr")]));
  it.cells[0].textContent = visible(script(entry));
  it.cells[1].replaceChildren(badge(entry));
  it.cells[2].textContent = took(entry.seconds);
}

function forget(first) {
  for (const [number, it] of seen) {
    // What somebody reads, or stands on, stays.
    if (number < first && number !== shown && it.button !== document.activeElement) {
      it.row.remove();
      seen.delete(number);
    }
  }
}

const SHOWS = {
  "": () => true,
  running: (entry) => entry.ended === null,
  refused: (entry) => entry.ended === "refused",
  broken: (entry) => !["completed", "refused", null].includes(entry.ended),
};

function filter() {
  const text = form.elements.text.value.toLowerCase(), wanted = SHOWS[form.elements.show.value];
  for (const { entry, row } of seen.values()) {
    const words = [entry.number, entry.method, entry.path, entry.script, entry.status, state(entry), entry.error?.message].join(" ");
    row.hidden = !(wanted(entry) && words.toLowerCase().includes(text));
  }
  const rows = visibleRows(), running = [...seen.values()].filter(({ entry }) => entry.ended === null).length;
  if (!rows.some((button) => button.tabIndex === 0) && rows.length) rove(rows[0], false);
  one(".empty").hidden = seen.size > 0;
  const said = `${rows.length} of ${seen.size} requests, ${running} under way`;
  if (count.textContent !== said) count.textContent = said;
}

const visibleRows = () => [...list.querySelectorAll("tr:not([hidden]) button")];

function rove(button, focus = true) {
  for (const other of list.querySelectorAll("button[tabindex='0']")) other.tabIndex = -1;
  button.tabIndex = 0;
  if (focus) button.focus();
}

list.addEventListener("keydown", (event) => {
  const rows = visibleRows(), at = rows.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  rove(rows[Math.max(0, Math.min(to, rows.length - 1))]);
});
list.addEventListener("focusin", (event) => { if (event.target.matches("button")) rove(event.target, false); });

// The request that is shown

async function choose(number, focus) {
  if (shown !== null) seen.get(shown)?.row.classList.remove("shown");
  shown = number;
  seen.get(number)?.row.classList.add("shown");
  for (const it of seen.values()) it.button.removeAttribute("aria-current");
  seen.get(number)?.button.setAttribute("aria-current", "true");
  history.replaceState(null, "", `#${number}`);
  content.replaceChildren();
  parts = new Map();
  await look();
  if (focus) title.focus();
}

async function look() {
  const number = shown;
  const response = await fetch(`/_wireproof/requests/${number}`);
  if (number !== shown) return;
  if (!response.ok) {
    if (!parts.size) title.textContent = `Request ${number} is no longer kept`;
    return;
  }
  show(await response.json());
}

function part(name, heading, from, fill) {
  const text = JSON.stringify(from ?? null);
  let it = parts.get(name);
  if (!it) {
    it = { node: made("section"), body: made("div") };
    if (heading) it.node.append(made("h3", heading));
    it.node.append(it.body);
    content.append(it.node);
    parts.set(name, it);
  }
  if (it.text === text) return;
  it.text = text;
  it.node.hidden = from === null || from === undefined || from.length === 0;
  if (!it.node.hidden) fill(it.body, from);
}

function show(entry) {
  const name = `Request ${entry.number}: ${entry.method} ${entry.path}`;
  if (title.textContent !== visible(name)) title.textContent = visible(name);
  part("facts", "", { entry: [entry.when, entry.status, state(entry), script(entry), entry.seconds, entry.sent_bytes] }, (body) => {
    const facts = made("dl", undefined, { class: "facts" });
    const rows = [["Came", entry.when], ["Answer", badge(entry)], ["Script", script(entry)], ["Took", took(entry.seconds)], ["Sent", `${entry.sent_bytes} bytes`]];
    for (const [term, value] of rows) {
      if (!value) continue;
      const row = made("div"), held = made("dd");
      held.append(value instanceof Node ? value : visible(value));
      row.append(made("dt", term), held);
      facts.append(row);
    }
    body.replaceChildren(facts);
  });
  part("refusal", "What was refused, and why", entry.error, (body, error) => {
    const box = made("div", undefined, { class: "refusal" });
    box.append(made("p", error.message));
    box.append(made("p", ["code", "type", "param"].filter((key) => error[key]).map((key) => `${key}: ${error[key]}`).join(" · "), { class: "quiet" }));
    body.replaceChildren(box);
  });
  part("why", "Why this script", entry.considered, (body, considered) => {
    const why = made("ul", undefined, { class: "why" });
    for (const it of considered) why.append(made("li", `${it.script}${it.answers ? " answers" : ""}: ${it.why}.`, it.answers ? { class: "answers" } : {}));
    body.replaceChildren(why);
  });
  part("sent", "What was sent", entry.sent, (body) => sent(body, entry));
  part("body", "What was received", entry.body, (body, received) => {
    const text = typeof received === "string" ? received : JSON.stringify(received, null, 2);
    const pre = made("pre", text, { tabindex: "0", role: "group", "aria-label": "Body of the request" });
    body.replaceChildren(pre);
    if (entry.body_cut) body.append(made("p", `The first bytes of ${entry.body_bytes}.`, { class: "quiet" }));
  });
  part("headers", "Headers", entry.headers, (body, headers) => {
    const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}`).join("\n");
    body.replaceChildren(made("pre", lines, { tabindex: "0", role: "group", "aria-label": "Headers of the request" }));
  });
}

function sent(body, entry) {
  let frames = body.querySelector(".frames");
  if (!frames) {
    frames = made("ol", undefined, { class: "frames", "aria-label": "Frames in order" });
    body.replaceChildren(made("div"), frames, made("p", "", { class: "quiet" }));
  }
  body.firstChild.replaceChildren(axis(entry));
  // Only what is new is added: whoever reads keeps their place.
  for (const frame of entry.sent.slice(frames.children.length)) {
    const before = entry.sent[frames.children.length - 1]?.at ?? 0;
    const row = made("li"), gap = frame.at - before;
    row.append(made("time", `${frame.at.toFixed(3)} s${gap >= 0.01 ? ` (+${took(gap)})` : ""}`), made("pre", frame.text || `${frame.bytes} bytes, not kept`));
    frames.append(row);
  }
  body.lastChild.textContent = entry.sent_cut ? "More was sent than is kept." : "";
}

const SVG = "http://www.w3.org/2000/svg";
function drawn(name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text) node.textContent = text;
  return node;
}

function axis(entry) {
  const last = entry.sent.at(-1).at, end = Math.max(entry.seconds ?? last, last, 0.001);
  const times = new Set(entry.sent.map((frame) => frame.at)), at = (time) => 2 + 96 * time / end;
  const label = `${entry.sent.length} frames at ${times.size} moments in ${took(end)}, the first after ${took(entry.sent[0].at)}`;
  const svg = drawn("svg", { class: "axis", role: "img", "aria-label": label });
  svg.append(drawn("line", { x1: "2%", x2: "98%", y1: "44", y2: "44" }));
  for (const time of times) {
    const mark = drawn("rect", { x: `${at(time)}%`, y: "14", width: "2", height: "30" });
    mark.append(drawn("title", {}, took(time)));
    svg.append(mark);
  }
  for (const [share, anchor] of [[0, "start"], [0.5, "middle"], [1, "end"]])
    svg.append(drawn("text", { x: `${at(share * end)}%`, y: "62", "text-anchor": anchor }, share ? took(share * end) : "0"));
  return svg;
}

// Findings

let judged = ""; // the requests by which the findings that are shown were made
async function judge() {
  const now = [...seen.values()].map(({ entry }) => `${entry.number} ${entry.ended}`).join();
  if (now === judged) return;
  judged = now;
  const { findings } = await (await fetch("/_wireproof/findings")).json();
  one(".findings").hidden = !findings.length;
  one(".findings ul").replaceChildren(...findings.map((found) => {
    const item = made("li"), link = made("a", `request ${found.request}`, { href: `#${found.request}` });
    link.addEventListener("click", () => { if (seen.has(found.request)) choose(found.request, true); });
    item.append(made("code", found.requirement), ` ${found.level}, `, link, made("p", found.seen));
    if (found.place) item.append(made("pre", found.place));
    item.append(made("p", found.hint, { class: "quiet" }));
    return item;
  }));
}

// Following

let asking = false;
async function ask() {
  if (asking || document.hidden || pause.getAttribute("aria-pressed") === "true") return;
  asking = true;
  try {
    const numbers = [...seen.keys()], running = numbers.filter((number) => seen.get(number).entry.ended === null);
    const after = running.length ? Math.min(...running) - 1 : Math.max(0, ...numbers);
    const { requests, first, last } = await (await fetch(`/_wireproof/requests?brief&after=${after}`)).json();
    if (last < Math.max(0, ...numbers)) { location.reload(); return; } // another endpoint began here
    const before = shown === null ? null : seen.get(shown)?.entry;
    for (const entry of requests) put(entry);
    forget(first);
    filter();
    await judge();
    const now = shown === null ? null : seen.get(shown)?.entry;
    if (now && (now.sent_bytes !== before?.sent_bytes || now.ended !== before?.ended || !parts.size)) await look();
  } catch {
    count.textContent = "The endpoint does not answer.";
  } finally {
    asking = false;
  }
}

form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
pause.addEventListener("click", () => {
  const paused = pause.getAttribute("aria-pressed") !== "true";
  pause.setAttribute("aria-pressed", String(paused));
  if (!paused) ask();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && detail.contains(document.activeElement)) (seen.get(shown)?.button ?? region).focus();
});
document.addEventListener("visibilitychange", ask);
one(".try").textContent = `curl ${location.origin}/v1/chat/completions -H 'Content-Type: application/json' -d '{"model": "m", "messages": [{"role": "user", "content": "Hello!"}]}'`;
setInterval(ask, ASK_MS);
ask().then(() => {
  const number = Number(location.hash.slice(1));
  if (seen.has(number)) choose(number, false);
});
