// The name that labels are written under: carried in the address, so that two tabs may be two people.
"use strict";
{
  const form = document.getElementById("who");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const query = new URLSearchParams(form.dataset.query);
    query.set("as", form.elements.as.value);
    location.href = `${PREFIX}/label?${query}`;
  });
}
