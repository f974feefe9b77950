// The results: what the run answers, the leaderboard, and what must be known of it.

function results(run) {
  const { overview } = run;
  return [
    heading(run),
    answer(overview),
    el("section", { "aria-labelledby": "board-title" }, el("h2", { id: "board-title" }, "Leaderboard"), leaderboard(overview), footing(overview)),
    settled(overview),
    known(overview),
    el(
      "section",
      { "aria-labelledby": "field-title" },
      el("h2", { id: "field-title" }, "The field"),
      el("div", { class: "cards" }, historyOf(overview), matrix(overview), graph(overview), costs(overview)),
    ),
    domainsOf(overview),
  ];
}

function heading({ overview, lines }) {
  const { manifest, result } = overview;
  const battles = lines.rows.length;
  const facts = [
    plural(overview.models.length, "model"),
    plural(overview.questions.length, "question"),
    plural(battles, "battle"),
    plural(overview.committee.judges.length, "judge"),
  ];
  return el(
    "header",
    { class: "title" },
    el("h1", {}, name(overview.title)),
    el("p", { class: "facts" }, facts.join(" · "), " · ", el("time", { datetime: manifest.created }, day(manifest.created)), " · ", money(overview)),
    overview.finished ? null : el("p", { class: "unfinished" }, "This run is not finished; everything here is what it has come to so far."),
  );
}

function day(iso) {
  return new Date(iso).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
}

function money({ result, unpriced }) {
  const usd = result.cost.run_usd;
  if (unpriced.length) return `at least ${dollars(usd)} (${plural(unpriced.length, "model")} unpriced)`;
  return usd ? `${dollars(usd)} spent` : "free of charge";
}

function answer({ top, models, result }) {
  const resolved = result.settled.filter((pair) => pair.resolved).length;
  const pairs = result.settled.length;
  const best = top.map((model) => el("strong", {}, name(model)));
  let first;
  if (result.resolution) first = [visible(result.resolution.lines[0]), "."];
  else if (!result.leaderboard.some((row) => row.rating !== null)) first = ["No battle could be rated."];
  else if (top.length === 1) first = [best, " is the best model of this run."];
  else if (top.length === models.length) first = ["Too close to call: any of the ", number(top.length), " models may be the best."];
  else first = ["The best model is one of ", number(top.length), ": ", joined(best), "."];
  const second = pairs
    ? `${number(resolved)} of ${plural(pairs, "step")} down the leaderboard ${resolved === 1 ? "is" : "are"} settled at 95 %.`
    : "";
  return el("p", { class: "answer" }, first, " ", el("span", { class: "quiet" }, second));
}

function ranks(row) {
  if (row.rank_low === null || row.rank_high === null) return "–";
  return row.rank_low === row.rank_high ? `${row.rank_low}` : `${row.rank_low}–${row.rank_high}`;
}

function leaderboard({ result, top }) {
  const rows = result.leaderboard;
  const range = padded(extent(rows.flatMap((row) => [row.rating, row.low, row.high])));
  const any = (key, usual) => rows.some((row) => row[key] !== usual);
  const columns = [
    { title: "#", class: "right rank", cell: (row) => row.rank ?? "–", key: (row) => row.rank, first: "up", hint: "rank by rating" },
    {
      title: "Model",
      class: "model",
      head: true,
      first: "up",
      cell: (row) => [
        el("a", { href: address("battles", null, { model: row.model }) }, name(row.model)),
        top.includes(row.model) && top.length < rows.length ? el("span", { class: "tag", title: "may be the best, at 95 %" }, top.length > 1 ? "top set" : "best") : null,
        el("span", { class: "record", title: "won, lost, tied" }, `${row.wins} – ${row.losses} – ${row.ties}`),
      ],
      key: (row) => row.model,
    },
    {
      title: "Rating",
      class: "right",
      cell: (row) => el("span", { class: "rating" }, points(row.rating)),
      key: (row) => row.rating,
      hint: "mean 1000; 400 points are odds of ten to one",
    },
    {
      title: "95 % interval",
      under: axis(range),
      class: "wide",
      cell: (row) => interval(row, range, row.rating === null ? "no rating" : `rating ${points(row.rating)}, ${ends(row.low, row.high) || "no interval"}`),
      key: (row) => row.low,
    },
    { title: "Ranks", class: "right few", cell: ranks, key: (row) => row.rank_low, first: "up", hint: "ranks that the battles leave possible, for all models at once, at 95 %" },
    { title: "Won", class: "right few", cell: (row) => row.wins, key: (row) => row.wins },
    { title: "Lost", class: "right few", cell: (row) => row.losses, key: (row) => row.losses },
    { title: "Tied", class: "right few", cell: (row) => row.ties, key: (row) => row.ties },
    any("void", 0) ? { title: "Void", class: "right few", cell: (row) => row.void, key: (row) => row.void, hint: "battles without a decision; they enter no rating" } : null,
    any("forfeited", 0) ? { title: "Forfeited", class: "right few", cell: (row) => row.forfeited, key: (row) => row.forfeited, hint: "battles given away" } : null,
    { title: "Answered", class: "right few", cell: (row) => percent(row.availability, row.availability === 1 ? 0 : 1), key: (row) => row.availability, hint: "share of turns that were answered" },
  ].filter(Boolean);
  return sortable(columns, rows, { caption: "Leaderboard", start: { place: 0, down: false }, rowClass: (row) => (top.includes(row.model) && top.length < rows.length ? "top" : "") });
}

function footing({ ties, result, components }) {
  const model = ties === "half" ? "Bradley–Terry, a tie being half a win" : "Davidson's model of wins and ties";
  const prior = result.prior === "weak" ? "a weak prior (one virtual tie of every model with a model at the mean)" : result.prior ? `a prior of ${result.prior} virtual ties` : "no prior";
  const { decided, void: none, forfeited } = result.battles;
  return el(
    "p",
    { class: "note" },
    `${model}, with ${prior}. Intervals are at 95 % and by question. `,
    `${plural(decided, "battle")} decided, ${number(none)} void, ${number(forfeited)} forfeited. `,
    components.length > 1 ? `Battles connect the models in ${number(components.length)} separate groups. ` : "",
    result.multiplicity ? `Neighbours: ${result.multiplicity}.` : "",
  );
}

function settled({ result }) {
  const pairs = result.settled;
  if (!pairs.length) return null;
  return el(
    "section",
    { "aria-labelledby": "settled-title" },
    el("h2", { id: "settled-title" }, "Is it settled?"),
    el(
      "ol",
      { class: "settled" },
      pairs.map((pair) =>
        el("li", { class: pair.resolved ? "yes" : "no" }, el("span", { class: "state" }, pair.resolved ? "settled" : "open"), el("span", { class: "says" }, visible(pair.line))),
      ),
    ),
    result.resolution ? el("ul", { class: "plain" }, result.resolution.lines.map((line) => el("li", {}, visible(line)))) : null,
    result.arms ? el("p", { class: "note" }, visible(result.arms.sentence)) : null,
  );
}

function known({ caveats }) {
  if (!caveats.length) return null;
  return el(
    "section",
    { class: "caveats", "aria-labelledby": "caveats-title" },
    el("h2", { id: "caveats-title" }, "What you must know"),
    el("ul", {}, caveats.map((line) => el("li", { dir: "auto" }, visible(line)))),
  );
}
