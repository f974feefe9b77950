// What all charts share: scales, ticks, intervals.

function extent(values) {
  const known = values.filter((value) => value !== null && value !== undefined);
  return known.length ? [Math.min(...known), Math.max(...known)] : [0, 1];
}

// Round numbers that cover a range, about so many of them.
function ticks(low, high, about = 5) {
  const rough = (high - low || 1) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  const found = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step / 1e6; tick += step) found.push(Number(tick.toFixed(10)));
  return found;
}

function scale([low, high], [from, to]) {
  const room = high - low || 1;
  return (value) => from + ((value - low) / room) * (to - from);
}

// A little air on both sides of a range.
function padded([low, high], share = 0.06) {
  const air = (high - low || 100) * share;
  return [low - air, high + air];
}

// An interval as a line with a point, drawn in percent of its box, so that rows of a table line up.
function interval(row, range, label) {
  const at = (value) => `${scale(range, [0, 100])(value).toFixed(2)}%`;
  const drawn = svg("svg", { class: "interval", role: "img", "aria-label": label, height: 24, width: "100%" });
  for (const tick of ticks(...range)) drawn.append(svg("line", { class: "grid", x1: at(tick), x2: at(tick), y1: 0, y2: 24 }));
  if (row.rating === null) return drawn;
  if (row.low !== null && row.high !== null) {
    drawn.append(svg("line", { class: "whisker", x1: at(row.low), x2: at(row.high), y1: 12, y2: 12 }));
  }
  drawn.append(svg("circle", { class: "dot", cx: at(row.rating), cy: 12, r: 4.5 }));
  return drawn;
}

function axis(range) {
  const at = (value) => `${scale(range, [0, 100])(value).toFixed(2)}%`;
  const drawn = svg("svg", { class: "axis", "aria-hidden": "true", height: 16, width: "100%" });
  for (const tick of ticks(...range)) drawn.append(svg("text", { x: at(tick), y: 12, "text-anchor": "middle" }, points(tick)));
  return drawn;
}

// Labels that would overlap are moved apart, in their order.
function apart(places, gap, low, high) {
  const order = places.map((_, index) => index).sort((one, other) => places[one] - places[other] || one - other);
  const found = [...places];
  let edge = low;
  for (const index of order) edge = (found[index] = Math.max(found[index], edge)) + gap;
  edge = high;
  for (const index of order.reverse()) edge = (found[index] = Math.min(found[index], edge)) - gap;
  return found;
}

// Pointing at a model, or moving the focus to it, brings it out everywhere in a chart.
function bringsOut(node, model, box) {
  const on = () => box().querySelectorAll("[data-model]").forEach((other) => other.classList.toggle("out", other.dataset.model === model));
  const off = () => box().querySelectorAll(".out").forEach((other) => other.classList.remove("out"));
  put(node, { "data-model": model, on: { pointerenter: on, pointerleave: off } }, []);
  return node;
}

function figure(title, note, ...content) {
  return el("figure", { class: "card" }, el("figcaption", {}, el("h3", {}, title), note ? el("p", { class: "note" }, note) : null), content);
}

// A table that sorts when its headings are pressed. A column: { title, cell(row), key(row), first, class, hint }.
function sortable(columns, rows, { caption, start = null, rowClass = () => "" }) {
  let order = start;
  const body = el("tbody");
  const heads = columns.map((column, place) => {
    const head = el("th", { scope: "col", class: column.class, title: column.hint });
    if (!column.key) return put(head, {}, [column.title, column.under ?? null]);
    const press = () => {
      const same = order && order.place === place;
      order = { place, down: same ? !order.down : (column.first ?? "down") === "down" };
      fill();
    };
    return put(head, {}, [el("button", { type: "button", class: "sort", on: { click: press } }, column.title), column.under ?? null]);
  });
  function fill() {
    const sorted = [...rows];
    if (order) {
      const { key } = columns[order.place];
      sorted.sort((one, other) => {
        const [a, b] = [key(one), key(other)];
        // What is unknown comes last, whichever way the rest goes.
        if (a === null || b === null) return (a === null) - (b === null);
        return (a < b ? -1 : a > b ? 1 : 0) * (order.down ? -1 : 1);
      });
    }
    heads.forEach((head, place) => {
      if (order && order.place === place) head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    body.replaceChildren(...sorted.map((row) => el("tr", { class: rowClass(row) || null }, columns.map((column) => el(column.head ? "th" : "td", { class: column.class, scope: column.head ? "row" : null }, column.cell(row))))));
  }
  fill();
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, el("table", { class: "sorted" }, el("caption", { class: "unread" }, caption), el("thead", {}, el("tr", {}, heads)), body));
}
