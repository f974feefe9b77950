// The keyboard, the list of its keys, and light and dark.

const KEYS = [
  ["j", "next battle"],
  ["k", "previous battle"],
  ["Enter", "read the marked battle"],
  ["/", "search battles"],
  ["t", "fold or unfold what was said"],
  ["o", "show or hide the judges' reasons"],
  ["u", "back to the list"],
  ["1 – 6", "results, battles, questions, judges, dice, method"],
  ["d", "light or dark"],
  ["?", "these keys"],
];

function helpDialog() {
  const box = byId("help");
  clear(
    box,
    el("h2", { id: "help-title" }, "Keys"),
    el("dl", { class: "pairs" }, KEYS.map(([key, told]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, told)])),
    el("form", { method: "dialog" }, el("button", {}, "Close")),
  );
  return box;
}

function toggleTheme() {
  const root = document.documentElement;
  const dark = root.style.colorScheme ? root.style.colorScheme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.style.colorScheme = dark ? "light" : "dark";
}

// In the list the mark moves from row to row; in a battle its neighbour in the list is opened, whatever is drawn yet.
function move(run, by) {
  const { view, id, filters } = route();
  if (view === "battle") {
    const around = chosen(run, filters);
    const next = around[around.findIndex((own) => own.battle === id) + by];
    if (next) go("battle", next.battle, filters);
  } else if (view === "battles") {
    const rows = [...document.querySelectorAll("#battles a.battle")];
    const at = rows.indexOf(document.activeElement);
    const next = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  } else go("battles");
}

function fold(selector) {
  const all = [...document.querySelectorAll(selector)];
  const open = all.some((own) => own.open);
  for (const own of all) own.open = !open;
}

function search() {
  if (!byId("search")) {
    go("battles", null, route().filters);
    addEventListener("drawn", () => byId("search")?.focus(), { once: true });
  } else byId("search").focus();
}

const PRESSED = {
  j: (run) => move(run, 1),
  k: (run) => move(run, -1),
  "/": search,
  "?": () => helpDialog().showModal(),
  t: () => fold("details.section"),
  o: () => fold("details.opinion"),
  u: () => go("battles", null, route().filters),
  d: toggleTheme,
};

function listenToKeys(run) {
  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, select, textarea");
    if (event.key === "Escape" && typing) return typing.blur();
    if (typing || event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return undefined;
    const place = Number.parseInt(event.key, 10);
    const act = PRESSED[event.key] ?? (place >= 1 && place <= VIEWS.length ? () => go(VIEWS[place - 1][0]) : null);
    if (!act) return undefined;
    event.preventDefault();
    return act(run());
  });
}
