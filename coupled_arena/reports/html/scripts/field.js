// Models against each other: ratings over rounds, win rates, quality against cost, domains.

function historyOf({ history, models }) {
  const rounds = [...new Set(history.map((place) => place.round))].sort((one, other) => one - other);
  if (rounds.length < 2) return null;
  const order = models.map((model) => model.name);
  const by = new Map(order.map((model) => [model, history.filter((place) => place.model === model && place.rating !== null)]));
  const range = padded(extent(history.map((place) => place.rating)), 0.04);
  const draw = (width) => {
    const [height, left, right, top, bottom] = [280, 40, Math.min(150, width * 0.34), 12, 28];
    const x = scale([rounds[0], rounds.at(-1)], [left, width - right]);
    const y = scale(range, [height - bottom, top]);
    const drawn = svg("svg", { width, height, class: "history" });
    for (const tick of ticks(...range, 4)) {
      drawn.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }), svg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, points(tick)));
    }
    for (const round of rounds.length > 12 ? ticks(rounds[0], rounds.at(-1), 8) : rounds) drawn.append(svg("text", { x: x(round), y: height - 8, "text-anchor": "middle" }, round));
    const last = order.filter((model) => by.get(model).length);
    const labels = apart(last.map((model) => y(by.get(model).at(-1).rating)), 15, top + 4, height - bottom);
    last.forEach((model, place) => {
      const places = by.get(model);
      const line = places.map((found, at) => `${at ? "L" : "M"}${x(found.round).toFixed(1)} ${y(found.rating).toFixed(1)}`).join("");
      const group = svg("g", { class: place === 0 ? "first" : null });
      const band = places.filter((found) => found.low !== null && found.high !== null);
      if (band.length > 1) {
        const upper = band.map((found, at) => `${at ? "L" : "M"}${x(found.round).toFixed(1)} ${y(Math.min(found.high, range[1])).toFixed(1)}`).join("");
        const lower = band.toReversed().map((found) => `L${x(found.round).toFixed(1)} ${y(Math.max(found.low, range[0])).toFixed(1)}`).join("");
        group.append(svg("path", { class: "band", d: `${upper}${lower}Z` }));
      }
      group.append(svg("path", { class: "line", d: line }), svg("path", { class: "reach", d: line }));
      for (const found of places) group.append(svg("circle", { class: "dot", cx: x(found.round), cy: y(found.rating), r: 2.5 }));
      group.append(svg("text", { class: "label", x: width - right + 10, y: labels[place] + 4 }, svg("title", {}, model), short(model, right / 7.2)));
      drawn.append(bringsOut(group, model, () => drawn));
    });
    return drawn;
  };
  return figure("Ratings over rounds", "Point at a line to see its interval.", chart(`Ratings of ${order.length} models after each of ${rounds.length} rounds`, draw));
}

// Names of variants often differ at their end only, so what is cut out is the middle.
function short(text, letters) {
  const shown = [...text].map((letter) => (letter.match(UNSEEN) ? "�" : letter));
  if (shown.length <= letters) return shown.join("");
  const tail = Math.max(1, Math.ceil((letters - 1) / 2));
  return `${shown.slice(0, Math.max(1, Math.floor(letters) - 1 - tail)).join("")}…${shown.slice(-tail).join("")}`;
}

