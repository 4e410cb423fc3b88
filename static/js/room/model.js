/** The room: copies by state and by what they are stuck on, in the order and as far as somebody wants to see them. Pure. */

/**
 * A seat's newest copy: docs/session-api.md, `GET …/copies`.
 * @typedef {object} Tile
 * @property {string} code "" where there is none
 * @property {string} person
 * @property {number} seat
 * @property {string} name
 * @property {"stuck" | "working" | "idle" | "done" | "failed"} state
 * @property {{reason: string, n: number, pods: string[]}[]} pending
 * @property {{pod: string, node: string}[]} nominated
 * @property {{name: string, cpu: number, node: string} | null} waiting the most important pod without a node; `node`: where it is nominated
 * @property {{name: string, cpu: number, pods: {name: string, cpu: number, priority: number, leaving: boolean}[]}[]} nodes
 * @property {{verb: string, resource: string, object: string} | null} did
 * @property {number} since Unix milliseconds
 * @property {string} [problem]
 * @property {number} [seconds] after which it was done
 *
 * @typedef {{state: string, reason: string, words: string, order: "reason" | "seat"}} Wish "" is all
 */

export const STATES = /** @type {const} */ (["stuck", "working", "idle", "done", "failed"]);

/** How what kube-scheduler says of a preemption begins, and the key of what it means. */
const MEANINGS = /** @type {const} */ ([
  ["Preemption is not helpful", "room.means_helpless"],
  ["No preemption victims found", "room.means_victims"],
  ["not eligible due to preemptionPolicy=Never", "room.means_never"],
]);

/** Tiles past which a miniature is left out: state and reason are what counts then. */
export const MINIATURES_MAX = 40;

/** Tiles past which none is shown until somebody says which: nobody finds one among so many. */
export const TILES_MAX = 150;

/**
 * What a copy is stuck on; "" nothing.
 * @param {Tile} tile
 */
export function reasonOf(tile) {
  return tile.pending.find(({ reason }) => reason)?.reason ?? "";
}

/**
 * How many copies are in each state; always of all seats.
 * @param {readonly Tile[]} tiles
 * @returns {Record<typeof STATES[number], number>}
 */
export function counts(tiles) {
  const found = { stuck: 0, working: 0, idle: 0, done: 0, failed: 0 };
  for (const { state } of tiles) found[state] += 1;
  return found;
}

/**
 * What copies are stuck on, the most frequent first.
 * @param {readonly Tile[]} tiles
 * @returns {{reason: string, count: number}[]}
 */
export function groups(tiles) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const tile of tiles) {
    const reason = reasonOf(tile);
    if (tile.state === "stuck" && reason) found.set(reason, (found.get(reason) ?? 0) + 1);
  }
  return [...found].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}

/**
 * Whether somebody wishes to see some of the copies alone.
 * @param {Wish} wish
 */
export function filtered({ state, reason, words }) {
  return Boolean(state || reason || words.trim());
}

/**
 * The tiles that are shown, in order: by reason what is stuck first, else by seat.
 * @param {readonly Tile[]} tiles
 * @param {Wish} wish
 * @returns {Tile[]}
 */
export function shown(tiles, wish) {
  if (tiles.length > TILES_MAX && !filtered(wish)) return [];
  const { state, reason, words, order } = wish;
  const wanted = words.trim().toLowerCase();
  const found = tiles.filter((tile) => (!state || tile.state === state) && (!reason || reasonOf(tile) === reason)
    && (!wanted || textOf(tile).includes(wanted)));
  const rank = new Map(groups(tiles).map((group, index) => [group.reason, index]));
  const place = (/** @type {Tile} */ tile) =>
    (order === "seat" ? 0 : STATES.indexOf(tile.state) * 1_000 + (rank.get(reasonOf(tile)) ?? 999));
  return found.sort((a, b) => place(a) - place(b) || a.seat - b.seat);
}

/**
 * Tiles in their new order, but for those that are held: they stay where they were, as who taps one means that one.
 * @param {readonly number[]} before seats in the order in which they are shown now
 * @param {readonly Tile[]} wanted in the order in which they would be
 * @param {ReadonlySet<number>} held seats
 * @returns {Tile[]}
 */
export function steady(before, wanted, held) {
  const place = new Map(before.map((seat, index) => [seat, index]));
  const stays = (/** @type {Tile} */ { seat }) => held.has(seat) && place.has(seat);
  const arranged = wanted.filter((tile) => !stays(tile));
  const at = (/** @type {Tile} */ { seat }) => place.get(seat) ?? 0;
  for (const tile of wanted.filter(stays).sort((a, b) => at(a) - at(b))) arranged.splice(at(tile), 0, tile);
  return arranged;
}

/**
 * The key of what a preemption's reason means, which kube-scheduler says to those alone who know it; "" of a reason that says it.
 * @param {string} reason
 */
export function meaningOf(reason) {
  const known = MEANINGS.find(([words]) => reason.startsWith(words));
  return known ? known[1] : "";
}

/** @param {Tile} tile */
function textOf(tile) {
  return [`#${tile.seat}`, tile.name, tile.state, reasonOf(tile), ...tile.nodes.map(({ name }) => name),
    ...tile.pending.flatMap(({ pods }) => pods)].join(" ").toLowerCase();
}

/**
 * A node's pods as shares of its CPU, each with the rank of its priority: the highest is 0.
 * @param {Tile} tile
 * @returns {{node: string, parts: {name: string, share: number, rank: number, leaving: boolean}[]}[]}
 */
export function bars(tile) {
  const ranks = [...new Set(tile.nodes.flatMap(({ pods }) => pods.map(({ priority }) => priority)))].sort((a, b) => b - a);
  return tile.nodes.map(({ name, cpu, pods }) => ({
    node: name,
    parts: pods.map((pod) => ({
      name: pod.name, share: cpu ? Math.min(1, pod.cpu / cpu) : 0, rank: ranks.indexOf(pod.priority), leaving: pod.leaving,
    })),
  }));
}

/**
 * The pod that waits, in the scale of the nodes' bars.
 * @param {Tile} tile
 * @returns {{name: string, share: number, more: boolean, nominated: boolean} | null} `more`: it asks for more than any node has
 */
export function waitingOf({ waiting, nodes }) {
  const widest = Math.max(0, ...nodes.map(({ cpu }) => cpu));
  if (!waiting || !widest) return null;
  const share = waiting.cpu / widest;
  return { name: waiting.name, share: Math.min(1, share), more: share > 1, nominated: waiting.node !== "" };
}

/**
 * How long ago: just now, in tens of seconds below two minutes, then in minutes.
 * @param {number} sinceMs
 * @param {number} nowMs
 * @returns {{unit: "now" | "seconds" | "minutes", count: number}}
 */
export function ago(sinceMs, nowMs) {
  const seconds = Math.max(0, Math.round((nowMs - sinceMs) / 1000));
  if (seconds < 10) return { unit: "now", count: 0 };
  return seconds < 120 ? { unit: "seconds", count: Math.floor(seconds / 10) * 10 } : { unit: "minutes", count: Math.floor(seconds / 60) };
}
