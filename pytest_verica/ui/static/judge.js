// The page of a judge: a label taken back, a threshold tried, applied and undone.
"use strict";
(() => {
  const by = (id) => document.getElementById(id);

  async function change(path, query, value, say, buttons) {
    for (const button of buttons) button.disabled = true;
    try {
      const answer = await ask(`${path}?${query}`, value);
      say.classList.remove("wrong");
      say.textContent = answer.said;
      return true;
    } catch (error) {
      say.classList.add("wrong");
      say.textContent = `Not changed: ${error.message}`;
      for (const button of buttons) button.disabled = false;
      return false;
    }
  }

  for (const article of document.querySelectorAll("#disagreements article")) {
    const ask_first = article.querySelector(".flip");
    if (!ask_first) continue;
    const sure = article.querySelector(".sure");
    const query = by("disagreements").dataset.query;
    ask_first.addEventListener("click", () => { sure.hidden = false; article.querySelector(".no").focus(); });
    article.querySelector(".no").addEventListener("click", () => { sure.hidden = true; ask_first.focus(); });
    article.querySelector(".yes").addEventListener("click", async () => {
      const value = { case: article.dataset.case, output_hash: article.dataset.output };
      if (await change("/judge/flip", query, value, article.querySelector(".status"), article.querySelectorAll("button"))) sure.hidden = true;
    });
  }

  const slider = by("cut-at");
  if (!slider) return;
  const query = by("threshold").dataset.query;
  const cuts = JSON.parse(slider.dataset.cuts);
  const buttons = [by("apply"), by("apply-best"), by("undo")].filter(Boolean);
  const reload = () => setTimeout(() => location.reload(), 900);

  // What scores at least the threshold passes: up to the next observed score, nothing changes.
  const accuracy = (at) => (cuts.find(([cut]) => cut === null || cut >= at) || cuts[cuts.length - 1])[1];

  function preview() {
    const at = Number(slider.value);
    by("preview").textContent = `Balanced accuracy at ${at}: ${accuracy(at).toFixed(2)} (optimum ${slider.dataset.best})`;
    by("apply").textContent = `Apply ${at}`;
    by("apply").disabled = at === Number(slider.dataset.current) || at <= Number(slider.min);
    const [low, high, left, right] = ["low", "high", "left", "right"].map((name) => Number(by("curve").dataset[name]));
    const x = left + (at - low) / (high - low) * (right - left);
    by("chosen").classList.toggle("unmoved", at === Number(slider.dataset.current));
    by("chosen").setAttribute("x1", x);
    by("chosen").setAttribute("x2", x);
  }
  slider.addEventListener("input", preview);
  preview();
  const apply = async (value) => { if (await change("/judge/threshold", query, { value }, by("said"), buttons)) reload(); };
  by("apply").addEventListener("click", () => apply(Number(slider.value)));
  if (by("apply-best")) by("apply-best").addEventListener("click", () => apply(Number(by("apply-best").dataset.value)));
  if (by("undo")) by("undo").addEventListener("click", async () => { if (await change("/judge/undo", query, {}, by("said"), buttons)) reload(); });
})();
