// One run: rows are opened in place, and reached by keys.
"use strict";
(() => {
  const filters = document.getElementById("filters");
  filters.addEventListener("submit", (event) => {
    event.preventDefault();
    location.href = `${PREFIX}/run?${new URLSearchParams(new FormData(filters))}`;
  });
  for (const select of filters.querySelectorAll("select")) select.addEventListener("change", () => filters.requestSubmit());

  function shown(parts) {
    return parts.flatMap((part) => [element("p", { class: "name", text: part.name, dir: "auto" }), textBlock(part.text, "")]);
  }

  const WORDS = { pass: "PASS", fail: "FAIL", na: "N/A", error: "ERROR", missed: "MISSED" };

  function gradeBlock(grade) {
    const block = element("div", { class: "sheet" },
      element("p", {}, element("b", { text: grade.criterion + " " }), element("span", { class: "badge " + grade.word, text: WORDS[grade.word] || grade.word }),
        element("span", { class: "small soft", text: grade.facts.length ? "  " + grade.facts.join(" · ") : "" })),
      textBlock(grade.explanation, ""));
    if (grade.reasoning) block.append(element("p", { class: "name", text: "The judge's reasoning" }), textBlock(grade.reasoning, ""));
    if (grade.raw) block.append(element("p", { class: "name", text: "What was received" }), textBlock(grade.raw, ""));
    const copy = element("button", { text: "Copy" });
    copy.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(grade.command); copy.textContent = "Copied ✓"; } catch { copy.textContent = "Select it and copy"; }
    });
    block.append(element("p", { class: "small" }, "Run just this: ", element("code", { text: grade.command }), " ", copy));
    return block;
  }

  async function toggle(row) {
    const button = row.querySelector("button.open");
    if (row.nextElementSibling && row.nextElementSibling.classList.contains("opened")) {
      row.nextElementSibling.remove();
      button.setAttribute("aria-expanded", "false");
      return;
    }
    const table = row.closest("table");
    const cell = element("td", { colspan: row.children.length, text: "…" });
    row.after(element("tr", { class: "opened" }, cell));
    button.setAttribute("aria-expanded", "true");
    try {
      const query = new URLSearchParams({ id: table.dataset.run, eval: table.dataset.eval, case: row.dataset.case, sample: row.dataset.sample });
      const found = await ask(`/run/case?${query}`);
      cell.replaceChildren(element("div", { class: "sides" },
        element("div", {}, element("h3", { text: "Inputs" }), ...shown(found.inputs)),
        element("div", {}, element("h3", { text: "Output" }), ...shown(found.output))), ...found.grades.map(gradeBlock));
    } catch (error) {
      cell.textContent = error.message;
      cell.className = "wrong";
    }
  }

  const rows = [...document.querySelectorAll("table.verdicts tr[data-case]")];
  for (const row of rows) row.querySelector("button.open").addEventListener("click", () => toggle(row));

  function move(step) {
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    const to = rows[Math.min(rows.length - 1, Math.max(0, at + step))];
    if (to) to.querySelector("button.open").focus();
  }
  const filter = (kind) => { filters.elements.show.value = kind; filters.requestSubmit(); };
  const keys = { j: () => move(1), k: () => move(-1), e: () => filter("error"), m: () => filter("missed") };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event)) return;
    const act = keys[event.key];
    if (act) { event.preventDefault(); act(); }
  });
})();
