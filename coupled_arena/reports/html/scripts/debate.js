// One battle to read: the question, the turns in two columns, the judges beside them.

async function battleView(run, id, filters) {
  const own = run.lines.get(id);
  if (!own) return [heading2("No such battle"), el("p", { class: "note" }, "This run has no battle ", name(id), ".")];
  const battle = await run.source.battle(id);
  const around = chosen(run, filters);
  const place = around.findIndex((other) => other.battle === id);
  const question = run.asked.get(own.question);
  return [
    el("nav", { class: "trail", "aria-label": "Battles" }, el("a", { href: address("battles", null, filters), id: "back" }, "All battles"), step(around[place - 1], filters, "previous", "k"), el("span", { class: "quiet" }, place < 0 ? "" : `${number(place + 1)} of ${number(around.length)}`), step(around[place + 1], filters, "next", "j")),
    versus(own),
    el("p", { class: "facts" }, name(own.domain), " · ", name(own.question), ` · round ${own.round}`, own.replicate ? ` · replicate ${own.replicate}` : "", own.arm === "coupled" ? "" : ` · ${own.arm} arm`, ` · ${SHARED[own.sharing]}`),
    el("div", { class: "asking" }, el("p", { class: "kind" }, "Question"), said(question?.text ?? own.question), question?.reference ? folded("Reference answer", said(question.reference)) : null),
    battle.decision.reason ? el("p", { class: "unfinished" }, name(battle.decision.reason)) : null,
    el("div", { class: "reader" }, debate(battle, own), opinions(battle)),
  ];
}

function step(own, filters, words, key) {
  const attributes = { id: words, title: `${words} battle (${key})` };
  return own ? el("a", { ...attributes, href: address("battle", own.battle, filters) }, words) : el("span", { class: "quiet" }, words);
}

function versus(own) {
  const side = (side) => el("span", { class: `side ${side.toLowerCase()}${own.verdict === side ? " won" : ""}` }, el("span", { class: "seat" }, side), name(own[side.toLowerCase()]));
  return el("h1", { class: "versus" }, side("A"), el("span", { class: "against" }, "against"), side("B"), verdictTag(own));
}

function debate(battle, own) {
  const turns = battle.turns ?? [];
  const parts = own.sharing === "shared" ? parting(turns) : null;
  const rounds = [...new Set(turns.map((turn) => turn.round))].sort((one, other) => one - other);
  return el(
    "section",
    { class: "debate", "aria-label": "Debate" },
    parts ? el("p", { class: "parting" }, parts.whole ? "The two openings shared their dice and are one and the same text." : !parts.words ? "The two openings shared their dice and differ from the first word on." : `The two openings shared their dice and part after ${plural(parts.words, "word")}; what they have in common is underlined.`) : null,
    rounds.map((round) => el("section", { class: "round", "aria-label": `Round ${round}` }, el("h2", {}, `Round ${round}`), el("div", { class: "turns" }, turns.filter((turn) => turn.round === round).map((turn) => turnOf(turn, parts))))),
    turns.length ? null : el("p", { class: "note" }, "Nothing was said."),
  );
}

// How far the openings of both sides are the same, and where they part.
function parting(turns) {
  const first = ["A", "B"].map((side) => turns.find((turn) => turn.speaker === side));
  const texts = first.map((turn) => (turn?.sections ?? []).map((section) => section.text).join("\n"));
  if (!texts[0] || !texts[1]) return null;
  let same = 0;
  while (same < texts[0].length && texts[0][same] === texts[1][same]) same += 1;
  const whole = texts[0] === texts[1];
  // A word that goes on differently is not shared.
  const torn = texts.some((text) => /\S/.test(text[same] ?? " "));
  if (torn) while (same > 0 && !/\s/.test(texts[0][same - 1])) same -= 1;
  const words = texts[0].slice(0, same).split(/\s+/).filter(Boolean).length;
  return { first, same, whole, words };
}

