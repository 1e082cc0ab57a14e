// What the page does beside drawing: says what a box is because of, and follows a job.
"use strict";

window.holdfast = (() => {
  const LISTED = 500;
  let data = { jobs: [] }; // until it is unpacked
  let events = {};
  let rowOf = new Map();
  let indexOf = new Map();
  const byId = (id) => document.getElementById(id);
  const chosen = new Map(); // what this page selected itself: no answer to that
  let mouse = { x: 0, y: 0 };
  let shown = null; // source of the box that the tip is about

  const time = (t) => t.toLocaleString("en", { maximumFractionDigits: 3 });

  const added = (steps) => {
    let sum = 0;
    return steps.map((step) => (sum += step));
  };

  async function unpack() {
    const packed = atob(byId("data").textContent);
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    data = await new Response(stream).json();
    events = data.events;
    events.seq = added(events.seq);
    let first = 0;
    data.lives = data.lives.map(([step, ...steps]) => added([(first += step), ...steps]));
    rowOf = new Map(events.seq.map((seq, row) => [seq, row]));
    indexOf = new Map(data.jobs.map((name, index) => [name, index]));
  }

  const causeOf = (row) =>
    events.back[row] ? rowOf.get(events.seq[row] - events.back[row]) : undefined;

  function chain(seq) {
    const found = [];
    for (let row = rowOf.get(seq); row !== undefined; row = causeOf(row)) {
      found.push(row);
    }
    return found;
  }

  function item(row, now) {
    const it = document.createElement("li");
    const when = document.createElement("span");
    when.className = "t";
    when.textContent = `#${events.seq[row]} t = ${time(events.t[row])} `;
    it.append(when, events.text[row]);
    it.dataset.seq = events.seq[row];
    it.classList.toggle("now", now);
    it.onclick = () => explain(events.seq[row]);
    return it;
  }

  function list(id, rows, now) {
    const items = rows.slice(0, LISTED).map((row) => item(row, events.seq[row] === now));
    if (rows.length > LISTED) {
      const more = document.createElement("li");
      more.textContent = `and ${rows.length - LISTED} more`;
      items.push(more);
    }
    byId(id).replaceChildren(...items);
  }

  function explain(seq) {
    list("chain", chain(seq), seq);
  }

  function sources() {
    const found = new Set();
    for (const doc of window.Bokeh.documents) {
      for (const model of doc._all_models.values()) {
        if (model.tags && model.tags.includes("boxes")) found.add(model);
      }
    }
    return found;
  }

  function select(job) {
    for (const source of sources()) {
      const column = source.data.job;
      const mine = [];
      for (let k = 0; k < column.length; k++) if (column[k] === job) mine.push(k);
      // An empty selection would show this source's boxes as if they were all picked.
      const indices = job < 0 ? [] : mine.length ? mine : [-1];
      chosen.set(source.id, indices);
      source.selected.indices = indices;
    }
  }

  function follow(job, seq) {
    select(job);
    byId("who").textContent = job < 0 ? "" : `Following ${data.jobs[job]}`;
    byId("job").value = job < 0 ? "" : data.jobs[job];
    const life = job < 0 ? [] : data.lives[job].map((it) => rowOf.get(it));
    list("life", life, seq);
    if (seq !== undefined) explain(seq);
    else if (life.length) explain(events.seq[life[life.length - 1]]);
    else byId("chain").replaceChildren();
  }

  function picked(source) {
    if (source.selected.indices === chosen.get(source.id)) return;
    const at = source.selected.indices.filter((k) => k >= 0);
    if (at.length) follow(source.data.job[at[0]], source.data.seq[at[0]]);
    else follow(-1);
  }

  function because(seq) {
    const [row, ...causes] = chain(seq);
    if (row === undefined) return [];
    const because = (cause) => `because of #${events.seq[cause]} ${events.text[cause]}`;
    return [`#${seq} ${events.text[row]}`, ...causes.slice(0, 3).map(because)];
  }

  // The box that the mouse points at, or of one source that it points at none of its boxes. Names
  // come from files: they enter the page as text only.
  function pointed({ renderer, index }) {
    const source = renderer.data_source;
    const [at] = index.indices;
    if (at === undefined) {
      if (shown === source) byId("tip").hidden = true;
      return;
    }
    shown = source;
    const { job, run, start, end, seq } = source.data;
    const numbered = run ? `, run ${run[at]}` : "";
    const whose = job[at] < 0 ? "" : ` ${data.jobs[job[at]]}${numbered}`;
    const lines = [`${time(start[at])} to ${time(end[at])}`, ...because(seq[at])];
    const items = lines.map((line) => {
      const it = document.createElement("div");
      it.textContent = line;
      return it;
    });
    const kind = document.createElement("b");
    kind.textContent = renderer.name;
    const tip = byId("tip");
    tip.replaceChildren(kind, whose, ...items);
    tip.hidden = false;
    const right = Math.min(mouse.x + 14, window.innerWidth - tip.offsetWidth - 4);
    const below = mouse.y + 14;
    const fits = below + tip.offsetHeight < window.innerHeight;
    tip.style.left = `${Math.max(right, 0)}px`;
    tip.style.top = `${fits ? below : Math.max(mouse.y - tip.offsetHeight - 10, 0)}px`;
  }

  // An instant of a long log: its date, where the log has a calendar, else days and hours.
  function day(t, begins) {
    const whole = new Date(1000 * (t + (begins ?? 0))).toISOString();
    const clock = whole.slice(11, 16);
    return begins === null ? `${Math.floor(t / 86400)} d ${clock}` : `${whole.slice(0, 10)} ${clock}`;
  }

  async function start() {
    await unpack();
    const names = data.jobs.slice(0, 2000).map((name) => new Option(name));
    byId("jobs").replaceChildren(...names);
    byId("job").addEventListener("change", () => {
      const job = indexOf.get(byId("job").value.trim());
      if (job !== undefined) follow(job);
      else byId("who").textContent = `There is no such ${document.body.dataset.what} in this log.`;
    });
    const follows = (event) => (mouse = { x: event.clientX, y: event.clientY });
    document.addEventListener("pointermove", follows, { capture: true });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") follow(-1);
    });
    const waiting = setInterval(() => {
      const ready = window.Bokeh && window.Bokeh.documents.length;
      if (!ready || !window.Bokeh.documents.every((it) => it.is_idle)) return;
      clearInterval(waiting);
      document.body.dataset.ready = Math.round(performance.now());
    }, 50);
  }

  document.addEventListener("DOMContentLoaded", start);
  return {
    picked,
    pointed,
    day,
    follow,
    explain,
    sources,
    job: (index) => (index < 0 ? "" : data.jobs[index]),
  };
})();