function matrix({ meetings, models }) {
  if (!meetings.length) return null;
  const order = models.map((model) => model.name);
  const found = new Map();
  for (const own of meetings) {
    found.set(`${order.indexOf(own.a)} ${order.indexOf(own.b)}`, own);
    const turned = { ...own, a: own.b, b: own.a, wins: own.losses, losses: own.wins };
    const other = (value) => (value === null ? null : 1 - value);
    found.set(`${order.indexOf(own.b)} ${order.indexOf(own.a)}`, { ...turned, share: other(own.share), low: other(own.high), high: other(own.low) });
  }
  const cell = (row, column) => {
    if (row === column) return el("td", { class: "self" }, el("span", { class: "unread" }, "itself"));
    const own = found.get(`${row} ${column}`);
    if (!own || own.share === null) return el("td", { class: "none" }, el("span", { class: "unread" }, "no rated battle"));
    const told = `${own.wins} won, ${own.losses} lost, ${own.ties} tied on ${plural(own.questions, "question")}${own.low === null ? "" : `; ${percent(own.low)} to ${percent(own.high)}`}`;
    const strength = Math.round(Math.abs(own.share - 0.5) * 100);
    return el(
      "td",
      { class: own.share >= 0.5 ? "better" : "worse", vars: { strength: `${strength}%` } },
      el("a", { href: address("battles", null, { model: own.a, opponent: own.b }), title: told }, Math.round(100 * own.share), el("span", { class: "unread" }, ` %: ${told}`)),
    );
  };
  const table = el(
    "table",
    { class: "matrix" },
    el("caption", { class: "unread" }, "Mean score of the model of the row against the model of the column, in percent"),
    el("thead", {}, el("tr", {}, el("td"), order.map((model, place) => el("th", { scope: "col", title: model }, el("span", { class: "unread" }, name(model)), el("span", { "aria-hidden": "true" }, place + 1))))),
    el("tbody", {}, order.map((model, row) => el("tr", {}, el("th", { scope: "row" }, el("span", { class: "place" }, row + 1), " ", name(short(model, 24), { title: model })), order.map((_, column) => cell(row, column))))),
  );
  return figure("Win rates", "Mean score of the row against the column, in percent; press one for its battles.", el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Win rates" }, table));
}

function costs({ models, result }) {
  const rated = new Map(result.leaderboard.map((row) => [row.model, row]));
  const paid = models.some((model) => model.usd);
  const unpriced = paid ? models.filter((model) => model.usd === null).map((model) => model.name) : [];
  const shown = models
    .map((model) => ({ ...rated.get(model.name), x: paid ? model.usd : model.tokens, model: model.name }))
    .filter((own) => own.rating !== null && own.x !== null);
  if (!shown.length) return null;
  const wide = paid && Math.min(...shown.map((own) => own.x)) > 0 && Math.max(...shown.map((own) => own.x)) / Math.min(...shown.map((own) => own.x)) > 20;
  const place = wide ? Math.log10 : (value) => value;
  const xs = padded(extent(shown.map((own) => place(own.x))), 0.1);
  const ys = padded(extent(shown.flatMap((own) => [own.rating, own.low, own.high])));
  const draw = (width) => {
    const [height, left, right, top, bottom] = [280, 44, 16, 12, 44];
    const x = scale(xs, [left, width - right]);
    const y = scale(ys, [height - bottom, top]);
    const drawn = svg("svg", { width, height, class: "costs" });
    for (const tick of ticks(...ys, 4)) drawn.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }), svg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, points(tick)));
    for (const tick of ticks(...xs, width > 420 ? 5 : 3)) drawn.append(svg("text", { x: x(tick), y: height - 24, "text-anchor": "middle" }, paid ? dollars(wide ? 10 ** tick : tick) : points(tick)));
    drawn.append(svg("text", { class: "what", x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, paid ? "dollars a battle, at list price" : "tokens written a battle"));
    const labels = apart(shown.map((own) => y(own.rating)), 14, top + 4, height - bottom);
    shown.forEach((own, at) => {
      const [cx, cy] = [x(place(own.x)), y(own.rating)];
      const group = svg("g", { class: at === 0 ? "first" : null });
      if (own.low !== null && own.high !== null) group.append(svg("line", { class: "whisker", x1: cx, x2: cx, y1: y(own.low), y2: y(own.high) }));
      const before = cx > width * 0.66;
      group.append(
        svg("circle", { class: "dot", cx, cy, r: 4.5 }),
        svg("text", { class: "label", x: before ? cx - 10 : cx + 10, y: labels[at] + 4, "text-anchor": before ? "end" : "start" }, svg("title", {}, own.model), short(own.model, 22)),
      );
      drawn.append(bringsOut(group, own.model, () => drawn));
    });
    return drawn;
  };
  const note = [paid ? "Up and to the left is better." : "Nobody charged for these models, so their tokens stand for the cost. ", unpriced.length ? [" No price is known of ", joined(unpriced.map((model) => name(model))), "."] : null];
  return figure("Quality against cost", note, chart(`Rating of ${shown.length} models against what they cost`, draw));
}

function domainsOf({ domains, models }) {
  if (domains.length < 2) return null;
  const shown = domains.filter((domain) => domain.shown);
  const few = domains.filter((domain) => !domain.shown);
  const words = few.length ? `Too few rated battles for ratings of their own (20 are needed): ${listed(few.map((domain) => `${domain.domain} (${domain.battles})`))}.` : "";
  const spread = Math.max(1, ...shown.flatMap((domain) => domain.models.map((own) => Math.abs((own.rating ?? 1000) - 1000))));
  const cell = (own) => {
    if (own.rating === null) return el("td", { class: "none" }, "–");
    const strength = Math.round((50 * Math.abs(own.rating - 1000)) / spread);
    return el("td", { class: own.rating >= 1000 ? "better" : "worse", vars: { strength: `${strength}%` }, title: `${ends(own.low, own.high) || "no interval"}; ${plural(own.battles, "battle")}` }, points(own.rating), el("small", {}, ends(own.low, own.high)));
  };
  return el(
    "section",
    { "aria-labelledby": "domains-title" },
    el("h2", { id: "domains-title" }, "By domain"),
    shown.length
      ? el(
          "div",
          { class: "scroll", tabindex: 0, role: "region", "aria-label": "Ratings by domain" },
          el(
            "table",
            { class: "matrix domains" },
            el("caption", { class: "unread" }, "Ratings by domain"),
            el("thead", {}, el("tr", {}, el("td"), shown.map((domain) => el("th", { scope: "col" }, el("a", { href: address("battles", null, { domain: domain.domain }) }, name(domain.domain, { class: "clip" })), el("small", {}, `${domain.battles} battles`))))),
            el("tbody", {}, models.map((model, place) => el("tr", {}, el("th", { scope: "row" }, name(short(model.name, 24), { title: model.name })), shown.map((domain) => cell(domain.models[place]))))),
          ),
        )
      : null,
    el("p", { class: "note" }, visible(words), shown.length ? " Each domain is rated by its own battles; 1000 is its mean." : ""),
  );
}
