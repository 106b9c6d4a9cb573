"use strict";
// Adds search, sorting and paging to every table of class "data". The page is complete without it.
for (const table of document.querySelectorAll("table.data")) {
  const size = 50;
  const body = table.tBodies[0];
  const all = Array.from(body.rows);
  const texts = all.map((row) => Array.from(row.cells, (cell) => cell.textContent.trim()).join("\u0000").toLowerCase());
  const order = all.map((_, index) => index);
  let shown = order;
  let first = 0;

  const make = (tag, values) => Object.assign(document.createElement(tag), values);
  const search = make("input", { type: "search", placeholder: "Search", autocomplete: "off" });
  search.setAttribute("aria-label", "Search in " + table.dataset.label);
  const back = make("button", { type: "button", textContent: "Back" });
  const next = make("button", { type: "button", textContent: "Next" });
  const where = make("output", {});
  where.setAttribute("aria-live", "polite");
  const tools = make("div", { className: "tools" });
  tools.append(search, ...(all.length > size ? [back, next] : []), where);
  table.parentElement.before(tools);

  const draw = () => {
    const page = shown.slice(first, first + size).map((index) => all[index]);
    body.replaceChildren(...page);
    back.disabled = first === 0;
    next.disabled = first + size >= shown.length;
    const number = (value) => value.toLocaleString("en");
    where.textContent = shown.length
      ? number(first + 1) + " to " + number(first + page.length) + " of " + number(shown.length) + " rows"
      : "nothing found";
  };
  const filter = () => {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = order.filter((index) => wanted.every((word) => texts[index].includes(word)));
    first = 0;
    draw();
  };
  search.addEventListener("input", filter);
  back.addEventListener("click", () => { first = Math.max(0, first - size); draw(); });
  next.addEventListener("click", () => { first += size; draw(); });

  const words = new Intl.Collator("en", { numeric: true }).compare;
  const scale = { k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };
  // A number, perhaps with a unit, is compared by what it amounts to; numbers stand before words.
  const amount = (text) => {
    const found = /^(?:at least )?([\d,]+(?:\.\d+)?)(?: ([kMGTP])(?=[A-Za-z])|(?= |$))/.exec(text);
    return found ? parseFloat(found[1].replaceAll(",", "")) * (scale[found[2]] || 1) : NaN;
  };
  const compare = (a, b) => {
    if (Number.isNaN(a.amount) !== Number.isNaN(b.amount)) return Number.isNaN(a.amount) ? 1 : -1;
    return Number.isNaN(a.amount) ? words(a.text, b.text) : a.amount - b.amount;
  };
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    const button = make("button", { type: "button", textContent: head.textContent });
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keys = all.map((row) => row.cells[column].textContent.trim()).map((text) => ({ text, amount: amount(text) }));
      order.sort((a, b) => (down ? compare(keys[b], keys[a]) : compare(keys[a], keys[b])) || a - b);
      filter();
    });
  });
  addEventListener("beforeprint", () => body.replaceChildren(...shown.map((index) => all[index])));
  addEventListener("afterprint", draw);
  draw();
}
