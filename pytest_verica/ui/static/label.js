// Labelling: one case at a time, a key for each answer, each saved before the next is shown.
"use strict";
(() => {
  const main = document.getElementById("label");
  const query = main.dataset.query;
  const by = (id) => document.getElementById(id);
  let card = null;      // what is on screen; null at the end
  let total = 0;
  let busy = false;     // an answer is on its way: keys wait for it

  function say(text, wrong = false) {
    by("status").textContent = text;
    by("status").classList.toggle("wrong", wrong);
  }

  function show(answer) {
    card = answer.card;
    total = answer.total;
    by("progress").max = Math.max(1, total);
    by("progress").value = answer.labelled;
    by("count").textContent = `${answer.labelled} labelled` + (answer.skipped ? `, ${answer.skipped} skipped` : "");
    by("card").hidden = card === null;
    by("done").hidden = card !== null;
    if (card === null) {
      by("place").textContent = `${total} of ${total}`;
      by("done-words").textContent = `You labelled ${answer.labelled} of ${total}.` + (answer.skipped ? ` ${answer.skipped} skipped.` : "");
      by("done-more").hidden = answer.more === 0;
      by("done-more").textContent = `Label ${answer.more} more`;
      by("done-back").focus();
      return;
    }
    by("place").textContent = `${card.position + 1} of ${total}`;
    showInputs(answer.available);
    by("output").replaceChildren(...card.output.map((part) => {
      const block = textBlock(part.text, "said");
      return part.name ? element("div", {}, element("p", { class: "name", text: part.name }), block) : block;
    }));
    by("fail").setAttribute("aria-pressed", card.verdict === "fail");
    by("pass").setAttribute("aria-pressed", card.verdict === "pass");
    by("next").hidden = card.verdict === null;
    by("back").disabled = card.position === 0;
    by("note-text").value = card.note || "";
    openNote(Boolean(card.note));
    window.scrollTo(0, 0);
    by("place").focus({ preventScroll: true });
  }

  function showInputs(available) {
    by("inputs").replaceChildren(...card.inputs.flatMap((each) => [
      element("p", { class: "name", text: each.name, dir: "auto" }), textBlock(each.text, "plain")]));
    const shown = card.inputs.map((each) => each.name);
    by("columns").replaceChildren(...available.map((name) => {
      const box = element("input", { type: "checkbox", value: name });
      box.checked = shown.includes(name);
      box.addEventListener("change", choose);
      return element("label", { class: "pick" }, box, element("span", { text: name, dir: "auto" }));
    }));
  }

  function choose() {
    const columns = [...by("columns").querySelectorAll("input:checked")].map((box) => box.value);
    return guarded(async () => {
      show(await ask(`/label/columns?${query}`, { columns, position: card.position }));
      say("Columns remembered ✓");
    });
  }

  async function guarded(work) {
    if (busy) return;
    busy = true;
    try {
      await work();
    } catch (error) {
      say(`Not saved: ${error.message}`, true);
    } finally {
      busy = false;
    }
  }

  async function go(position) {
    if (busy) return;
    await guarded(async () => {
      const at = position === null ? "" : `&at=${position}`;
      show(await ask(`/label/card?${query}${at}`));
      say("");
    });
  }

  function answer(verdict) {
    return guarded(async () => {
      if (card === null) return;
      say("Saving…");
      const act = { case: card.case, sample: card.sample, output_hash: card.output_hash, position: card.position, verdict, note: by("note-text").value };
      show(await ask(`/label/act?${query}`, act));
      say("Saved ✓");
    });
  }

  function back() {
    if (card === null) return go(total - 1);
    return card.position > 0 ? go(card.position - 1) : undefined;
  }

  function openNote(open) {
    by("note-box").hidden = !open;
    by("note").setAttribute("aria-expanded", open);
  }

  // A note changed on a case that has its answer is saved with that answer; on a new one it waits for the answer.
  function saveNote() {
    if (card === null || by("note-text").value === (card.note || "")) return;
    if (card.verdict === null) return say("The note is saved with your answer.");
    guarded(async () => {
      const act = { case: card.case, sample: card.sample, output_hash: card.output_hash, position: card.position, verdict: card.verdict, note: by("note-text").value, stay: true };
      show(await ask(`/label/act?${query}`, act));
      say("Saved ✓");
    });
  }

  const keys = {
    f: () => answer("fail"), p: () => answer("pass"), s: () => answer("skipped"), arrowleft: back,
    arrowright: () => card !== null && card.verdict !== null && go(card.position + 1),
    n: () => { if (card !== null) { openNote(true); by("note-text").focus(); } },
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (typing(event)) {
      if (event.key === "Escape") { event.preventDefault(); by("place").focus(); }
      return;
    }
    const act = keys[event.key.toLowerCase()];
    if (act) { event.preventDefault(); act(); }
  });
  by("fail").addEventListener("click", keys.f);
  by("pass").addEventListener("click", keys.p);
  by("skip").addEventListener("click", keys.s);
  by("back").addEventListener("click", back);
  by("done-back").addEventListener("click", back);
  by("next").addEventListener("click", keys.arrowright);
  by("note").addEventListener("click", keys.n);
  by("note-text").addEventListener("blur", (event) => {
    const to = event.relatedTarget;
    if (!(to && to.closest(".answers, .acts"))) saveNote();  // an answer takes the note with it
  });
  go(null);
})();
