// The loop on the page of a judge: instructions saved, the cost shown and confirmed, progress, and the new number.
"use strict";
(() => {
  const by = (id) => document.getElementById(id);
  if (!by("loop")) return;
  const query = by("loop").dataset.query;

  function say(id, text, wrong = false) {
    by(id).textContent = text;
    by(id).classList.toggle("wrong", wrong);
  }

  const form = by("edit");
  const texts = () => Object.fromEntries([...form.querySelectorAll("textarea")].map((area) => [area.name, area.value]));
  if (form) {
    let written = JSON.stringify(texts());
    const changed = () => JSON.stringify(texts()) !== written;
    form.addEventListener("input", () => {
      by("save").disabled = !changed();
      by("evaluate").disabled = changed();
      say("saved", changed() ? "Not saved yet." : "");
    });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      by("save").disabled = true;
      try {
        const answer = await ask(`/judge/instructions?${query}`, { texts: texts() });
        written = JSON.stringify(texts());
        by("evaluate").disabled = false;
        say("saved", answer.said);
        by("cost").textContent = (await ask(`/judge/plan?${query}`)).said;
      } catch (error) {
        say("saved", `Not saved: ${error.message}`, true);
        by("save").disabled = false;
      }
    });
    window.addEventListener("beforeunload", (event) => { if (changed()) event.preventDefault(); });
  }

  by("evaluate").addEventListener("click", async () => {
    try {
      by("cost-again").textContent = (await ask(`/judge/plan?${query}`)).said;
      by("confirm").hidden = false;
      by("not-now").focus();
    } catch (error) {
      say("outcome", error.message, true);
    }
  });
  by("not-now").addEventListener("click", () => { by("confirm").hidden = true; by("evaluate").focus(); });
  by("go").addEventListener("click", async () => {
    by("confirm").hidden = true;
    try {
      follow(await ask(`/judge/evaluate?${query}`, { confirmed: true }));
    } catch (error) {
      say("outcome", error.message, true);
    }
  });
  by("stop").addEventListener("click", async () => {
    try { say("outcome", (await ask(`/judge/stop?${query}`, {})).said); } catch (error) { say("outcome", error.message, true); }
  });

  function follow(work) {
    by("evaluate").disabled = work.state === "running";
    by("running").hidden = work.state !== "running";
    if (work.state === "running") {
      by("evaluated").textContent = `Evaluated: ${work.done}/${work.total}`;
      by("bar").max = Math.max(1, work.total);
      by("bar").value = work.done;
      setTimeout(again, 250);
    } else if (work.state === "done") {
      say("outcome", `${work.said} ✓`);
      location.href = `${PREFIX}/judge?${query}&tab=agreement`;
    } else if (work.state) {
      say("outcome", work.said, work.state === "failed");
    }
  }
  async function again() {
    try { follow(await ask(`/judge/progress?${query}`)); } catch (error) { say("outcome", error.message, true); setTimeout(again, 2000); }
  }
  // A page that is opened while the judge is evaluated goes on showing it; what ended before is not told again.
  ask(`/judge/progress?${query}`).then((work) => { if (work.state === "running") follow(work); }, () => undefined);
})();
