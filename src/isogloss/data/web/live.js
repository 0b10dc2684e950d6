// Follows an evaluation: the server sends pieces of the page, which are put in their places.
(() => {
  "use strict";
  const work = document.querySelector("#work[data-events]");
  if (!work) return;
  const source = new EventSource(work.dataset.events);
  const put = (place, html) => {
    const held = place.contains(document.activeElement);
    place.innerHTML = html;
    if (held) document.querySelector("#state")?.focus();
  };
  source.addEventListener("state", (event) => put(work, JSON.parse(event.data)));
  source.addEventListener("progress", (event) => {
    const place = document.querySelector("#progress");
    if (place) place.innerHTML = JSON.parse(event.data);
  });
  source.addEventListener("end", () => source.close());
})();
