// What every script of the pages uses: asking the server, and text that stays text.
"use strict";
const PREFIX = document.body.dataset.prefix;

async function ask(path, change) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), 20000);
  let response;
  try {
    const how = { signal: abort.signal, headers: { Accept: "application/json" } };
    if (change !== undefined) {
      how.method = "POST";
      how.headers["Content-Type"] = "application/json";
      how.body = JSON.stringify(change);
    }
    response = await fetch(PREFIX + path, how);
  } catch {
    throw new Error("the page's server does not answer; start `verica` again and open the address it prints");
  } finally {
    clearTimeout(timer);
  }
  let answer;
  try {
    answer = await response.json();
  } catch {
    throw new Error(response.status === 403 ? "the server was started again; open the address it printed" : "the server's answer was cut short; try again");
  }
  if (!response.ok) throw new Error(answer.error || "the server refused");
  return answer;
}

function element(name, options = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(options)) {
    if (key === "text") made.textContent = value;
    else if (key === "class") made.className = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

const SHOWN_AT_ONCE = 20000;

// A text whole, the first part at once: a long one is opened by a button. Its parts are blocks of their own, which the
// browser lays out as they come into sight: one paragraph of 1 MB would stop the page for seconds.
function textBlock(text, kind) {
  const block = element("div", { class: kind, dir: "auto", tabindex: "0", role: "group" });
  const parts = pieces(text);
  if (parts.length === 1) {
    block.textContent = text;
    return block;
  }
  block.append(element("div", { text: parts[0] }));
  const more = element("button", { text: `Show all ${text.length.toLocaleString("en")} characters`, class: "more" });
  more.addEventListener("click", () => {
    block.append(...parts.slice(1).map((part) => element("div", { class: "piece", text: part, dir: "auto" })));
    more.remove();
  });
  return element("div", {}, block, more);
}

// Cut after a line's end where there is one, and never between the halves of a surrogate pair.
function pieces(text) {
  const found = [];
  let start = 0;
  while (text.length - start > SHOWN_AT_ONCE + 2000) {
    let end = start + SHOWN_AT_ONCE;
    const line = text.lastIndexOf("\n", end - 1);
    if (line > start + SHOWN_AT_ONCE / 2) end = line + 1;
    else if (/[\ud800-\udbff]/.test(text[end - 1])) end -= 1;
    found.push(text.slice(start, end));
    start = end;
  }
  found.push(text.slice(start));
  return found;
}

function typing(event) {
  const at = event.target;
  return at.matches && at.matches("input[type=text], textarea, select, [contenteditable]");
}
