// Opens the run and shows what the fragment asks for.

const DRAW = { "": results, battles: battlesView, questions: questionsView, judges: judgesView, dice: diceView, method: methodView };

async function opened(source) {
  const [overview, lines] = await Promise.all([source.overview(), source.lines()]);
  const battles = battlesOf(lines);
  return {
    source,
    overview,
    lines: Object.assign(new Map(battles.map((own) => [own.battle, own])), { rows: lines.rows }),
    battles,
    asked: new Map(overview.questions.map((own) => [own.question, own])),
    heard: new Map(),
  };
}

let turn = 0;

async function show(run) {
  const asked = route();
  const mine = (turn += 1);
  const drawn = asked.view === "battle" ? await battleView(run, asked.id, asked.filters) : (DRAW[asked.view] ?? results)(run, asked.filters);
  // While a battle was being opened, another may have been asked for.
  if (mine !== turn) return;
  const view = asked.view === "battle" ? "battles" : asked.view;
  document.querySelectorAll("#views a").forEach((link) => (link.dataset.view === view ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current")));
  clear(byId("main"), drawn);
  byId("main").dataset.view = asked.view;
  const title = asked.view === "battle" ? run.lines.get(asked.id) : null;
  document.title = [title ? `${title.a} – ${title.b}` : (VIEWS.find(([own]) => own === view) ?? VIEWS[0])[1], run.overview.title].map((words) => short(words, 80)).join(" · ");
  dispatchEvent(new Event("drawn"));
}

function furnish() {
  clear(byId("brand"), el("a", { href: "#/" }, svg("svg", { viewBox: "0 0 20 14", width: 20, height: 14, "aria-hidden": "true" }, svg("circle", { class: "a", cx: 7, cy: 7, r: 6 }), svg("circle", { class: "b", cx: 13, cy: 7, r: 6 })), " Coupled Arena"));
  clear(byId("views"), VIEWS.map(([view, title]) => el("a", { href: address(view), "data-view": view }, title)));
  clear(byId("tools"), el("button", { type: "button", class: "tool", "aria-label": "Light or dark", title: "light or dark (d)", on: { click: toggleTheme } }, "◐"), el("button", { type: "button", class: "tool", "aria-label": "Keys", title: "keys (?)", on: { click: () => helpDialog().showModal() } }, "?"));
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
}

async function start() {
  furnish();
  const source = sourceOf(JSON.parse(byId("source").textContent));
  let run = await opened(source);
  listenToKeys(() => run);
  await show(run);
  addEventListener("hashchange", async () => {
    await show(run);
    scrollTo(0, 0);
  });
  source.listen(async () => {
    run = await opened(source);
    // What somebody is reading or filling in stays as it is; everything else is drawn anew.
    if (route().view !== "battle" && !document.activeElement?.closest("input, select")) await show(run);
  });
}

start().catch((fault) => {
  clear(byId("main"), el("p", { class: "wait" }, "This page could not be opened: ", visible(String(fault?.message ?? fault)), "."));
  throw fault;
});
