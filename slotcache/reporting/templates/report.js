"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, text = "", kind = "") => {
    const element = document.createElement(tag);
    element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };

  // Theme: the system's unless the reader chooses.
  const theme = document.getElementById("theme");
  const dark = () => document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const label = () => { theme.textContent = dark() ? "Light" : "Dark"; };
  theme.hidden = false;
  theme.addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; label(); });
  label();

  // One source at a time; a link to a part of another source shows it first.
  const tabs = all("[role=tab]");
  const choose = (tab) => tabs.forEach((other) => {
    const chosen = other === tab;
    other.setAttribute("aria-selected", String(chosen));
    other.tabIndex = chosen ? 0 : -1;
    document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
  });
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(at + step + tabs.length) % tabs.length];
      choose(next);
      next.focus();
    });
  });
  if (tabs.length) choose(tabs[0]);
  addEventListener("hashchange", () => {
    const target = document.getElementById(location.hash.slice(1));
    const panel = target && target.closest("[role=tabpanel]");
    if (panel && panel.hidden) { choose(tabs.find((tab) => tab.getAttribute("aria-controls") === panel.id)); target.scrollIntoView(); }
  });

  // Tables: sorting and filtering.
  all("table[data-sortable]").forEach((table) => {
    const body = table.tBodies[0];
    all("thead th", table).forEach((head, column) => {
      const button = head.querySelector("button");
      if (!button) return;
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") === "descending";
        all("thead th", table).forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
        const numeric = head.classList.contains("num");
        const order = (a, b) => (numeric ? Number(value(a)) - Number(value(b)) : value(b).localeCompare(value(a)));
        [...body.rows].sort((a, b) => (up ? order(a, b) : order(b, a))).forEach((row) => body.append(row));
      });
    });
  });
  all("[data-filters]").forEach((tools) => {
    const body = document.getElementById(tools.dataset.filters).tBodies[0];
    const text = tools.querySelector("input[type=search]");
    const harmful = tools.querySelector("input[type=checkbox]");
    const status = tools.querySelector("[role=status]");
    const apply = () => {
      const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      [...body.rows].forEach((row) => {
        const said = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => said.includes(word)) || (harmful && harmful.checked && row.dataset.harm === "0");
        shown += !row.hidden;
      });
      status.textContent = shown === body.rows.length ? "" : `${shown} of ${body.rows.length}`;
    };
    text.addEventListener("input", apply);
    if (harmful) harmful.addEventListener("change", apply);
  });

  // Heat maps: the weight that shades them, and arrow keys between cells.
  const short = (value) => (value >= 10000 ? `${Math.round(value / 1000)}k` : String(Math.round(value)));
  const shade = (heat, weight) => {
    const most = Number(heat.dataset[weight]) || 1;
    all("button", heat).forEach((button) => {
      const value = Number(button.dataset[weight]);
      const share = Math.sqrt(value / most);
      button.style.setProperty("--shade", value ? 14 + 80 * share : 0);
      button.classList.toggle("strong", value > 0 && share > 0.6);
      button.textContent = value ? short(value) : "·";
    });
  };
  all("table.heat").forEach((heat) => {
    const buttons = all("button", heat);
    buttons.forEach((button, at) => { button.tabIndex = at ? -1 : 0; });
    heat.addEventListener("keydown", (event) => {
      const move = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
      if (!move || event.target.tagName !== "BUTTON") return;
      event.preventDefault();
      const at = (button) => [Number(button.dataset.row), Number(button.dataset.column)];
      const [row, column] = at(event.target);
      // The nearest cell in that direction: along the way first, then across.
      const ahead = buttons.map((button) => [button, ...at(button)])
        .filter(([, r, c]) => (r - row) * move[0] + (c - column) * move[1] > 0)
        .map(([button, r, c]) => [button, move[0] ? Math.abs(r - row) + Math.abs(c - column) * 0.9 : Math.abs(c - column) + Math.abs(r - row) * 20])
        .sort((a, b) => a[1] - b[1]);
      if (!ahead.length) return;
      event.target.tabIndex = -1;
      ahead[0][0].tabIndex = 0;
      ahead[0][0].focus();
    });
  });
  const weights = all("input[name=weight]");
  const reshade = () => {
    const weight = (weights.find((input) => input.checked) || { value: "count" }).value;
    all("table.heat").forEach((heat) => shade(heat, weight));
  };
  weights.forEach((input) => input.addEventListener("change", reshade));
  reshade();

  // Cells and questions open in a dialog, which gives the focus back when it closes.
  const dialog = document.getElementById("cell");
  const pair = (rows) => {
    const list = make("dl", "", "pair");
    rows.forEach(([name, value]) => { list.append(make("dt", name), make("dd", value, "mono")); });
    return list;
  };
  const stagesOf = (text) => {
    const found = data.stages[text];
    if (!found) return make("p", "Not explained here; run: slotcache explain with this question.", "soft");
    const list = make("dl", "", "stages");
    found.forEach(([name, saw]) => { list.append(make("dt", name), make("dd", saw)); });
    return list;
  };
  const tagsOf = (question) => {
    const line = make("p");
    const said = { right: "right", abstained: "abstained", wrong: "accepted, wrong" }[question.verdict];
    line.append(make("span", said, `tag ${question.verdict}`));
    if (question.harmful) line.append(make("span", "wrong answer served", "tag wrong"));
    line.append(make("span", `asked ${question.traffic.toLocaleString("en")} ${question.traffic === 1 ? "time" : "times"}`, "tag"));
    line.append(make("span", `confidence ${question.confidence.toFixed(2)}`, "tag"));
    return line;
  };
  const show = (title, subtitle, blocks) => {
    document.getElementById("cell-title").textContent = title;
    document.getElementById("cell-about").replaceChildren(...subtitle);
    document.getElementById("cell-body").replaceChildren(...blocks);
    dialog.showModal();
    dialog.scrollTop = 0;
  };
  const block = (text, extra, open) => {
    const section = make("section", "", "question");
    section.append(make("p", `“${text}”`), ...extra);
    const details = make("details");
    details.open = open;
    details.append(make("summary", "Stage by stage"), stagesOf(text));
    section.append(details);
    return section;
  };
  const openCell = (id) => {
    const [gold, read, count, places] = data.cells[id];
    const blocks = places.map((place, at) => {
      const question = data.questions[place];
      const reading = question.read || `abstained (${question.abstain})${question.leaning ? `, leaning to ${question.leaning}` : ""}`;
      return block(question.text, [tagsOf(question), pair([["asks", question.gold], ["read as", reading]])], at < 3);
    });
    const more = count > places.length ? `, ${places.length} of them here` : "";
    show(`${count} ${count === 1 ? "question" : "questions"}${more}`, [pair([["asked", gold], ["read as", read]])], blocks);
  };
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-cell], [data-question], [data-text]");
    if (!opener) return;
    if (opener.dataset.cell) openCell(opener.dataset.cell);
    else if (opener.dataset.question) {
      const question = data.questions[opener.dataset.question];
      show("A label to check", [], [block(question.text, [tagsOf(question), pair([["labelled", question.gold], ["read as", question.read || question.abstain]])], true)]);
    } else show("One question", [], [block(opener.dataset.text, [], true)]);
  });
  document.getElementById("cell-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  // "/" jumps to the first filter that can be seen.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || dialog.open || /INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) return;
    const box = all("input[type=search]").find((input) => input.offsetParent);
    if (box) { event.preventDefault(); box.focus(); }
  });
})();
