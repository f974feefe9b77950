// Numbers and facts in words.

function number(value) {
  return value.toLocaleString("en-US");
}

function points(value) {
  return value === null || value === undefined ? "–" : Math.round(value).toString().replace("-", "−");
}

function percent(value, digits = 0) {
  return value === null || value === undefined ? "–" : `${(100 * value).toFixed(digits)} %`;
}

function decimal(value, digits = 2) {
  return value === null || value === undefined ? "–" : value.toFixed(digits).replace("-", "−");
}

function dollars(value) {
  if (value === null || value === undefined) return "unknown";
  if (value === 0) return "$0";
  return `$${value >= 0.1 ? value.toFixed(2) : value.toPrecision(2)}`;
}

function plural(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

function ends(low, high, shown = points) {
  return low === null && high === null ? "" : `${low === null ? "−∞" : shown(low)} to ${high === null ? "∞" : shown(high)}`;
}

function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

function joined(nodes, between = ", ") {
  return nodes.flatMap((node, place) => (place ? [between, node] : [node]));
}

const SHARED = {
  shared: "shared dice",
  "seed-only": "one seed, dice unknown",
  none: "no shared dice",
  deterministic: "no dice (temperature 0)",
};

function verdictOf(line) {
  if (line.status === "void") return "void";
  if (line.verdict === "tie") return "tie";
  const winner = line.verdict === "A" ? line.a : line.b;
  return line.status === "forfeited" ? `${winner} by forfeit` : `${winner} won`;
}
