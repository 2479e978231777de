"use strict";
// All text of a target reaches the page as a text node: nothing here writes HTML.
(async () => {
  const BROKEN = new Set(["fail", "warn", "error"]);
  const SYMBOLS = JSON.parse(document.getElementById("data").dataset.symbols);
  const dialog = document.querySelector("dialog"), content = dialog.querySelector(".content");
  const title = dialog.querySelector("h2"), form = document.querySelector(".filters");
  const bytes = new TextEncoder(), text = new TextDecoder();

  const make = (tag, attributes = {}, ...children) => {
    const svg = ["svg", "rect", "line", "text", "title"].includes(tag);
    const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };

  const unpack = async () => {
    const packed = Uint8Array.from(atob(document.getElementById("data").textContent.trim()), (one) => one.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };

  // The matrix.

  const level = () => form.elements.level.value || "strict";

  const paint = () => {
    for (const cell of document.querySelectorAll(".cell")) {
      const verdict = cell.dataset[level()];
      cell.className = `cell open ${verdict.replace(" ", "-")}`;
      cell.firstElementChild.textContent = SYMBOLS[verdict];
      cell.lastElementChild.textContent = `${verdict}${cell.dataset.known ? ", known" : ""}${cell.dataset.flaky ? ", flaky" : ""}: `
        + `${cell.dataset.requirement}, ${cell.dataset.dialect}, ${cell.dataset.mode}`;
    }
  };

  const filter = () => {
    const wanted = Object.fromEntries(new FormData(form));
    for (const one of document.querySelectorAll("#matrix [data-dialect]:is(th, td)")) {
      one.hidden = Boolean((wanted.dialect && one.dataset.dialect !== wanted.dialect)
        || (wanted.mode && one.dataset.mode && one.dataset.mode !== wanted.mode));
      if (one.scope === "colgroup") one.colSpan = wanted.mode ? 1 : 2;
    }
    let shown = 0, all = 0;
    for (const row of document.querySelectorAll("#matrix tbody tr")) {
      const cells = [...row.querySelectorAll("td:not([hidden]) .cell")];
      const fits = row.dataset.requirement.includes(wanted.text.trim().toLowerCase())
        && (!wanted.topic || row.dataset.topic === wanted.topic)
        && cells.some((cell) => !wanted.verdict || (wanted.verdict === "flaky" ? cell.dataset.flaky : cell.dataset[level()] === wanted.verdict));
      row.hidden = !fits;
      all += 1;
      shown += fits;
    }
    document.querySelector(".count").textContent = `${shown} of ${all} requirements shown`;
  };

  // An exchange.

  const marked = (said, offset, places) => {
    const raw = bytes.encode(said), parts = [];
    let at = 0;
    for (const place of places.filter((one) => one.offset !== null && one.length).sort((a, b) => a.offset - b.offset)) {
      const begin = Math.max(at, place.offset - offset), end = Math.min(raw.length, place.offset + place.length - offset);
      // All of a frame is marked by its border.
      if (begin >= end || (begin === 0 && end >= raw.length)) continue;
      parts.push(text.decode(raw.slice(at, begin)), make("mark", {}, text.decode(raw.slice(begin, end))));
      at = end;
    }
    return [...parts, text.decode(raw.slice(at))];
  };

  const inFrame = (place, frame) => place.offset !== null && place.offset < frame.offset + frame.length
    && place.offset + Math.max(place.length, 1) > frame.offset;

  const notes = (places) => places.map((place) => make("p", {}, `${place.requirement}: ${place.seen}`));

  const frames = (exchange, places) => {
    const list = make("ol", {class: "frames"});
    for (const frame of exchange.frames) {
      if (frame.skipped) {
        list.append(make("li", {}, make("span", {class: "quiet"}, "…"), make("span", {}, `${frame.skipped} frames more`)));
        continue;
      }
      const bad = places.filter((place) => inFrame(place, frame));
      const mine = bad.some((place) => place.mine);
      const line = make("li", bad.length ? {class: mine ? "bad mine" : "bad"} : {},
        make("span", {class: "quiet"}, `${frame.number}: ${(frame.at * 1000).toFixed(1)} ms`),
        make("pre", {}, ...marked(frame.text.trimEnd(), frame.offset, bad)));
      line.append(...notes(bad));
      list.append(line);
    }
    return list;
  };

  const body = (exchange, places) => {
    if (exchange.frames.length) return frames(exchange, places);
    const holder = make("div", {}, make("pre", {tabindex: "0"}, ...marked(exchange.body, 0, places)));
    holder.append(...notes(places.filter((place) => place.offset !== null)));
    return holder;
  };

  const answer = (heading, exchange, places) => make("div", {}, make("h4", {}, heading),
    make("details", {}, make("summary", {}, "Headers"), make("pre", {tabindex: "0"}, exchange.headers)), body(exchange, places));

  // One lane for each choice, and one for frames of none, such as the counts of tokens.
  const axis = (exchange, places) => {
    const there = exchange.frames.filter((frame) => !frame.skipped);
    const lanes = [...new Set(there.flatMap((frame) => frame.lanes))].sort();
    const end = Math.max(...there.map((frame) => frame.at), 0.001), height = 22 * lanes.length + 24;
    // As wide as it is shown, so that its words are as large as others; it is drawn whenever a cell is opened.
    const wide = Math.max(content.clientWidth - 40, 260), left = 84, right = wide - 12;
    const svg = make("svg", {class: "axis", viewBox: `0 0 ${wide} ${height}`, role: "img",
      "aria-label": `${there.length} frames in ${(end * 1000).toFixed(1)} ms, in ${lanes.length} lanes: ${lanes.join(", ")}`});
    lanes.forEach((lane, number) => {
      const y = 22 * number + 8;
      svg.append(make("text", {x: 4, y: y + 11}, lane), make("line", {x1: left, x2: right, y1: y + 7, y2: y + 7}));
      for (const frame of there.filter((one) => one.lanes.includes(lane))) {
        const bad = places.some((place) => inFrame(place, frame));
        const tick = make("rect", {x: left + (right - left) * frame.at / end - 1, y, width: bad ? 6 : 3, height: 14, class: bad ? "bad" : ""});
        tick.append(make("title", {}, `frame ${frame.number}, ${(frame.at * 1000).toFixed(1)} ms${bad ? ", broken" : ""}`));
        svg.append(tick);
      }
    });
    svg.append(make("text", {x: left, y: height - 5}, "0 ms"));
    svg.append(make("text", {x: right, y: height - 5, "text-anchor": "end"}, `${(end * 1000).toFixed(1)} ms`));
    return svg;
  };

  const copying = (said) => {
    const button = make("button", {type: "button"}, "Copy");
    button.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(said); button.textContent = "Copied"; }
      catch { button.textContent = "Select and copy it"; }
    });
    return button;
  };

  const request = (exchange) => {
    const details = make("details", {}, make("summary", {}, "Request"));
    details.append(make("pre", {tabindex: "0"}, exchange.request), make("h4", {}, "As a command"),
      make("pre", {tabindex: "0"}, exchange.curl), copying(exchange.curl));
    return details;
  };

  const section = (exchange, others, places, mode) => {
    // What speaks of the whole body marks no frame of it.
    const whole = (place) => place.offset === 0 && place.length > 0 && place.length >= exchange.size;
    const mine = places.filter((place) => place.exchange === exchange.number)
      .map((place) => whole(place) ? {...place, offset: null} : place);
    const part = make("section", {class: "exchange"},
      make("h3", {}, `Exchange ${exchange.number + 1}: ${exchange.method} ${exchange.path} → ${exchange.answer}`));
    part.append(...mine.filter((place) => place.offset === null).map((place) =>
      make("p", {class: "fail"}, `${place.requirement}: ${place.seen}`)));
    part.append(request(exchange));
    if (exchange.frames.length) part.append(make("h4", {}, "On a time axis"), axis(exchange, mine));
    const other = others.find((one) => one.number === exchange.number);
    const columns = make("div", {class: other ? "beside" : ""},
      answer(`Answer (${mode})`, exchange, mine));
    if (other) columns.append(answer(`The same turn, ${mode === "stream" ? "whole" : "as a stream"}`, other, []));
    part.append(columns);
    if (exchange.received) part.append(make("h4", {}, "What the backend received"), make("pre", {tabindex: "0"}, exchange.received));
    return part;
  };

  const open = (data, wanted) => {
    const row = data.requirements[wanted.requirement];
    const forms = (name, mode) => data.exchanges[`${name} ${wanted.dialect} ${mode}`] ?? [];
    const here = (one) => one.places.some((place) => place.dialect === wanted.dialect && place.mode === wanted.mode);
    const outcomes = data.outcomes.filter((one) => one.requirement === wanted.requirement
      && (forms(one.scenario, wanted.mode).length || here(one)));
    outcomes.sort((one, other) => here(other) - here(one));
    title.textContent = `${row.id}, ${wanted.dialect}, ${wanted.mode}`;
    const chosen = make("select", {});
    for (const one of outcomes) {
      const verdict = here(one) || !BROKEN.has(one[level()]) ? one[level()] : "broken in another form";
      const option = make("option", {value: one.scenario}, `${one.scenario}: ${verdict}`);
      option.selected = one.scenario === wanted.scenario;
      chosen.append(option);
    }
    const body_ = make("div", {});
    const show = () => {
      const outcome = outcomes.find((one) => one.scenario === chosen.value);
      if (!outcome) {
        body_.replaceChildren(make("p", {}, wanted.reason || "No exchange of this run shows it."));
        return;
      }
      // Whatever else was found in the same exchanges is marked, too.
      const places = data.outcomes.filter((one) => one.scenario === outcome.scenario).flatMap((one) =>
        one.places.filter((place) => place.dialect === wanted.dialect && place.mode === wanted.mode)
          .map((place) => ({...place, requirement: one.requirement, mine: one === outcome})));
      const others = forms(outcome.scenario, wanted.mode === "stream" ? "whole" : "stream");
      const said = [data.scenarios[outcome.scenario], outcome.reason, outcome.known && `known failing: ${outcome.known}`];
      body_.replaceChildren(...said.filter(Boolean).map((one) => make("p", {}, one)),
        ...forms(outcome.scenario, wanted.mode).map((one) => section(one, others, places, wanted.mode)));
    };
    chosen.addEventListener("change", show);
    content.replaceChildren(make("p", {}, row.text), make("p", {class: "quiet"}, `To do: ${row.hint}`),
      make("label", {}, "Scenario ", chosen), body_);
    if (!dialog.open) dialog.showModal();
    show();
    title.focus();
    const first = content.querySelector(".frames .mine") ?? content.querySelector(".frames .bad, mark");
    first?.scrollIntoView({block: "center", behavior: "instant"});
  };

  dialog.querySelector(".close").addEventListener("click", () => dialog.close());
  form.hidden = false;
  form.addEventListener("input", () => { paint(); filter(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
  let unpacked;
  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".open");
    if (!button) return;
    try {
      unpacked ??= unpack();
      open(await unpacked, {...button.dataset, reason: button.title});
    } catch (error) {
      document.querySelector(".count").textContent = `The exchanges cannot be shown in this browser: ${error}`;
    }
  });
})();
