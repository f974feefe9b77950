// Who met whom: models on a circle, a line for every pair that met.

function graph({ models, meetings, components }) {
  if (!meetings.length || models.length < 3) return null;
  const most = Math.max(...meetings.map((own) => own.wins + own.losses + own.ties), 1);
  const at = new Map(models.map((model) => [model.name, model]));
  const draw = (width) => {
    const height = Math.max(280, Math.min(380, width * 0.72));
    const [left, top] = [Math.min(140, width * 0.28), 34];
    const side = Math.min(width - 2 * left, height - 2 * top);
    // One circle keeps its shape; several take the whole width.
    const room = components.length > 1 ? width - 2 * left : side;
    const x = (model) => width / 2 + (model.x - 0.5) * room;
    const y = (model) => height / 2 + (model.y - 0.5) * side;
    const drawn = svg("svg", { width, height, class: "graph" });
    for (const own of meetings) {
      const [one, other] = [at.get(own.a), at.get(own.b)];
      const battles = own.wins + own.losses + own.ties;
      const line = svg("line", { class: "edge", x1: x(one), y1: y(one), x2: x(other), y2: y(other), "stroke-width": (1 + (4 * battles) / most).toFixed(2) });
      line.append(svg("title", {}, `${own.a} – ${own.b}: ${plural(battles, "rated battle")}`));
      line.dataset.a = own.a;
      line.dataset.b = own.b;
      drawn.append(line);
    }
    models.forEach((model, place) => {
      const away = model.x - 0.5;
      const anchor = Math.abs(away) < 0.02 ? "middle" : away > 0 ? "start" : "end";
      const shift = anchor === "middle" ? 0 : anchor === "start" ? 14 : -14;
      const below = anchor === "middle" ? (model.y > 0.5 ? 26 : -16) : 4;
      const node = svg("g", { class: place === 0 ? "first" : null, tabindex: -1 });
      node.append(svg("circle", { class: "dot", cx: x(model), cy: y(model), r: 7 }), svg("text", { class: "label", x: x(model) + shift, y: y(model) + below, "text-anchor": anchor }, svg("title", {}, model.name), short(model.name, Math.max(6, (left - 14) / 6.6))));
      const on = () => drawn.querySelectorAll(".edge").forEach((line) => line.classList.toggle("out", line.dataset.a === model.name || line.dataset.b === model.name));
      const off = () => drawn.querySelectorAll(".out").forEach((other) => other.classList.remove("out"));
      put(node, { on: { pointerenter: on, pointerleave: off } }, []);
      drawn.append(node);
    });
    return drawn;
  };
  return figure("Who met whom", "A line for every pair, thicker the more battles; the best stands on top, the others follow clockwise.", chart(`Match graph of ${models.length} models and ${meetings.length} pairs`, draw));
}
