// The list of battles: filters in the fragment, rows made as they are scrolled to.

const AT_ONCE = 60;

function battlesOf(lines) {
  return lines.rows.map((row, place) => ({ place, ...Object.fromEntries(lines.columns.map((column, at) => [column, row[at]])) }));
}

const OUTCOMES = { won: "won by the model", lost: "lost by the model", tie: "tie", void: "void", forfeited: "forfeited" };
const JUDGED = { split: "split at first", unanimous: "unanimous at first", changed: "changed their mind", narrow: "decided by one vote" };
const SORTS = { order: "in order", closest: "closest vote first", changed: "most changes of mind first" };

function keeps(own, filters, found) {
  const { model, opponent, domain, question, outcome, judges, arm, text } = filters;
  const pair = [own.a, own.b];
  if (model && !pair.includes(model)) return false;
  if (opponent && !pair.includes(opponent)) return false;
  if (model && opponent && model === opponent) return false;
  if (domain && own.domain !== domain) return false;
  if (question && own.question !== question) return false;
  if (arm && own.arm !== arm) return false;
  if (outcome && !ended(own, outcome, model)) return false;
  if (judges && !judged(own, judges)) return false;
  return !text || found(own);
}

function ended(own, outcome, model) {
  if (outcome === "void" || outcome === "forfeited") return own.status === outcome;
  if (outcome === "tie") return own.verdict === "tie";
  if (!own.verdict || own.verdict === "tie") return false;
  if (!model) return true;
  const winner = own.verdict === "A" ? own.a : own.b;
  return (outcome === "won") === (winner === model);
}

function lead(own) {
  const [first, second] = [...own.votes].sort((one, other) => other - one);
  return first - second;
}

function judged(own, kind) {
  if (kind === "split") return own.split;
  if (kind === "unanimous") return !own.split && own.judges > 1;
  if (kind === "changed") return own.changed > 0;
  return own.judges > 0 && own.status === "decided" && lead(own) === 1;
}

function sorted(battles, sort) {
  if (sort === "closest") return [...battles].sort((one, other) => (one.judges === 0) - (other.judges === 0) || lead(one) - lead(other) || one.place - other.place);
  if (sort === "changed") return [...battles].sort((one, other) => other.changed - one.changed || one.place - other.place);
  return battles;
}

// The battles that filters leave; a search looks at names and questions at once, and at transcripts as they are read.
function chosen(run, filters) {
  const text = (filters.text ?? "").toLowerCase();
  const found = (own) => run.heard.get(text)?.has(own.battle) || [own.battle, own.a, own.b, own.domain, run.asked.get(own.question)?.text ?? ""].some((words) => words.toLowerCase().includes(text));
  return sorted(run.battles.filter((own) => keeps(own, filters, found)), filters.sort);
}

async function hear(run, text, told) {
  const wanted = text.toLowerCase();
  if (wanted.length < 3 || run.heard.has(wanted)) return;
  const found = new Set();
  run.heard.set(wanted, found);
  let last = performance.now();
  for await (const [id, words] of run.source.words(text)) {
    if (words.toLowerCase().includes(wanted)) found.add(id);
    if (performance.now() - last > 150) {
      told();
      last = performance.now();
      await new Promise((done) => setTimeout(done));
    }
  }
  told();
}

function battlesView(run, filters) {
  const list = el("ol", { class: "battles", id: "battles" });
  const count = el("p", { class: "count", role: "status" });
  const end = el("p", { class: "end" });
  let shown = [];
  let drawn = 0;
  const more = () => {
    list.append(...shown.slice(drawn, drawn + AT_ONCE).map((own) => row(run, own, filters)));
    drawn = Math.min(shown.length, drawn + AT_ONCE);
    end.textContent = drawn < shown.length ? `${number(shown.length - drawn)} more below` : "";
  };
  const fill = () => {
    shown = chosen(run, filters);
    drawn = 0;
    list.replaceChildren();
    count.textContent = shown.length === run.battles.length ? plural(shown.length, "battle") : `${number(shown.length)} of ${plural(run.battles.length, "battle")}`;
    more();
  };
  new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting) && drawn < shown.length) more();
  }, { rootMargin: "800px" }).observe(end);
  const changed = () => {
    for (const key of FILTERS) if (!filters[key]) delete filters[key];
    go("battles", null, filters, { quietly: true });
    fill();
    if (filters.text) hear(run, filters.text, () => list.isConnected && fill());
  };
  fill();
  if (filters.text) hear(run, filters.text, () => list.isConnected && fill());
  return [heading2("Battles"), filterBar(run, filters, changed), count, list, end];
}

