// The fragment says what is shown: #/battles?domain=math, #/battle/ID?domain=math. So any state can be linked to.

const VIEWS = [
  ["", "Results"],
  ["battles", "Battles"],
  ["questions", "Questions"],
  ["judges", "Judges"],
  ["dice", "Dice"],
  ["method", "Method"],
];
const FILTERS = ["model", "opponent", "domain", "question", "outcome", "judges", "arm", "text", "sort"];

function route() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [view, ...rest] = path.split("/");
  let id = null;
  try {
    id = rest.length ? decodeURIComponent(rest.join("/")) : null;
  } catch {
    id = rest.join("/");
  }
  const given = new URLSearchParams(query);
  const filters = Object.fromEntries(FILTERS.filter((key) => given.get(key)).map((key) => [key, given.get(key)]));
  return { view, id, filters };
}

function address(view, id = null, filters = {}) {
  const kept = new URLSearchParams();
  for (const key of FILTERS) if (filters[key]) kept.set(key, filters[key]);
  const query = kept.toString();
  return `#/${view}${id === null ? "" : `/${encodeURIComponent(id)}`}${query ? `?${query}` : ""}`;
}

function go(view, id = null, filters = {}, { quietly = false } = {}) {
  const to = address(view, id, filters);
  if (quietly) history.replaceState(null, "", to);
  else location.hash = to;
}
