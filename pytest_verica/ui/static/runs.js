// The list of runs: two picked ones can be compared.
"use strict";
for (const form of document.querySelectorAll("form.compare")) {
  const button = form.querySelector("button");
  const words = form.querySelector("[role=status]");
  const picked = () => [...form.querySelectorAll("input:checked")].map((box) => box.value);
  const update = () => {
    const count = picked().length;
    button.disabled = count !== 2;
    words.textContent = count === 2 ? "" : count > 2 ? `${count} runs are picked; two can be compared.` : count === 1 ? "Pick one more." : "Pick two runs to compare them.";
  };
  form.addEventListener("change", update);
  form.addEventListener("submit", (event) => {
    event.preventDefault();  // the older run is A, whatever was picked first: the list is newest first
    const [b, a] = picked();
    if (a !== undefined && b !== undefined) location.href = `${PREFIX}/compare?${new URLSearchParams({ a, b, eval: form.dataset.eval })}`;
  });
  update();
}
