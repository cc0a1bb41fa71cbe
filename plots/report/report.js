// A report without this script has all its texts, pictures and tables. With it tables sort and filter, points say their
// values, and the timeline zooms. Texts of the rows are only ever set as text.
"use strict";

// --- values of points ---------------------------------------------------------------------------
const value = document.getElementById("value");

function showValue(point, x, y) {
  document.querySelectorAll(".value.on").forEach(other => other.classList.remove("on"));
  value.hidden = !point;
  if (!point) return;
  point.classList.add("on");
  value.textContent = point.dataset.value;
  const box = value.getBoundingClientRect();
  value.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 4)) + "px";
  value.style.top = Math.max(4, y + box.height + 18 > innerHeight ? y - box.height - 10 : y + 14) + "px";
}

function takeValues(svg) {
  const points = [...svg.querySelectorAll(".value")].filter(point => point.querySelector("title"));
  let at = -1;
  points.forEach((point, i) => {
    const title = point.querySelector("title");
    point.dataset.value = title.textContent;
    title.remove();
    point.addEventListener("pointermove", event => { at = i; showValue(point, event.clientX, event.clientY); });
    point.addEventListener("pointerleave", () => showValue(null));
  });
  if (points.length === 0) return;
  svg.tabIndex = 0;
  svg.setAttribute("aria-description", points.length + " values; arrow keys go from one to the next");
  svg.addEventListener("blur", () => showValue(null));
  svg.addEventListener("keydown", event => {
    const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1}[event.key];
    if (event.key === "Escape") showValue(null);
    if (!step || event.shiftKey) return;
    event.preventDefault();
    at = at < 0 ? 0 : (at + step + points.length) % points.length;
    const box = points[at].getBoundingClientRect();
    showValue(points[at], box.x + box.width / 2, box.y + box.height / 2);
  });
}

// --- tables -------------------------------------------------------------------------------------
const plain = words => words.replace(/(\d),(?=\d{3})/g, "$1"); // 1,024 is found by 1024, too
const text = cell => plain(cell.textContent);
const number = cell => parseFloat(cell.dataset.v ?? text(cell));

function sortTable(table, column) {
  const head = table.tHead.rows[0].cells[column], body = table.tBodies[0];
  const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  const isNumber = head.classList.contains("n");
  const compare = (a, b) => {
    const [x, y] = [a.cells[column], b.cells[column]];
    if (!isNumber) return sign * text(x).localeCompare(text(y), "en", {numeric: true});
    const [p, q] = [number(x), number(y)];
    return isNaN(p) || isNaN(q) ? isNaN(p) - isNaN(q) : sign * (p - q); // empty cells are last
  };
  [...table.tHead.rows[0].cells].forEach(cell => cell.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  body.append(...[...body.rows].sort(compare));
}

// Words that a row must have, or NAME<VALUE, <=, >, >=, = of a column, as it is shown. `fault` is what is wrong with the word if
// no row passes.
const compare = {"<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b};

function makeTest(word, names) {
  const [, name, sign, wanted] = word.match(/^([^<>=]+)([<>]=?|=)(.+)$/) ?? [];
  const column = names.findIndex(candidate => name && candidate.startsWith(name.replaceAll("_", " ")));
  if (column < 0) return {passes: row => text(row).toLowerCase().includes(word), fault: name && `no column begins with "${name}"`};
  const found = row => text(row.cells[column]).toLowerCase();
  if (sign === "=") return {passes: row => found(row) === wanted};
  return {passes: row => compare[sign](parseFloat(found(row)), parseFloat(wanted)), fault: isNaN(parseFloat(wanted)) && `"${wanted}" is no number`};
}

function filterTable(table, words, shown) {
  const names = [...table.tHead.rows[0].cells].map(cell => text(cell).trim().toLowerCase());
  const tests = plain(words).toLowerCase().split(/\s+/).filter(word => word).map(word => makeTest(word, names));
  const rows = [...table.tBodies[0].rows];
  rows.forEach(row => { row.hidden = !tests.every(test => test.passes(row)); });
  const count = rows.filter(row => !row.hidden).length;
  const faults = tests.filter(test => test.fault && !rows.some(test.passes)).map(test => "; " + test.fault);
  shown.textContent = tests.length ? count + " of " + rows.length + " rows" + faults.join("") : "";
}

function takeTable(table) {
  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sortTable(table, head.cellIndex));
  }
  for (const cell of table.querySelectorAll("td:not(.n)")) {
    if (text(cell).length > 48) cell.classList.add(text(cell).length > 400 ? "essay" : "prose");
  }
  const bar = document.createElement("div"), label = document.createElement("label");
  const input = document.createElement("input"), shown = document.createElement("output");
  bar.className = "filter";
  input.type = "search";
  const example = table.tHead.querySelector(".n");
  input.placeholder = "words" + (example ? `, or ${text(example.firstChild).trim().split(" ")[0]}>1` : "");
  label.append("Filter ", input);
  bar.append(label, shown);
  input.addEventListener("input", () => filterTable(table, input.value, shown));
  table.parentNode.before(bar);
}

