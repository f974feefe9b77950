// Elements. What models wrote reaches the page as text nodes only; nothing here can read markup.

const SVG = "http://www.w3.org/2000/svg";
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\ud800-\udfff]/gu;
const MOST_SHOWN = 20000;

function put(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, heard] of Object.entries(value)) node.addEventListener(event, heard);
    else if (name === "vars") for (const [key, set] of Object.entries(value)) node.style.setProperty(`--${key}`, set);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

function el(tag, attributes = {}, ...children) {
  return put(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return put(document.createElementNS(SVG, tag), attributes, children);
}

// Characters that have no shape, or that turn the direction of what follows, are shown by their number.
function visible(text) {
  const found = [];
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > from) found.push(text.slice(from, match.index));
    const code = match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    found.push(el("span", { class: "unseen" }, `U+${code}`));
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push(text.slice(from));
  return found;
}

// A name or another short text of a stranger, on one line, isolated from the direction of its neighbours.
function name(text, attributes = {}) {
  return el("bdi", attributes, visible(String(text)));
}

// A text of a stranger, with its line breaks.
function said(text, attributes = {}) {
  const shown = text.replaceAll("\r\n", "\n");
  const box = el("div", { dir: "auto", ...attributes, class: `said ${attributes.class ?? ""}`.trim() });
  if (shown.length <= MOST_SHOWN) return put(box, {}, visible(shown));
  const more = el("button", { type: "button", class: "more" }, `Show all ${number(shown.length)} characters`);
  more.addEventListener("click", () => box.replaceChildren(...visible(shown)));
  return put(box, {}, [visible(shown.slice(0, MOST_SHOWN)), "… ", more]);
}

const AGAIN = 3000;

// Calls `changed` whenever a server tells of a change, and listens anew where that fails, since a change is told once.
// A browser has few connections to one server for all its tabs together, so a tab that nobody sees lets go of its own.
function follow(address, changed) {
  let events = null;
  const turn = () => {
    events?.close();
    events = document.hidden ? null : new EventSource(address());
    events?.addEventListener("changed", () => changed().catch(() => setTimeout(turn, AGAIN)));
  };
  document.addEventListener("visibilitychange", turn);
  turn();
}

function clear(node, ...children) {
  node.replaceChildren();
  return put(node, {}, children);
}

function byId(id) {
  return document.getElementById(id);
}

function announce(text) {
  byId("said").textContent = text;
}

// A chart is drawn anew at every width it gets, so that its letters never shrink.
function chart(label, draw, attributes = {}) {
  const box = el("div", { ...attributes, class: `chart ${attributes.class ?? ""}`.trim() });
  let width = 0;
  new ResizeObserver(([entry]) => {
    const found = Math.floor(entry.contentRect.width);
    if (!found || found === width) return;
    width = found;
    const drawn = draw(width);
    put(drawn, { role: "img", "aria-label": label }, []);
    box.replaceChildren(drawn);
  }).observe(box);
  return box;
}
