"use strict";
// The table of verdicts. Every text of a model or a golden set goes through textContent: none is ever markup.
(() => {
  const PAGE = 100;
  const WORDS = { p: "pass", f: "FAILED", m: "MISSED", n: "N/A", e: "ERROR", x: "ERRORED" };
  const PILLS = { p: "pass", f: "fail", m: "fail", n: "na", e: "error", x: "error" };
  const FILTERS = { all: "pfmnex", failed: "f", missed: "m", error: "ex", na: "n" };
  const KEYS = { a: "all", f: "failed", m: "missed", e: "error", n: "na" };

  const byId = (id) => document.getElementById(id);
  const index = JSON.parse(byId("verica-index").textContent);
  const parsed = new Map();
  const view = { eval: -1, filter: "all", criterion: -1, query: "", page: 0, rows: [], open: new Set(), at: -1, marked: null };

  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  const pill = (letter) => make("span", "pill " + PILLS[letter], WORDS[letter]);

  // Details stand in pieces of the page that are parsed when they are needed.
  const details = (found, row) => {
    const number = found.first + Math.floor(row / index.chunk);
    if (!parsed.has(number)) parsed.set(number, JSON.parse(byId("verica-chunk-" + number).textContent));
    return parsed.get(number)[row % index.chunk];
  };

  const texts = (value, found) => {
    if (typeof value === "string") found.push(value);
    else if (Array.isArray(value)) value.forEach((inner) => texts(inner, found));
    else if (value && typeof value === "object") Object.values(value).forEach((inner) => texts(inner, found));
    return found;
  };

  // What a search looks through, a text a case. It is made while nothing else is to do, and the rest when it is needed.
  const haystack = (found, upTo) => {
    const made = found.haystack || (found.haystack = []);
    while (made.length < Math.min(upTo, found.cases.length)) {
      made.push(texts(details(found, made.length), [found.cases[made.length][0]]).join("\n").toLowerCase());
    }
    return made;
  };

  const prepare = (idle) => {
    const found = index.evals.find((each) => (each.haystack || []).length < each.cases.length);
    if (!found) return;
    while (idle.timeRemaining() > 2 && (found.haystack || []).length < found.cases.length) {
      haystack(found, (found.haystack || []).length + 50);
    }
    requestIdleCallback(prepare);
  };

  const wanted = (found, row, letters, query) => {
    const told = found.cases[row][2];
    const looked = view.criterion < 0 ? told : told[view.criterion];
    let hit = false;
    for (const letter of looked) if (letters.includes(letter)) { hit = true; break; }
    return hit && (!query || found.haystack[row].includes(query));
  };

  const select = () => {
    const found = index.evals[view.eval];
    const letters = FILTERS[view.filter], query = view.query.trim().toLowerCase();
    view.rows = [];
    if (query) haystack(found, found.cases.length);
    for (let row = 0; row < found.cases.length; row++) if (wanted(found, row, letters, query)) view.rows.push(row);
  };

  const said = (value) => {
    const whole = typeof value === "string";
    const box = make("pre", "said", whole ? value : value.text);
    box.dir = "auto";
    box.tabIndex = 0;
    if (!whole) {
      const note = value.left.toLocaleString("en") + " more characters are left out here; the JSON report has the whole text";
      box.append(make("span", "cut", "… " + note));
    }
    return box;
  };

  const block = (parent, title, value) => {
    if (value === null || value === undefined) return;
    const heading = make("h4", "", title);
    heading.dir = "auto";
    parent.append(heading, said(value));
  };

  const copy = (button, text) => {
    const done = () => { button.textContent = "copied"; };
    const byHand = () => { window.prompt("Copy this command:", text); };
    if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(text).then(done, byHand);
    else byHand();
  };

  const address = (found, row, criterion) => {
    const parts = new URLSearchParams({ eval: found.id, case: found.cases[row][0] });
    if (found.cases[row][1]) parts.set("sample", found.cases[row][1]);
    if (criterion) parts.set("criterion", criterion);
    return "#" + parts.toString();
  };

  const grade = (found, row, told) => {
    const box = make("section", "grade");
    const criterion = found.criteria[told.at];
    if (view.marked === criterion.id) box.classList.add("marked");
    const head = make("div", "head");
    head.append(pill(told.word), make("strong", "isolated", criterion.name));
    if (told.score !== undefined) head.append(make("span", "", "score " + told.score));
    if (told.label !== undefined) head.append(make("span", "isolated", "label " + told.label));
    box.append(head);
    const why = make("p", "isolated", typeof told.why === "string" ? told.why : told.why.text + " …");
    why.dir = "auto";
    box.append(why);
    block(box, "The judge's reasoning", told.reasoning);
    block(box, "Details", told.details);
    block(box, "What could not be read", told.raw);
    box.append(make("p", "quiet small", told.spent || "no model was asked"));
    const node = told.node || [found.id, found.cases[row][0], criterion.id].join("::");
    const foot = make("p", "small no-print");
    const link = make("a", "", "link to this verdict");
    link.href = address(found, row, criterion.id);
    const button = make("button", "", "copy the command that reruns just this");
    button.type = "button";
    button.addEventListener("click", () => copy(button, 'pytest --verica "' + node + '"'));
    foot.append(link, " ", button);
    box.append(foot);
    return box;
  };

  const opened = (found, row) => {
    const all = details(found, row);
    const line = make("tr", "detail"), cell = make("td");
    cell.colSpan = found.criteria.length + 2;
    cell.append(make("h3", "", "Input"));
    if (!all.inputs) cell.append(make("p", "quiet", "no columns"));
    for (const [name, value] of all.inputs || []) block(cell, name, value);
    cell.append(make("h3", "", "Output"));
    if (all.output === undefined) cell.append(make("p", "quiet", "no text"));
    else cell.append(said(all.output));
    for (const [name, value] of all.more || []) block(cell, name, value);
    if (all.spent) cell.append(make("p", "quiet small", all.spent));
    cell.append(make("h3", "", "Grades"));
    for (const told of all.grades || []) cell.append(grade(found, row, told));
    line.append(cell);
    return line;
  };

  const line = (found, row) => {
    const [id, sample, letters, why] = found.cases[row];
    const element = make("tr");
    element.dataset.row = row;
    const first = make("td");
    const button = make("button", "name", sample ? id + " (sample " + (sample + 1) + ")" : id);
    button.type = "button";
    button.dir = "auto";
    button.setAttribute("aria-expanded", view.open.has(row));
    button.addEventListener("click", () => toggle(row));
    button.addEventListener("focus", () => mark(row));
    first.append(button);
    element.append(first);
    found.criteria.forEach((criterion, place) => {
      const cell = make("td");
      cell.dataset.name = criterion.name;
      if (letters[place] === "-") cell.append(make("span", "quiet", "not run"));
      else cell.append(pill(letters[place]));
      element.append(cell);
    });
    const last = make("td", "why isolated", why);
    last.dir = "auto";
    element.append(last);
    return element;
  };

  const mark = (row) => {
    view.at = row;
    for (const each of byId("verica-rows").children) {
      each.classList.toggle("current", each.dataset.row !== undefined && Number(each.dataset.row) === row);
    }
  };

  const draw = () => {
    const found = index.evals[view.eval];
    const pages = Math.max(1, Math.ceil(view.rows.length / PAGE));
    view.page = Math.min(view.page, pages - 1);
    const shown = view.rows.slice(view.page * PAGE, (view.page + 1) * PAGE);
    const body = byId("verica-rows");
    const lines = [];
    for (const row of shown) {
      lines.push(line(found, row));
      if (view.open.has(row)) lines.push(opened(found, row));
    }
    body.replaceChildren(...lines);
    byId("verica-count").textContent =
      view.rows.length.toLocaleString("en") + " of " + found.cases.length.toLocaleString("en") + " cases";
    byId("verica-page").textContent = "page " + (view.page + 1) + " of " + pages;
    byId("verica-back").disabled = view.page === 0;
    byId("verica-next").disabled = view.page >= pages - 1;
    byId("verica-pager").hidden = pages === 1;
    byId("verica-empty").hidden = view.rows.length > 0;
    if (view.at >= 0) mark(view.at);
  };

  const refresh = () => { select(); view.page = 0; draw(); };

  const focus = (row) => {
    const place = view.rows.indexOf(row);
    if (place < 0) return;
    const page = Math.floor(place / PAGE);
    if (page !== view.page) { view.page = page; draw(); }
    const element = byId("verica-rows").querySelector('tr[data-row="' + row + '"] button');
    if (element) element.focus();
  };

  const toggle = (row) => {
    if (view.open.has(row)) view.open.delete(row);
    else {
      view.open.add(row);
      history.replaceState(null, "", address(index.evals[view.eval], row, null));
    }
    draw();
    focus(row);
  };

  const move = (by) => {
    if (!view.rows.length) return;
    const place = view.rows.indexOf(view.at);
    focus(view.rows[Math.min(view.rows.length - 1, Math.max(0, place < 0 ? 0 : place + by))]);
  };

  const setFilter = (name) => {
    view.filter = name;
    for (const button of document.querySelectorAll("[data-filter]")) {
      button.setAttribute("aria-pressed", button.dataset.filter === name);
    }
    refresh();
  };

  const count = (found) => {
    const counts = { p: 0, f: 0, m: 0, n: 0, e: 0, x: 0 };
    for (const each of found.cases) for (const letter of each[2]) if (letter !== "-") counts[letter]++;
    for (const button of document.querySelectorAll("[data-filter]")) {
      const letters = FILTERS[button.dataset.filter];
      const sum = [...letters].reduce((total, letter) => total + counts[letter], 0);
      button.textContent = button.dataset.word + " " + sum.toLocaleString("en");
    }
  };

  const setEval = (number) => {
    Object.assign(view, { eval: number, criterion: -1, at: -1, marked: null });
    view.open.clear();
    const found = index.evals[number];
    byId("verica-eval").value = String(number);
    const head = byId("verica-head");
    const names = ["case", ...found.criteria.map((criterion) => criterion.name), "why"];
    head.replaceChildren(...names.map((name) => { const cell = make("th", "isolated", name); cell.scope = "col"; return cell; }));
    const choice = byId("verica-criterion");
    const options = [["-1", "every criterion"], ...found.criteria.map((criterion, place) => [String(place), criterion.name])];
    choice.replaceChildren(...options.map(([value, text]) => { const each = make("option", "", text); each.value = value; return each; }));
    count(found);
  };

  const follow = () => {
    const parts = new URLSearchParams(location.hash.slice(1));
    if (!parts.has("case")) return false;
    const number = Math.max(0, index.evals.findIndex((each) => each.id === parts.get("eval")));
    const sample = Number(parts.get("sample") || 0);
    const row = index.evals[number].cases.findIndex((each) => each[0] === parts.get("case") && each[1] === sample);
    if (row < 0) return false;
    if (number !== view.eval) setEval(number);
    Object.assign(view, { query: "", marked: parts.get("criterion") });
    byId("verica-search").value = "";
    view.open.add(row);
    setFilter("all");
    focus(row);
    const target = byId("verica-rows").querySelector(".grade.marked") || document.activeElement;
    target.scrollIntoView({ block: "center" });
    return true;
  };

  const typing = (target) => ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName);

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && typing(event.target)) { event.target.blur(); return; }
    if (typing(event.target)) return;
    if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (event.key === "/") byId("verica-search").focus();
    else if (event.key === "Enter" && event.target === document.body && view.at >= 0) toggle(view.at);
    else if (KEYS[event.key]) setFilter(view.filter === KEYS[event.key] ? "all" : KEYS[event.key]);
    else return;
    event.preventDefault();
  });

  let waiting = 0;
  byId("verica-search").addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { view.query = event.target.value; refresh(); }, 120);
  });
  byId("verica-criterion").addEventListener("change", (event) => { view.criterion = Number(event.target.value); refresh(); });
  byId("verica-eval").addEventListener("change", (event) => { setEval(Number(event.target.value)); refresh(); });
  byId("verica-back").addEventListener("click", () => { view.page--; draw(); });
  byId("verica-next").addEventListener("click", () => { view.page++; draw(); });
  for (const button of document.querySelectorAll("[data-filter]")) {
    button.dataset.word = button.textContent;
    button.addEventListener("click", () => setFilter(button.dataset.filter));
  }
  window.addEventListener("hashchange", follow);

  const choice = byId("verica-eval");
  index.evals.forEach((found, number) => { const each = make("option", "", found.name); each.value = String(number); choice.append(each); });
  choice.hidden = index.evals.length < 2;
  if (!index.evals.length) return;
  if (!follow()) {
    const troubled = index.evals.findIndex((found) => found.cases.some((each) => /[fmex]/.test(each[2])));
    setEval(Math.max(0, troubled));
    refresh();
  }
  if (window.requestIdleCallback) requestIdleCallback(prepare);
})();