// --- timeline -----------------------------------------------------------------------------------
function showTime(seconds) {
  const [factor, unit] = seconds >= 1 || seconds === 0 ? [1, "s"] : seconds >= 1e-3 ? [1e3, "ms"] : [1e6, "\u00b5s"];
  return parseFloat((seconds * factor).toPrecision(5)) + " " + unit;
}

function takeTimeline(svg) {
  const {width, height} = svg.viewBox.baseVal, end = parseFloat(svg.dataset.end);
  const axis = svg.parentNode.querySelector(".axis");
  let from = 0, to = 1;
  const look = (a, b) => {
    const size = Math.min(1, Math.max(1e-5, b - a));
    from = Math.min(Math.max(0, a), 1 - size);
    to = from + size;
    svg.setAttribute("viewBox", [from * width, 0, (to - from) * width, height].join(" "));
    axis.replaceChildren(...[0, 0.25, 0.5, 0.75, 1].map(part => {
      const tick = document.createElement("span");
      tick.textContent = showTime(end * (from + part * (to - from)));
      return tick;
    }));
  };
  const zoom = (factor, place = 0.5) => {
    const at = from + place * (to - from);
    look(at - place * (to - from) * factor, at + (1 - place) * (to - from) * factor);
  };
  const move = part => look(from + part * (to - from), to + part * (to - from));
  const actions = [["+", "nearer", () => zoom(0.5)], ["\u2212", "farther", () => zoom(2)], ["\u2190", "earlier", () => move(-0.25)],
    ["\u2192", "later", () => move(0.25)], ["all", "whole step", () => look(0, 1)]];
  const bar = document.createElement("div");
  bar.className = "zoom";
  for (const [sign, name, act] of actions) {
    const button = document.createElement("button");
    button.textContent = sign;
    button.title = name;
    button.setAttribute("aria-label", name);
    button.addEventListener("click", act);
    bar.append(button);
  }
  svg.parentNode.before(bar);
  svg.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.shiftKey) return; // the page scrolls
    event.preventDefault();
    zoom((event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, event.offsetX / svg.clientWidth);
  }, {passive: false});
  svg.addEventListener("pointermove", event => { if (event.buttons & 1) move(-event.movementX / svg.clientWidth); });
  svg.addEventListener("keydown", event => {
    const act = {"+": 0, "=": 0, "-": 1, "0": 4}[event.key] ?? (event.shiftKey ? {ArrowLeft: 2, ArrowRight: 3}[event.key] : undefined);
    if (act === undefined) return;
    event.preventDefault();
    actions[act][2]();
  });
  look(0, 1);
}

document.querySelectorAll("table").forEach(takeTable);
document.querySelectorAll("figure svg, .timeline svg").forEach(takeValues);
document.querySelectorAll(".timeline svg").forEach(takeTimeline);
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(part => { part.open = true; }));
