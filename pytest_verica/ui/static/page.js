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

// A text whole, the first part at once: a long one is opened by a button, so that a page of 1 MB stays quick.
function textBlock(text, kind) {
  const block = element("div", { class: kind, dir: "auto", tabindex: "0", role: "group" });
  if (text.length <= SHOWN_AT_ONCE + 2000) {
    block.textContent = text;
    return block;
  }
  block.textContent = text.slice(0, SHOWN_AT_ONCE);
  const more = element("button", { text: `Show all ${text.length.toLocaleString("en")} characters`, class: "more" });
  more.addEventListener("click", () => { block.textContent = text; more.remove(); });
  return element("div", {}, block, more);
}

function typing(event) {
  const at = event.target;
  return at.matches && at.matches("input[type=text], textarea, select, [contenteditable]");
}
