// The runs of the store, each a link to its page.

const COLUMNS = ["Run", "State", "Rounds rated", "Battles", "First played"];

function row(run) {
  const link = run.bench
    ? [name(run.id), el("small", { class: "quiet" }, "a bench, which has no battles to show")]
    : [
      el("a", { href: `/run/${encodeURIComponent(run.id)}/` }, name(run.id)),
      run.base === null ? null : el("small", { class: "quiet" }, " made from ", name(run.base)),
    ];
  const when = new Date(1000 * run.created).toLocaleString();
  return el("tr", {},
    el("th", { scope: "row" }, link),
    el("td", {}, run.status === "running" ? el("strong", {}, "running") : run.status),
    el("td", { class: "right" }, number(run.round)),
    el("td", { class: "right" }, number(run.battles)),
    el("td", {}, when));
}

function table({ store, runs }) {
  if (!runs.length) return el("p", { class: "wait" }, "The store holds no run yet; this page shows one as soon as it does.");
  return [
    el("h1", {}, "Runs"),
    el("p", { class: "quiet" }, name(store)),
    el("div", { class: "scroll" }, el("table", { class: "sorted" },
      el("thead", {}, el("tr", {}, COLUMNS.map((title, place) => el("th", { scope: "col", class: [2, 3].includes(place) && "right" }, title)))),
      el("tbody", {}, runs.map(row)))),
  ];
}

async function show() {
  try {
    const answer = await fetch("/runs");
    const told = await answer.json();
    clear(byId("main"), answer.ok ? table(told) : el("p", { class: "wait", role: "alert" }, visible(told.problem)));
    dispatchEvent(new Event("drawn"));
    // A store that is back as it was is no change that a server tells of: ask again until it is.
    if (!answer.ok) throw new Error(told.problem);
  } catch (fault) {
    announce(String(fault.message ?? fault));
    throw fault;
  }
}

show().catch(() => null).then(() => follow(() => "/events", show));