function filterBar(run, filters, changed) {
  const { overview } = run;
  const models = overview.models.map((model) => model.name);
  const several = (key) => [...new Set(run.battles.map((own) => own[key]))];
  const choice = (key, label, values, words = {}) => {
    const select = el("select", { id: `by-${key}`, on: { change: () => { filters[key] = select.value; changed(); } } }, el("option", { value: "" }, "any"), values.map((value) => el("option", { value, selected: filters[key] === value }, words[value] ?? short(value, 48))));
    return el("label", { for: `by-${key}` }, el("span", {}, label), select);
  };
  let waiting = 0;
  const box = el("input", { id: "search", type: "search", value: filters.text ?? "", placeholder: "Search questions and transcripts", autocomplete: "off", spellcheck: "false", on: { input: () => { clearTimeout(waiting); waiting = setTimeout(() => { filters.text = box.value.trim(); changed(); }, 120); } } });
  const sort = el("select", { id: "by-sort", on: { change: () => { filters.sort = sort.value; changed(); } } }, Object.entries(SORTS).map(([value, words]) => el("option", { value: value === "order" ? "" : value, selected: (filters.sort ?? "order") === value }, words)));
  return el(
    "form",
    { class: "filters", role: "search", "aria-label": "Filter battles", on: { submit: (event) => event.preventDefault(), reset: () => go("battles") } },
    el("label", { class: "find", for: "search" }, el("span", {}, "Search"), box),
    choice("model", "Model", models),
    choice("opponent", "Opponent", models),
    several("domain").length > 1 ? choice("domain", "Domain", several("domain")) : null,
    choice("question", "Question", overview.questions.map((own) => own.question)),
    choice("outcome", "Outcome", Object.keys(OUTCOMES), OUTCOMES),
    choice("judges", "Judges", Object.keys(JUDGED), JUDGED),
    several("arm").length > 1 ? choice("arm", "Arm", several("arm")) : null,
    el("label", { for: "by-sort" }, el("span", {}, "Order"), sort),
    el("button", { type: "reset" }, "Clear"),
  );
}

function row(run, own, filters) {
  const question = run.asked.get(own.question)?.text ?? "";
  const side = (side) => el("span", { class: `side ${side.toLowerCase()}${own.verdict === side ? " won" : ""}` }, name(own[side.toLowerCase()], { class: "clip" }));
  return el(
    "li",
    {},
    el(
      "a",
      { class: "battle", href: address("battle", own.battle, filters) },
      el("span", { class: "pair" }, side("A"), el("span", { class: "against" }, "–"), side("B")),
      el("span", { class: "asked", dir: "auto" }, visible(question.slice(0, 220))),
      el("span", { class: "about" }, name(own.domain), ` · round ${own.round}`, own.arm === run.battles[0].arm ? "" : ` · ${own.arm}`),
      el("span", { class: "outcome" }, verdictTag(own), pips(own.votes), marks(own)),
    ),
  );
}

function verdictTag(own) {
  const kind = own.status === "void" ? "void" : own.verdict === "tie" ? "tie" : own.verdict.toLowerCase();
  const words = own.status === "void" ? "void" : own.verdict === "tie" ? "tie" : `${own.verdict} won${own.status === "forfeited" ? " by forfeit" : ""}`;
  return el("span", { class: `verdict ${kind}` }, words);
}

function pips(votes) {
  const kinds = ["a", "b", "tie"];
  const order = [0, 2, 1];
  const all = votes[0] + votes[1] + votes[2];
  if (!all) return null;
  const told = `${votes[0]} for A, ${votes[2]} for a tie, ${votes[1]} for B`;
  return el("span", { class: "pips", title: told, role: "img", "aria-label": told }, order.flatMap((kind) => Array.from({ length: votes[kind] }, () => el("i", { class: kinds[kind] }))));
}

function marks(own) {
  return [own.changed ? el("span", { class: "mark", title: "judges whose last verdict is not their first" }, `${own.changed} changed`) : null, own.split && !own.changed ? el("span", { class: "mark", title: "judges disagreed before they discussed" }, "split") : null];
}
