// Questions, judges, shared dice, and how to play the run again.

function meter(value, label) {
  if (value === null) return "–";
  return el("span", { class: "meter", vars: { share: `${Math.round(100 * Math.max(0, Math.min(1, value)))}%` } }, label);
}

function questionsView({ overview }) {
  const { questions, result } = overview;
  const kinds = { hardest: "Hardest", easiest: "Easiest", contested: "Most contested" };
  const out = Object.entries(kinds).flatMap(([key, title]) => ((result.questions[key] ?? []).length ? [[title, result.questions[key]]] : []));
  const columns = [
    {
      title: "Question",
      head: true,
      class: "question",
      first: "up",
      cell: (own) => [el("a", { href: address("battles", null, { question: own.question }) }, name(own.question)), el("details", { class: "text" }, el("summary", {}, el("span", { dir: "auto" }, visible(own.text.slice(0, 300)))), said(own.text), own.reference ? [el("p", { class: "kind" }, "Reference answer"), said(own.reference)] : null)],
      key: (own) => own.question,
    },
    { title: "Domain", first: "up", cell: (own) => name(own.domain, { class: "clip" }), key: (own) => own.domain },
    { title: "By", class: "few", first: "up", cell: (own) => name(own.author, { class: "clip" }), key: (own) => own.author },
    { title: "Battles", class: "right", cell: (own) => own.battles, key: (own) => own.battles },
    { title: "Hardness", class: "right", cell: (own) => decimal(own.hardness), key: (own) => own.hardness, hint: "points missing in a battle on average: half a point for each debater without an answer, else how far the better-rated one fell short; drawn towards the mean" },
    { title: "Contested", class: "right", cell: (own) => meter(own.contested, percent(own.contested)), key: (own) => own.contested, hint: "chance that two judges disagreed before they discussed; drawn towards the mean" },
    { title: "Changed", class: "right few", cell: (own) => meter(own.changed, percent(own.changed)), key: (own) => own.changed, hint: "share of judges whose last verdict is not their first" },
  ];
  return [
    heading2("Questions", "A battle says who was better, not who was right; values are drawn towards the mean by as much as chance may have made of them."),
    out.length
      ? el("dl", { class: "pairs" }, out.map(([title, found]) => [el("dt", {}, title), el("dd", {}, joined(found.map((own) => [el("a", { href: address("battles", null, { question: own.question }) }, name(own.question)), ` ${decimal(own.value)}`]), ", "))]))
      : el("p", { class: "note" }, "No question stands out beyond chance."),
    sortable(columns, questions, { caption: "Questions", start: { place: 4, down: true } }),
    (result.examiners ?? []).filter((own) => own.relatives.length).map((own) => el("p", { class: "note" }, visible(own.line))),
  ];
}

function heading2(title, note) {
  return el("header", { class: "title" }, el("h1", {}, title), note ? el("p", { class: "facts" }, note) : null);
}

function judgesView({ overview }) {
  const { committee } = overview;
  if (!committee.judges.length) return [heading2("Judges"), el("p", { class: "note" }, "Nobody judged in this run yet.")];
  const any = (key) => committee.judges.some((own) => own[key] !== null);
  const columns = [
    { title: "Judge", head: true, class: "model", first: "up", cell: (own) => name(own.judge), key: (own) => own.judge },
    { title: "Opinions", class: "right", cell: (own) => number(own.opinions), key: (own) => own.opinions },
    { title: "Verdicts", class: "wide", cell: votesBar, hint: "for the side that spoke first, ties, for the other side" },
    { title: "For A", class: "right", cell: (own) => percent(own.share_a), key: (own) => own.share_a, hint: "share of verdicts for the side that spoke first, ties left out; one half without a position bias" },
    any("changed") ? { title: "Changed", class: "right", cell: (own) => percent(own.changed), key: (own) => own.changed, hint: "last verdict is not the first" } : null,
    any("flips") ? { title: "Flips", class: "right", cell: (own) => percent(own.flips), key: (own) => own.flips, hint: "judged otherwise when the sides were exchanged" } : null,
    { title: "As decided", class: "right", cell: (own) => percent(own.with_majority), key: (own) => own.with_majority, hint: "last verdict is the committee's" },
    { title: "Without verdict", class: "few", cell: (own) => Object.entries(own.without).map(([kind, count]) => `${count} ${kind}`).join(", ") || "–" },
  ].filter(Boolean);
  const stages = [...new Set(committee.agreement.map((own) => own.stage))];
  return [
    heading2("Judges", `Of the battles of the rated arm; ${committee.recuse}.`),
    sortable(columns, committee.judges, { caption: "Judges", start: { place: 0, down: false } }),
    el("section", { "aria-labelledby": "agreement" }, el("h2", { id: "agreement" }, "Agreement beyond chance"), stages.length ? el("div", { class: "cards" }, stages.map((stage) => agreement(committee, stage, stages.length))) : el("p", { class: "note" }, "There is one judge, so there is no agreement to speak of.")),
    effects(overview),
    freed(overview),
  ];
}

