// Where the page's data come from: packed blocks of this very file, or a server's answers.
//
// Either has: overview(), lines(), battle(id) and words(): an iterator of [battle id, text of everything said], for
// searching. A server has listen(changed) too.

async function unpacked(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function embedded({ battles, chunk }) {
  const chunks = new Map();
  const places = new Map();
  const load = (number) => {
    if (!chunks.has(number)) {
      // A few are kept: whoever reads on wants the next battle of the same one.
      if (chunks.size > 4) chunks.delete(chunks.keys().next().value);
      chunks.set(number, unpacked(`chunk-${number}`));
    }
    return chunks.get(number);
  };
  return {
    overview: () => unpacked("overview"),
    async lines() {
      const found = await unpacked("lines");
      found.rows.forEach((row, place) => places.set(row[0], place));
      return found;
    },
    async battle(id) {
      const place = places.get(id);
      return (await load(Math.floor(place / chunk)))[place % chunk];
    },
    async *words() {
      for (let number = 0; number * chunk < battles; number += 1) {
        for (const battle of await unpacked(`chunk-${number}`)) yield [battle.id, textOf(battle)];
      }
    },
    listen() {},
  };
}

function served({ base, live = true }) {
  let state = "";
  const get = async (path) => {
    const answer = await fetch(base + path, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).problem ?? `the server answered ${answer.status}`);
    state = answer.headers.get("x-state") ?? state;
    return answer.json();
  };
  return {
    overview: () => get("overview"),
    lines: () => get("lines"),
    battle: (id) => get(`battle?id=${encodeURIComponent(id)}`),
    async *words(text) {
      for (const id of await get(`search?text=${encodeURIComponent(text)}`)) yield [id, text];
    },
    listen(changed) {
      let taken = state;
      const take = async () => {
        await changed();
        taken = state;
      };
      if (live) follow(() => `${base}events?known=${encodeURIComponent(taken)}`, take);
    },
  };
}

function textOf(battle) {
  const turns = (battle.turns ?? []).flatMap((turn) => (turn.sections ?? []).map((section) => section.text));
  return [...turns, ...(battle.opinions ?? []).map((opinion) => opinion.reasons ?? "")].join("\n");
}

function sourceOf(told) {
  return told.kind === "fetch" ? served(told) : embedded(told);
}
