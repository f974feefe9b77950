// One battle at a time: fetched, drawn, voted on. A key or a button is a vote, and the answer to it is the next battle.

const KEYS = { 1: "left", ArrowLeft: "left", 2: "right", ArrowRight: "right", 3: "tie", t: "tie", s: "pass", u: "back" };
const CHOICES = ["left", "right", "tie", "pass"];
const TITLES = { left: "Left", right: "Right" };

let shown = null;
let sitting = null;
let busy = true;

async function ask(path, body) {
  const options = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(path, options);
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(told.problem ?? told.error?.message ?? `the server answered ${answer.status}`);
  return told;
}

async function turnTo(path, body) {
  busy = true;
  byId("fault").hidden = true;
  try {
    draw(await ask(path, body));
  } catch (fault) {
    byId("fault").textContent = `${fault.message || fault}: this was not confirmed, try again.`;
    byId("fault").hidden = false;
  }
  busy = false;
}

function draw({ slip, progress, sitting: own }) {
  sitting = own;
  const { voted, passed, texts } = progress;
  byId("far").textContent = `${number(voted)} of ${number(texts)} voted on${passed ? `, ${number(passed)} passed` : ""}`;
  shown = slip?.shown ?? null;
  byId("votes").hidden = !slip && !voted && !passed;
  for (const button of byId("votes").querySelectorAll("[data-choice]")) {
    button.disabled = !slip;
    button.setAttribute("aria-pressed", String(slip?.choice === button.dataset.choice));
  }
  const main = byId("main");
  clear(main, slip ? battle(slip) : ended(texts));
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
  announce(slip ? `Next battle, ${slip.domain}. ${byId("far").textContent}` : "No battle is left.");
  dispatchEvent(new Event("drawn"));
}

function ended(texts) {
  const words = texts
    ? "You have voted on every battle there is. This page goes on by itself when more are played."
    : "No battle has been judged yet. This page goes on by itself when one is.";
  setTimeout(() => !shown && !busy && turnTo("/next"), 3000);
  return [el("h1", {}, texts ? "Done" : "Nothing to vote on yet"), el("p", {}, words)];
}

function battle(slip) {
  return [
    el("p", { class: "kind" }, name(slip.domain)),
    el("h1", { class: "question", lang: slip.language }, said(slip.question)),
    slip.reference === null
      ? null
      : el("details", {}, el("summary", {}, "Reference answer, as the judges had it"), said(slip.reference)),
    slip.rounds.map(({ number: count, turns }) =>
      el("section", { class: "round" }, slip.rounds.length > 1 && el("h2", {}, `Round ${number(count)}`),
        el("div", { class: "turns" }, rows(turns).map(([turn, row]) => spoken(turn, row, slip.language)))),
    ),
  ];
}

// Two turns stand beside each other where the other column has not spoken since.
function rows(turns) {
  let row = 0;
  let filled = new Set();
  return turns.map((turn) => {
    const wide = !(turn.column in TITLES);
    if (!row || wide || filled.has("wide") || filled.has(turn.column) || (turn.column === "left" && filled.has("right"))) {
      row += 1;
      filled = new Set();
    }
    filled.add(wide ? "wide" : turn.column);
    return [turn, row];
  });
}

function spoken({ column, sections }, row, language) {
  const side = { left: "a", right: "b" }[column] ?? "other";
  const several = sections.length > 1;
  return el("article", { class: `turn ${side}`, vars: { row }, lang: language },
    el("header", {}, el("h3", {}, TITLES[column] ?? name(column))),
    sections.map(([tag, text]) => [several && el("p", { class: "action" }, name(tag)), said(text)]));
}

function act(choice) {
  if (busy) return;
  if (choice === "back") turnTo("/last");
  else if (shown && CHOICES.includes(choice)) turnTo("/vote", { shown, choice, sitting });
}

addEventListener("keydown", (event) => {
  const choice = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!choice || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act(choice);
});
byId("votes").addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (button) act(button.dataset.choice ?? "back");
});
turnTo("/next");