function effects({ study, committee }) {
  if (!study) return null;
  const columns = [
    { title: "Judge", head: true, class: "model", first: "up", cell: (own) => name(own.judge), key: (own) => own.judge },
    ...study.measures.map((measure) => {
      const of = (own) => measure.judges.find((found) => found.name === own.judge);
      return {
        title: measure.title,
        hint: measure.meaning,
        class: "right narrow",
        cell: (own) => estimate(of(own)),
        key: (own) => of(own)?.value ?? null,
      };
    }),
  ];
  const against = [...new Set(study.minority.map(([battle]) => battle))];
  return [
    study.measures.length
      ? el("section", { "aria-labelledby": "effects" }, el("h2", { id: "effects" }, "What sways them"), sortable(columns, committee.judges, { caption: "Effects by judge" }), el("dl", { class: "pairs small" }, study.measures.map((measure) => [el("dt", {}, measure.title), el("dd", {}, measure.meaning)])))
      : null,
    el(
      "section",
      { "aria-labelledby": "committee" },
      el("h2", { id: "committee" }, "The committee"),
      el("dl", { class: "told" }, study.panel.map((found) => [el("dt", {}, found.name), el("dd", {}, estimate(found))])),
      against.length ? el("p", {}, `Votes stood against the decision in ${plural(against.length, "battle")}: `, joined(against.slice(0, 8).map((battle) => el("a", { href: address("battle", battle) }, name(battle)))), against.length > 8 ? " and others." : ".") : null,
      study.notes.length ? el("ul", { class: "plain note" }, study.notes.map((line) => el("li", {}, visible(line)))) : null,
    ),
  ];
}

function freed({ study }) {
  if (!study) return null;
  const columns = [
    { title: "Model", head: true, class: "model", first: "up", cell: (own) => name(own.model), key: (own) => own.model },
    { title: "As judged", class: "right", cell: (own) => points(own.raw), key: (own) => own.raw, hint: "rating by the opinions before any discussion" },
    { title: "Corrected", class: "right", cell: (own) => [el("span", { class: "rating" }, points(own.corrected)), el("small", {}, ends(own.low, own.high))], key: (own) => own.corrected, hint: "rating by the same opinions, freed of the biases that could be estimated" },
    { title: "Change", class: "right", cell: (own) => points(own.corrected - own.raw), key: (own) => own.corrected - own.raw },
  ];
  return el(
    "section",
    { "aria-labelledby": "freed" },
    el("h2", { id: "freed" }, "Ratings without their biases"),
    study.corrected.length ? sortable(columns, study.corrected, { caption: "Corrected ratings", start: { place: 2, down: true } }) : null,
    el("ul", { class: "plain note" }, study.corrected_notes.map((line) => el("li", {}, visible(line)))),
  );
}

function estimate(found) {
  if (!found || found.value === null) return el("span", { title: found?.reason }, "–");
  return [decimal(found.value), el("small", { title: found.reason || null }, ends(found.low, found.high, decimal) || "no interval")];
}

function votesBar(own) {
  const all = Math.max(1, own.a + own.b + own.ties);
  const part = (count, kind, told) => (count ? el("span", { class: kind, vars: { share: `${(100 * count) / all}%` }, title: told }, count) : null);
  return el("span", { class: "split" }, part(own.a, "a", `${own.a} for A`), part(own.ties, "tie", plural(own.ties, "tie")), part(own.b, "b", `${own.b} for B`));
}

function agreement({ judges, agreement: all }, stage, stages) {
  const own = all.filter((found) => found.stage === stage);
  const whole = own.find((found) => found.a === "");
  const names = judges.map((judge) => judge.judge);
  const cell = (row, column) => {
    if (row === column) return el("td", { class: "self" });
    const found = own.find((pair) => [pair.a, pair.b].includes(row) && [pair.a, pair.b].includes(column));
    if (!found || found.value === null) return el("td", { class: "none", title: found?.reason }, "–");
    return el("td", { class: "better", vars: { strength: `${Math.round(50 * Math.max(0, found.value))}%` }, title: `${ends(found.low, found.high, decimal) || found.reason}; ${plural(found.items, "battle")}` }, decimal(found.value));
  };
  const title = stages === 1 ? "Alone" : stage === 0 ? "Before discussion" : `After ${plural(stage, "round")} of discussion`;
  const told = whole.value === null ? whole.reason : `Krippendorff's alpha of the committee ${decimal(whole.value)}${whole.low === null ? "" : ` (${ends(whole.low, whole.high, decimal)})`}; Cohen's kappa of every two:`;
  return figure(
    title,
    told,
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, el("table", { class: "matrix" }, el("caption", { class: "unread" }, `Cohen's kappa, ${title.toLowerCase()}`), el("thead", {}, el("tr", {}, el("td"), names.map((judge) => el("th", { scope: "col" }, name(judge, { class: "clip" }))))), el("tbody", {}, names.map((row) => el("tr", {}, el("th", { scope: "row" }, name(row, { class: "clip" })), names.map((column) => cell(row, column))))))),
  );
}

