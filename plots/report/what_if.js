// Section "What if": the program itself, compiled to WebAssembly (.ci/wasm), predicts the step of this page again when a control moves.
// It begins with the options and the cluster in the table of parameters. The command shown gives the same values.
"use strict";

(async () => {
  const section = document.getElementById("what-if");
  const table = [...document.querySelectorAll(".file code")].find(code => code.textContent === "parameters.csv")?.parentNode.parentNode;
  if (!section || !table || typeof Allreckon === "undefined") return;
  const rows = [...table.querySelectorAll("tbody tr")].map(row => [...row.cells].map(cell => cell.textContent.trim()));
  const options = rows.filter(([name]) => name.startsWith("--")).map(([name, value]) => [name.slice(2), value]);
  const given = new Map(options), more = options.filter(([key], i) => options.findLastIndex(([other]) => other === key) > i); // repeated ones
  const work = given.get("trace") ?? given.get("workload");
  if (!work || work.includes("/")) return; // the page has no file of the user's

  // --- the program ------------------------------------------------------------------------------
  const program = await Allreckon();
  const call = (name, result, types, ...values) => program.ccall("allreckon_" + name, result, types, values);
  const keys = new Set();
  for (let i = 0, key; (key = call("key", "string", ["number"], i)); i++) keys.add(key);

  function predict(options) {
    const job = call("create", "number", []);
    const run = () => {
      for (const [key, value] of options) {
        if (call("set", "number", ["number", "string", "string"], job, key, value) !== 0) return false;
      }
      return call("run", "number", ["number"], job) === 0;
    };
    const number = column => call("number", "number", ["number", "string"], job, column);
    const row = run() ? {step: number("iteration_s"), efficiency: number("efficiency_frac"), tokens: number("tokens_per_s"), batch: number("batch")}
      : {error: call("error", "string", ["number"], job)};
    call("destroy", null, ["number"], job);
    return row;
  }

  // --- the scenario of the page -------------------------------------------------------------------
  // A cluster of the user's own is written down again from its parameters; other files are not in the page.
  const shownCluster = given.get("cluster");
  if (shownCluster?.includes("/")) {
    const lines = rows.filter(([name]) => /^[a-z_.]+$/.test(name)).map(([name, value]) => `${name} = ${value}\n`);
    program.FS.writeFile("/page.topo", lines.join(""));
    given.set("cluster", "/page.topo");
  }
  function bestLayout() { // the first row of the page's layouts, by names of columns, which hints begin with
    const code = [...document.querySelectorAll(".file code")].find(file => file.textContent === "layouts.csv");
    const part = code?.parentNode.parentNode, name = cell => cell.title.split(":")[0];
    const cells = part?.querySelector("tbody tr")?.cells ?? [];
    const plain = text => text.trim().replace(/(\d),(?=\d{3}\b)/g, "$1"); // 1,024 is one number
    return new Map([...[...part?.querySelectorAll(".same dt") ?? []].map(term => [name(term), plain(term.nextSibling.textContent)]),
      ...[...cells].map((cell, i) => [name(part.querySelectorAll("thead th")[i]), plain(cell.textContent)])]);
  }
  const values = text => (text ?? "").split(",").filter(value => value);
  const base = new Map([...given].filter(([key]) => keys.has(key)));
  base.delete("payload");
  if (base.get("mesh")?.startsWith("all")) {
    const best = bestLayout();
    const varied = ["mesh", "strategy", "schedule", "recompute", "sequence_parallel", "micro_batch", "prefetch"];
    const others = (best.get("settings") ?? "").split(" ").map(pair => pair.split("="));
    for (const [key, value] of [...varied.map(column => [column.replaceAll("_", "-"), best.get(column)]), ...others]) {
      if (value && keys.has(key)) base.set(key, value.split(", ")[0]); // "none, selective" is one row of two
    }
  }
  const algorithms = [...new Set([...values(given.get("algorithm")), "torus2d", "ring", "hierarchical", "tree", "halving-doubling"])];
  if (given.has("trace")) base.set("algorithm", algorithms[0]);
  for (const [key, value] of base) { // a sweep has lists: its first value
    if (!["gpus", "mesh", "set", "term", "shape"].includes(key) && /^[^=]*,/.test(value)) base.set(key, values(value)[0]);
  }
  const axes = new Map(values(base.get("mesh")).map(axis => axis.split("=")));

  function countsOf(text) {
    const [begin, end, step] = text.split(":");
    if (!end) return values(text).map(Number);
    const found = [];
    const by = parseFloat((step ?? "x2").slice(1));
    for (let n = Number(begin); n <= Number(end) && found.length < 32; n = (step ?? "x2")[0] === "x" ? n * by : n + by) found.push(n);
    return found;
  }
  const meshSize = [...axes.values()].reduce((product, size) => product * Number(size), 1);
  const asked = axes.size > 0 ? [meshSize] : countsOf(base.get("gpus") ?? "");
  const cluster = name => Number(rows.find(([key]) => key === name)?.[1]);
  const all = cluster("nodes") * cluster("gpus_per_node") || Infinity;
  const counts = (asked.length > 1 ? asked : [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8].map(factor => asked[0] * factor))
    .filter(n => Number.isInteger(n) && n <= all && (axes.size === 0 || Number.isInteger(Number(axes.get("dp") ?? 1) * n / meshSize)));
  if (counts.length === 0) return;

  const scaled = (pattern, factor) => factor === 1 ? [] : rows.filter(([name]) => pattern.test(name)).map(([name, value]) => {
    const [, amount, unit] = value.match(/^([\d.e+-]+)\s*(\D.*)$/) ?? [];
    return unit ? ["set", `${name}=${parseFloat((amount * factor).toPrecision(12))}${unit}`] : null;
  }).filter(pair => pair);
  const batchKey = given.has("workload") ? "global-batch" : "batch";

  function optionsOf(state, count) {
    const options = new Map(base);
    options.set("gpus", String(count));
    if (axes.size > 0) {
      const mesh = new Map(values(state.mesh).map(axis => axis.split("=")));
      const size = [...mesh.values()].reduce((product, n) => product * Number(n), 1);
      if (count !== size && size > 0) mesh.set("dp", String(Number(mesh.get("dp") ?? 1) * count / size));
      options.set("mesh", [...mesh].map(([name, n]) => `${name}=${n}`).join(","));
    }
    if (state.algorithm) options.set("algorithm", state.algorithm);
    if (state.batch !== 1) options.set(batchKey, String(Math.max(1, Math.round(batch * state.batch))));
    return [...options, ...more, ...scaled(/^(hca|pcie|rack|tree|torus|dragonfly)\..*bandwidth$/, state.rate), ...scaled(/^net\.latency$/, state.latency)];
  }

  // --- controls -----------------------------------------------------------------------------------
  const start = {count: asked.length > 1 ? counts.length - 1 : Math.max(0, counts.indexOf(asked[0])), rate: 1, latency: 1, batch: 1, algorithm: base.get("algorithm"), mesh: base.get("mesh")};
  const state = {...start};
  const batch = Number(base.get(batchKey)) || predict(optionsOf(start, counts[0])).batch;
  const make = (name, attributes = {}, ...children) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.append(...children);
    return element;
  };
  const bar = make("div", {className: "controls"});
  function addRange(label, key, min, max, show) {
    const isCount = key === "count", shown = make("output");
    const input = make("input", {type: "range", min, max, step: 1, value: isCount ? state.count : 0, name: key});
    const take = () => { state[key] = isCount ? Number(input.value) : 2 ** Number(input.value); shown.textContent = show(state[key]); };
    input.addEventListener("input", () => { take(); draw(); });
    take();
    bar.append(make("label", {}, make("span", {}, label, " "), shown, input));
  }
  const factor = x => x === 1 ? "as given" : "\u00d7 " + x;
  addRange("GPUs", "count", 0, counts.length - 1, at => String(counts[at]));
  addRange("Rate of the network", "rate", -3, 3, factor);
  addRange("Latency of the network", "latency", -3, 3, factor);
  if (batch > 0) addRange(given.has("workload") ? "Sequences of a step" : "Samples per GPU", "batch", -3, 3, x => String(Math.max(1, Math.round(batch * x))));
  if (given.has("trace")) {
    const select = make("select", {name: "algorithm"}, ...algorithms.map(name => make("option", {value: name}, name)));
    select.addEventListener("change", () => { state.algorithm = select.value; draw(); });
    bar.append(make("label", {}, make("span", {}, "Algorithm"), select));
  }
  if (axes.size > 0) {
    const input = make("input", {value: base.get("mesh"), name: "mesh", spellcheck: false});
    input.addEventListener("change", () => { state.mesh = input.value.trim(); draw(); });
    bar.append(make("label", {}, make("span", {}, "Layout"), input));
  }
  const sentence = make("p", {ariaLive: "polite"}), chart = make("div", {className: "chart"}), command = make("code");
  section.append(make("h2", {}, "What if"), bar, sentence, chart, make("pre", {tabIndex: 0}, command));
  section.hidden = false;

  // --- the picture --------------------------------------------------------------------------------
  const isEfficiency = given.has("trace");
  const quantity = (row, count) => isEfficiency ? 100 * row.efficiency : row.tokens / count;
  const percent = x => (100 * x).toPrecision(3) + " %";
  const word = text => /^[\w=.,:+/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

  function plot(curves) {
    const points = curves.flatMap(curve => curve.rows.map((row, i) => quantity(row, counts[i]))).filter(isFinite);
    if (points.length === 0) return chart.replaceChildren();
    let [low, high] = [Math.min(...points), Math.max(...points)];
    const pad = Math.max(high - low, 0.02 * high) * 0.1;
    [low, high] = [Math.max(0, low - pad), high + pad];
    const width = Math.max(320, Math.min(720, chart.clientWidth)), [left, right, top, bottom] = [56, width - 76, 20, 250];
    const x = i => counts.length === 1 ? (left + right) / 2 : left + (right - left) * i / (counts.length - 1);
    const y = value => bottom - (bottom - top) * (value - low) / (high - low);
    const parts = [`<text x="${left}" y="11">${isEfficiency ? "efficiency (%)" : "tokens/s of a GPU"}</text><text x="${right}" y="286" text-anchor="end">GPUs</text>`];
    for (const part of [0, 0.5, 1]) {
      const value = low + (high - low) * part;
      parts.push(`<path class="grid" d="M${left} ${y(value)}H${right}"/><text x="${left - 6}" y="${y(value) + 4}" text-anchor="end">${Number(value.toPrecision(3))}</text>`);
    }
    counts.forEach((n, i) => { if (i % Math.ceil(counts.length * 56 / (right - left)) === 0) parts.push(`<text x="${x(i)}" y="270" text-anchor="middle">${n}</text>`); });
    const ends = [];
    for (const {name, kind, rows: found} of curves) {
      const known = found.map((row, i) => [i, quantity(row, counts[i])]).filter(([, value]) => isFinite(value));
      if (known.length === 0) continue;
      const at = known.map(([i, value]) => `${x(i)} ${y(value)}`), [last, end] = known[known.length - 1];
      const label = ends.some(other => Math.abs(other - y(end)) < 14) ? y(end) + (y(end) > ends[0] ? 14 : -14) : y(end);
      ends.push(label);
      parts.push(`<path class="${kind}" d="M${at.join("L")}"/>`, ...at.map(place => `<circle class="${kind}" r="3" cx="${place.split(" ")[0]}" cy="${place.split(" ")[1]}"/>`),
        `<text class="${kind}" x="${x(last) + 8}" y="${label + 4}">${name}</text>`);
    }
    parts.push(`<path class="grid" d="M${x(state.count)} ${top}V${bottom}"/>`);
    chart.innerHTML = `<svg viewBox="0 0 ${width} 290" role="img" aria-label="Curves of the page and of what is changed">${parts.join("")}</svg>`;
  }

  // Points are computed one by one, those of the chosen count first; a move of a control begins anew.
  const slowest_ms = 1500, before = counts.map(() => ({}));
  let turn = 0, limit = counts.length;
  async function draw() {
    const mine = ++turn, now = counts.map(() => ({}));
    const order = [state.count, ...counts.keys()].filter((at, i, list) => list.indexOf(at) === i);
    const isSame = Object.keys(start).every(key => key === "count" || start[key] === state[key]);
    command.textContent = "allreckon predict " + optionsOf(state, counts[state.count]).map(([key, value]) => `--${key} ${word(key === "cluster" ? shownCluster : value)}`).join(" ");
    for (const at of order) {
      if (at >= limit && at !== state.count) continue;
      await new Promise(resolve => setTimeout(resolve));
      if (mine !== turn) return;
      const began = performance.now();
      if (before[at].step === undefined && !before[at].error) before[at] = predict(optionsOf(start, counts[at]));
      now[at] = isSame ? before[at] : predict(optionsOf(state, counts[at]));
      if (performance.now() - began > slowest_ms) limit = Math.min(limit, at + 1);
      if (at === state.count) {
        const [a, b] = [before[at], now[at]];
        section.dataset.step = b.step ?? "";
        const change = isSame || a.error ? "" : ` in place of ${showTime(a.step)} (${a.step <= b.step ? "+" : "\u2212"}${percent(Math.abs(b.step / a.step - 1))})`;
        sentence.textContent = b.error ?? `On ${counts[at]} GPUs a step takes ${showTime(b.step)}${change}${isFinite(b.efficiency) ? `, efficiency ${percent(b.efficiency)}` : ""}.`;
      }
      plot([{name: "as given", kind: "given", rows: before}, ...(isSame ? [] : [{name: "what if", kind: "changed", rows: now}])]);
    }
    section.dataset.done = mine;
  }
  draw();
})();
