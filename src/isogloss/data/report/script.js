"use strict";
(() => {
  const all = (query, root = document) => [...root.querySelectorAll(query)];
  const one = (query, root = document) => root.querySelector(query);

  // Theme: as the system says, or as the reader says.
  const themes = { "": "as the system", light: "light", dark: "dark" };
  const root = document.documentElement;
  const button = one("#theme");
  const remember = (name) => { try { localStorage.setItem("isogloss-theme", name); } catch { /* a file may not store */ } };
  const recall = () => { try { return localStorage.getItem("isogloss-theme") || ""; } catch { return ""; } };
  const setTheme = (name) => {
    if (name) root.dataset.theme = name; else delete root.dataset.theme;
    one("span", button).textContent = themes[name] || themes[""];
  };
  setTheme(recall() in themes ? recall() : "");
  button.hidden = false;
  button.addEventListener("click", () => {
    const names = Object.keys(themes);
    const next = names[(names.indexOf(root.dataset.theme || "") + 1) % names.length];
    setTheme(next);
    remember(next);
  });

  // Switches: the chosen values, joined, name the one view that is shown.
  for (const group of all("[data-switches]")) {
    const parts = all("[data-part]", group);
    const show = () => {
      const chosen = parts.filter((part) => part.type !== "radio" || part.checked);
      const key = chosen.sort((a, b) => a.dataset.part - b.dataset.part).map((part) => part.value).join("|");
      for (const view of all("[data-view]", group)) view.hidden = view.dataset.view !== key;
    };
    for (const part of parts) part.addEventListener("change", show);
    show();
  }

  // Explorer: nothing of the sentences is on the page until the reader agrees.
  const source = one("#explorer-data");
  if (!source) return;
  const STEP = 20;
  const gate = one("#explorer-gate"), body = one("#explorer-body"), list = one("#explorer-list");
  const fields = Object.fromEntries(["search", "language", "dataset", "kind", "who", "verdict", "order"].map((name) => [name, one(`#explorer-${name}`)]));
  const more = one("#explorer-more");
  let data = null, found = [], shown = 0;

  const element = (tag, text, more = {}) => Object.assign(document.createElement(tag), text === null ? {} : { textContent: text }, more);
  const sentence = (tag, text, language) => element(tag, text, { lang: language, dir: "auto" });
  const fold = (text) => (text || "").normalize("NFKC").toLocaleLowerCase();

  const card = (item, who) => {
    const box = element("li", null);
    const about = [fields.dataset.type !== "hidden" && item.d, data.names[item.l], item.c, item.k].filter(Boolean).join(" · ");
    const line = element("p", about + (item.t ? " · " : ""), { className: "about" });
    if (item.t) line.append(sentence("bdi", item.t, ""));
    box.append(line);
    if (item.x) box.append(sentence("p", item.x, item.l)), box.lastChild.className = "context";
    const pairs = element("dl", null);
    const gap = item.g[who], answers = item.a && item.a[who];
    const role = (i) => i === 1 && item.n ? "contrast" : data.roles[i];
    const preferred = gap > 0 ? 0 : gap < 0 ? 1 : -1;
    item.s.forEach((text, i) => {
      if (text) pairs.append(element("dt", role(i), { className: i === preferred ? "preferred" : "" }), sentence("dd", text, item.l));
    });
    box.append(pairs);
    if (answers) {
      const list = element("dl", null, { className: "answers" });
      for (const [prompt, verdict, text] of answers) list.append(element("dt", `${prompt}: ${verdict}`), sentence("dd", text, item.l));
      box.append(list);
    }
    if (gap === null) return box;
    const side = preferred < 0 ? "a tie" : `the ${role(preferred)} is preferred`;
    const shown = Math.abs(gap) < 0.005 && gap ? gap.toPrecision(1) : gap.toFixed(2);  // never "0.00" for a preference
    box.append(element("p", `Gap ${gap > 0 ? "+" : ""}${shown} nats: ${side}`, { className: "gap" }));
    return box;
  };
  const grow = () => {
    const who = Number(fields.who.value);
    list.append(...found.slice(shown, shown + STEP).map((item) => card(item, who)));
    shown = Math.min(found.length, shown + STEP);
    more.hidden = shown >= found.length;
    one("#explorer-count").textContent = `${found.length} items found, ${shown} shown`;
  };
  const search = () => {
    const words = fold(fields.search.value).split(/\s+/).filter(Boolean);
    const who = Number(fields.who.value);
    const orders = { most: (a, b) => b.g[who] - a.g[who], least: (a, b) => a.g[who] - b.g[who], close: (a, b) => Math.abs(a.g[who]) - Math.abs(b.g[who]) };
    found = data.items.filter((item) => (item.g[who] !== null || (item.a && item.a[who]))
      && (!fields.dataset.value || item.d === fields.dataset.value)
      && (!fields.verdict.value || (item.a && item.a[who] || []).some((answer) => answer[1] === fields.verdict.value))
      && (!fields.language.value || item.l === fields.language.value)
      && (!fields.kind.value || item.c === fields.kind.value)
      && words.every((word) => item.text.includes(word))).sort(orders[fields.order.value]);
    shown = 0;
    list.replaceChildren();
    grow();
  };
  const unpack = (text) => {  // base64 of gzip, so that the sentences weigh a fifth
    const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  };
  const open = async () => {
    if (!data) {
      data = await unpack(source.textContent);
      for (const item of data.items) item.text = fold([item.i, item.t, item.x, ...item.s, ...(item.a || []).flatMap((own) => (own || []).map((answer) => answer[2]))].filter(Boolean).join(" "));
    }
    gate.hidden = true;
    body.hidden = false;
    search();
    fields.search.focus();
  };
  one("#explorer-agree").addEventListener("click", open);
  one("#explorer-hide").addEventListener("click", () => {
    list.replaceChildren();
    body.hidden = true;
    gate.hidden = false;
    one("#explorer-agree").focus();
  });
  more.addEventListener("click", () => { const next = shown; grow(); list.children[next].tabIndex = -1; list.children[next].focus(); });
  one("#explorer-form").addEventListener("submit", (event) => event.preventDefault());
  for (const field of Object.values(fields)) field.addEventListener(field === fields.search ? "input" : "change", search);
})();