function turnOf(turn, parts) {
  const known = turn.speaker === "A" || turn.speaker === "B";
  const marked = parts && parts.first.includes(turn);
  let left = marked ? parts.same : 0;
  const sections = (turn.sections ?? []).map((section) => {
    const shared = section.text.slice(0, Math.max(0, left));
    const parted = marked && parts.words && !parts.whole && left >= 0 && left <= section.text.length;
    left -= section.text.length + 1;
    return sectionOf(section, shared, parted);
  });
  const notes = [
    turn.outcome && turn.outcome !== "ok" ? turn.outcome : null,
    turn.cut ? "cut at its budget" : null,
    turn.missing?.length ? `without ${turn.missing.join(", ")}` : null,
    turn.requests ? `asked again ${turn.requests === 1 ? "once" : `${turn.requests} times`}` : null,
    turn.by_section ? "asked section by section" : null,
  ].filter(Boolean);
  return el(
    "article",
    { class: `turn ${known ? turn.speaker.toLowerCase() : "other"}` },
    el("header", {}, el("span", { class: "seat" }, known ? turn.speaker : name(turn.speaker)), name(turn.model, { class: "clip" }), el("span", { class: "quiet" }, `step ${turn.step}`)),
    sections,
    notes.length ? el("p", { class: "notes" }, notes.join(" · ")) : null,
    turn.detail ? el("p", { class: "notes" }, name(turn.detail)) : null,
  );
}

function sectionOf(section, shared, parted) {
  const body = said(section.text.slice(shared.length));
  const mark = parted ? el("span", { class: "parts", title: "here the two openings part" }, "part here") : "";
  if (shared || parted) body.prepend(el("span", { class: "shared" }, visible(shared.slice(0, MOST_SHOWN))), mark);
  return el("details", { class: "section", open: section.tag !== "think" }, el("summary", {}, name(section.tag), el("span", { class: "quiet" }, plural(section.text.split(/\s+/).filter(Boolean).length, "word"))), body);
}

function opinions(battle) {
  const all = battle.opinions ?? [];
  const { decision } = battle;
  const votes = decision.votes ?? {};
  const seats = [...new Map(all.map((own) => [`${own.judge} ${own.order ?? "AB"}`, own])).values()];
  const turned = all.some((own) => own.order === "BA");
  return el(
    "aside",
    { class: "judges", "aria-label": "Judges" },
    el("h2", {}, "Judges"),
    all.length ? null : el("p", { class: "note" }, "Nobody was asked."),
    seats.map((seat) => {
      const own = all.filter((other) => other.judge === seat.judge && (other.order ?? "AB") === (seat.order ?? "AB"));
      const changed = own.length > 1 && own[0].verdict && own.at(-1).verdict && own[0].verdict !== own.at(-1).verdict;
      return el(
        "section",
        { class: "judge" },
        el("h3", {}, name(seat.judge, { class: "clip" }), turned ? el("span", { class: "quiet" }, seat.order === "BA" ? "B shown first" : "A shown first") : null, changed ? el("span", { class: "mark" }, "changed its mind") : null),
        own.map((found) => opinion(found, own.length)),
      );
    }),
    (decision.stages ?? []).length > 1 ? el("p", { class: "note" }, "The vote: ", joined(decision.stages.map((verdict, stage) => `${verdict ? (verdict === "tie" ? "tie" : verdict) : "void"} ${stage ? "after discussion" : "alone"}`), ", then "), ".") : null,
    all.length ? el("p", { class: "note" }, `In the end ${votes.A ?? 0} for A, ${votes.B ?? 0} for B, ${votes.tie ?? 0} for a tie.`) : null,
  );
}

function opinion(found, stages) {
  const verdict = found.verdict;
  const kind = verdict ? verdict.toLowerCase() : "void";
  const when = stages === 1 ? "" : found.stage ? (found.stage === 1 ? "after discussion" : `after discussion ${found.stage}`) : "alone";
  const odds = Object.entries(found.probabilities ?? {});
  return el(
    "details",
    { class: "opinion" },
    el("summary", {}, el("span", { class: `verdict ${kind}` }, verdict ?? found.status), el("span", { class: "quiet" }, when, found.carried ? ", carried over" : "", found.status !== "valid" && verdict ? `, ${found.status}` : "")),
    odds.length ? el("p", { class: "notes" }, odds.map(([label, share]) => `${label} ${percent(share)}`).join(" · ")) : null,
    found.reasons ? said(found.reasons) : el("p", { class: "notes" }, "No reasons given."),
    found.detail ? el("p", { class: "notes" }, name(found.detail)) : null,
  );
}