function diceView({ overview }) {
  const { dice, result } = overview;
  const shared = Object.entries(dice.sharing).reverse();
  const most = Math.max(1, ...shared.map(([, count]) => count));
  const meaning = { coupled: "Every model draws its opening with the same dice on the same question.", independent: "Every model rolls dice of its own.", fresh: "Every model rolls anew for every opponent and side." };
  return [
    heading2("Dice", meaning[dice.coupling]),
    el("dl", { class: "bars" }, shared.map(([kind, count]) => [el("dt", {}, SHARED[kind]), el("dd", {}, el("span", { class: "meter", vars: { share: `${(100 * count) / most}%` } }, plural(count, "battle")))])),
    dice.openings
      ? el("dl", { class: "figures" }, fact(number(dice.openings), "battles whose two openings shared their dice"), fact(number(dice.identical), "of them with one and the same text on both sides"), fact(percent(dice.prefix), "of the shorter opening, on average, before the two part"))
      : el("p", { class: "note" }, "No two openings shared their dice, so nothing was coupled here."),
    el(
      "section",
      { "aria-labelledby": "saved" },
      el("h2", { id: "saved" }, "What sharing saved"),
      dice.lines.length ? el("ul", { class: "plain" }, dice.lines.map((line) => el("li", {}, visible(line)))) : el("p", { class: "note" }, "That cannot be told from one arm: outcomes of judged battles are not recombined unplayed. A run with coupling = \"both\" plays an independent arm beside and tells."),
    ),
    result.arms ? arms(result.arms) : null,
  ];
}

function fact(value, told) {
  return el("div", {}, el("dt", {}, told), el("dd", {}, value));
}

function arms({ sentence, pairs }) {
  if (!pairs.length) return el("p", {}, visible(sentence));
  const keys = Object.keys(pairs[0]).filter((key) => !["a", "b", "low", "high", "resolved"].includes(key));
  const columns = [
    { title: "Models", head: true, class: "model", cell: (own) => [name(own.a), " – ", name(own.b)] },
    ...keys.map((key) => ({ title: key, class: "right", cell: (own) => points(own[key]), key: (own) => own[key] })),
    { title: "95 % of the change", class: "right", cell: (own) => ends(own.low, own.high) || "–" },
    { title: "Differs", cell: (own) => (own.resolved ? "yes" : "not shown"), key: (own) => Number(own.resolved) },
  ];
  return el("section", { "aria-labelledby": "arms" }, el("h2", { id: "arms" }, "With shared dice and without"), el("p", {}, visible(sentence)), sortable(columns, pairs, { caption: "Differences of ratings in both arms" }));
}

function methodView({ overview }) {
  const { manifest } = overview;
  const { toml, definition, versions, prompts, steps, ...rest } = manifest;
  const facts = [
    ["Run", manifest.run],
    ["Played", manifest.created],
    ["Seed", manifest.seed],
    ["Prompts", `${prompts?.name}, digest ${prompts?.digest}`],
    ["Paid", money(overview)],
    ...Object.entries(versions ?? {}).map(([key, value]) => [key, value]),
  ];
  return [
    heading2("Method", "Everything that determines this run. The same definition, prompts and seed give the same questions, dice and pairings."),
    el("dl", { class: "pairs" }, facts.map(([key, value]) => [el("dt", {}, key), el("dd", {}, name(value ?? "–"))])),
    el("section", { "aria-labelledby": "again" }, el("h2", { id: "again" }, "Play it again"), (steps ?? []).map((line) => el("p", {}, visible(line))), toml ? code(toml, "run.toml") : null),
    el("section", { "aria-labelledby": "definition" }, el("h2", { id: "definition" }, "The whole definition"), folded("Definition as JSON", code(JSON.stringify(definition, null, 2))), prompts?.templates ? folded("Prompts", Object.entries(prompts.templates).map(([key, text]) => [el("p", { class: "kind" }, name(key)), said(text, { class: "code" })])) : null),
  ];
}

function folded(title, ...content) {
  return el("details", { class: "fold" }, el("summary", {}, title), content);
}

function code(text, label = null) {
  const copy = el("button", { type: "button", class: "more", on: { click: () => navigator.clipboard?.writeText(text).then(() => announce("Copied.")) } }, "Copy");
  return el("div", { class: "listing" }, el("p", { class: "kind" }, label, copy), el("pre", { tabindex: 0 }, visible(text)));
}
