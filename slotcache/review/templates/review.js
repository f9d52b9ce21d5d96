// Keys: whatever has data-key is clicked, or focused when it is a field. Nothing here is needed to use the page by Tab.
(() => {
  "use strict";
  const root = document.documentElement;
  const stored = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  if (stored()) root.dataset.theme = stored();
  document.getElementById("theme")?.addEventListener("click", () => {
    const dark = getComputedStyle(root).colorScheme.trim() === "dark" ||
      (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* a private window: for this page only */ }
  });

  const help = document.getElementById("help");
  const keyed = () => [...document.querySelectorAll("[data-key]")];
  for (const element of keyed()) element.setAttribute("aria-keyshortcuts", element.dataset.key);
  const list = document.getElementById("help-list");
  const listed = new Set();
  for (const element of keyed()) {
    if (listed.has(element.dataset.key)) continue;
    listed.add(element.dataset.key);
    const key = document.createElement("dt"), says = document.createElement("dd");
    key.appendChild(document.createElement("kbd")).textContent = element.dataset.key;
    says.textContent = element.dataset.says || element.textContent;
    list.append(key, says);
  }
  document.getElementById("help-button")?.addEventListener("click", () => help.showModal());
  document.getElementById("help-close").addEventListener("click", () => help.close());

  const typing = (element) => element.matches("input:not([type=checkbox]), textarea, select");
  const movable = () => [...document.querySelectorAll("a.row, [data-move]")];
  const move = (step) => {
    const all = movable(), at = all.indexOf(document.activeElement);
    const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + step))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  const chosen = (key) => {
    const all = keyed().filter((element) => element.dataset.key === key);
    const near = document.activeElement.closest("[data-move]");
    return all.find((element) => near?.contains(element)) || all[0];
  };

  document.addEventListener("keydown", (event) => {
    const here = document.activeElement;
    if (typing(here)) {
      if (event.key === "Escape") here.blur();
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) here.form?.requestSubmit();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || help.open) return;
    if (event.key === "j" || event.key === "k") { event.preventDefault(); move(event.key === "j" ? 1 : -1); return; }
    const element = chosen(event.key);
    if (!element) return;
    event.preventDefault();
    const field = element.dataset.focus ? document.getElementById(element.dataset.focus) : element;
    if (typing(field)) { field.focus(); if (field.select) field.select(); } else field.click();
  });

  // One press, one label: a form that was sent is not sent again while the answer is on its way.
  document.addEventListener("submit", (event) => {
    if (event.target.dataset.sent) { event.preventDefault(); return; }
    event.target.dataset.sent = "yes";
  });
  addEventListener("pageshow", () => { for (const form of document.forms) delete form.dataset.sent; });

  // Choosing an intent from the list shows its slots at once.
  const intent = document.getElementById("intent");
  intent?.addEventListener("change", () => {
    if ([...intent.list.options].some((option) => option.value === intent.value)) intent.form.requestSubmit();
  });
})();
