/** The story of one election in a stretch of time: who believed to lead, who saw what, where two led or nobody. Pure. */

/** @import { Belief, Fault, Refusal, Renewal, Told, Try } from "./recorder.js" */

/** @typedef {{fromMs: number, toMs: number, open: boolean}} Span `open`: it lasts still */
/** @typedef {Span & {holder: string}} Holding */
/** @typedef {{holder: string, seenMs: number, expiresMs: number, atMs: number, branch: string}} Sight a lease that nobody renewed, as one sees it */
/** @typedef {Span & {who: string[]}} Window */
/** @typedef {Span & {before: string, after: string}} Gap */
/** @typedef {{t: number, who: string, message: string | null}} Write `message`: why it was refused; null: accepted */

/**
 * @typedef {object} Row one replica
 * @property {string} identity
 * @property {boolean} outside it is no replica of the session, and only its renewals are known
 * @property {number} index its place among the replicas of its component: its hue and its shape
 * @property {Span[]} beliefs
 * @property {Renewal[]} renewals
 * @property {Try[]} lost renewals that did not arrive
 * @property {Try[]} refused renewals and others that came too late
 * @property {Try[]} gaveUp when it stepped down, or ran out of its deadline
 * @property {Sight[]} sights
 * @property {{t: number, holder: string}[]} reads when it read another holder
 * @property {Fault[]} faults
 */

/**
 * @typedef {object} Story
 * @property {number} toMs
 * @property {Row[]} rows
 * @property {Holding[]} lease whom the lock names
 * @property {Window[]} windows in which more than one believed to lead
 * @property {Gap[]} gaps in which nobody did
 * @property {Write[]} writes
 */

/** Who comes from outside tells nothing: it is taken to lead for so long after its last renewal. */
const LEASE_MS = 15_000;

const LOST = new Set(["get-failed", "timeout", "renew-refused", "acquire-refused", "create-refused"]);

/**
 * @param {object} known
 * @param {readonly Told[]} known.told of the replicas of one component
 * @param {readonly Renewal[]} known.renewals of everybody
 * @param {readonly Renewal[]} known.writes that were accepted
 * @param {number} toMs nothing later is told
 * @returns {Story}
 */
export function storyOf({ told, renewals, writes }, toMs) {
  const replicas = [...told].sort((a, b) => a.identity.localeCompare(b.identity, "en", { numeric: true }));
  const names = new Set(replicas.map((one) => one.identity));
  const until = renewals.filter((one) => one.t <= toMs && (names.has(one.who) || (one.lock && one.lock === replicas[0]?.component)));
  const lease = holdings(until, replicas.flatMap((one) => one.tries.filter((each) => each.branch === "release" && each.atMs <= toMs)), toMs);
  const all = [...replicas, ...outsiders(until, lease, toMs)];
  const rows = all.map((one, index) => rowOf(one, index, until, toMs, index >= replicas.length));
  return {
    toMs, rows, lease,
    windows: windowsOf(rows),
    gaps: gapsOf(rows, toMs),
    writes: [
      ...writes.filter((one) => one.t <= toMs && names.has(one.who)).map(({ t, who }) => ({ t, who, message: null })),
      ...replicas.flatMap(({ identity, refusals }) => refusals.filter((one) => one.atMs <= toMs)
        .map((one) => ({ t: one.atMs, who: identity, message: one.message }))),
    ].sort((a, b) => a.t - b.t),
  };
}

/**
 * Those from outside, as far as their renewals tell: a row each.
 * @param {readonly Renewal[]} renewals in order
 * @param {readonly Holding[]} lease
 * @param {number} toMs
 * @returns {Told[]}
 */
function outsiders(renewals, lease, toMs) {
  const names = [...new Set(renewals.filter((one) => one.lock).map((one) => one.who))].sort((a, b) => a.localeCompare(b, "en"));
  return names.map((identity) => {
    const beliefs = lease.filter((one) => one.holder === identity).map(({ fromMs, toMs: endMs, open }) => {
      const lastMs = renewals.findLast(({ who, t }) => who === identity && t >= fromMs && t <= endMs)?.t ?? endMs;
      return { fromMs, toMs: open && toMs - lastMs < LEASE_MS ? null : lastMs };
    });
    return { identity, component: "", beliefs, tries: [], refusals: [], faults: [] };
  });
}

/**
 * @param {Told} told
 * @param {number} index
 * @param {readonly Renewal[]} renewals
 * @param {number} toMs
 * @param {boolean} outside
 * @returns {Row}
 */
function rowOf(told, index, renewals, toMs, outside) {
  const { identity } = told;
  const tries = told.tries.filter((one) => one.atMs <= toMs);
  return {
    identity, outside, index,
    beliefs: told.beliefs.filter((one) => one.fromMs <= toMs).map((one) => spanOf(one, toMs)),
    renewals: renewals.filter((one) => one.who === identity),
    lost: tries.filter((one) => one.leading && !one.conflict && LOST.has(one.branch)),
    refused: tries.filter((one) => one.conflict),
    gaveUp: tries.filter((one) => one.branch === "release" || one.branch === "deadline"),
    sights: sightsOf(tries.filter((one) => !one.leading), renewals, identity),
    reads: tries.filter((one) => one.branch === "held" && one.seenMs === one.atMs && one.atMs > 0).map(({ atMs, holder }) => ({ t: atMs, holder })),
    faults: told.faults.filter((one) => (one.fromMs ?? 0) <= toMs),
  };
}

/**
 * @param {Belief} belief
 * @param {number} nowMs
 * @returns {Span}
 */
function spanOf({ fromMs, toMs }, nowMs) {
  const open = toMs === null || toMs > nowMs;
  return { fromMs, toMs: open ? nowMs : toMs, open };
}

/**
 * The leases that one who waits saw without a renewal: the last look at each, unless their holder renewed them after all.
 * @param {readonly Try[]} tries
 * @param {readonly Renewal[]} renewals
 * @param {string} identity
 * @returns {Sight[]}
 */
function sightsOf(tries, renewals, identity) {
  /** @type {Sight[]} */
  const found = [];
  for (const { holder, seenMs, expiresMs, atMs, branch } of tries) {
    // Seen in the moment of the look: it was fresh then.
    if (!holder || holder === identity || seenMs >= atMs) continue;
    if (found.at(-1)?.holder === holder) found.pop();
    found.push({ holder, seenMs, expiresMs, atMs, branch });
  }
  return found.filter((one) => one.branch !== "held"
    || !renewals.some(({ who, t }) => who === one.holder && t > one.seenMs && t >= one.atMs - 1 && t < one.expiresMs));
}

/**
 * @param {readonly Renewal[]} renewals in order
 * @param {readonly Try[]} releases
 * @param {number} toMs
 * @returns {Holding[]}
 */
function holdings(renewals, releases, toMs) {
  /** @type {Holding[]} */
  const found = [];
  for (const { who, t } of renewals) {
    const last = found.at(-1);
    const given = last && releases.some((one) => one.holder === last.holder && one.atMs >= last.fromMs && one.atMs <= t);
    // Who gives it up writes the lock, too.
    if (last && last.holder === who && given) {
      last.toMs = t;
      last.open = false;
    } else if (last && last.holder === who && last.open) last.toMs = t;
    else {
      if (last?.open) Object.assign(last, { toMs: t, open: false });
      found.push({ holder: who, fromMs: t, toMs: t, open: true });
    }
  }
  const last = found.at(-1);
  if (last?.open) last.toMs = toMs;
  return found;
}

/**
 * When more than one believed that it leads.
 * @param {readonly Row[]} rows
 * @returns {Window[]}
 */
export function windowsOf(rows) {
  const ends = [...new Set(rows.flatMap(({ beliefs }) => beliefs.flatMap((one) => [one.fromMs, one.toMs])))].sort((a, b) => a - b);
  /** @type {Window[]} */
  const found = [];
  ends.slice(0, -1).forEach((fromMs, index) => {
    const toMs = /** @type {number} */ (ends[index + 1]);
    const believing = rows.filter(({ beliefs }) => beliefs.some((one) => one.fromMs <= fromMs && one.toMs >= toMs));
    if (believing.length < 2) return;
    const who = believing.map(({ identity }) => identity);
    const open = believing.every(({ beliefs }) => beliefs.some((one) => one.open && one.toMs === toMs));
    const last = found.at(-1);
    if (last && last.toMs === fromMs && last.who.join() === who.join()) Object.assign(last, { toMs, open });
    else found.push({ fromMs, toMs, open, who });
  });
  return found;
}

/**
 * When nobody believed that it leads, after somebody had.
 * @param {readonly Row[]} rows
 * @param {number} nowMs
 * @returns {Gap[]}
 */
export function gapsOf(rows, nowMs) {
  const all = rows.flatMap(({ identity, beliefs }) => beliefs.map((one) => ({ ...one, identity }))).sort((a, b) => a.fromMs - b.fromMs);
  /** @type {Gap[]} */
  const found = [];
  let last = all[0];
  for (const one of all.slice(1)) {
    if (last && one.fromMs > last.toMs) found.push({ fromMs: last.toMs, toMs: one.fromMs, open: false, before: last.identity, after: one.identity });
    if (!last || one.toMs >= last.toMs) last = one;
  }
  if (last && !last.open && last.toMs < nowMs) found.push({ fromMs: last.toMs, toMs: nowMs, open: true, before: last.identity, after: "" });
  return found;
}

/**
 * Why two led or nobody did, as a key of the words and what fills them.
 * @param {Story} story
 * @param {Window | Gap} moment
 * @returns {{key: string, values: Record<string, string | number>}}
 */
export function whyOf(story, moment) {
  return "who" in moment ? whyTwo(story, moment) : whyNobody(story, moment);
}

/**
 * @param {Story} story
 * @param {Window} moment
 */
function whyTwo(story, moment) {
  const began = (/** @type {string} */ name) => {
    const row = story.rows.find(({ identity }) => identity === name);
    return row?.beliefs.find((one) => one.fromMs <= moment.fromMs && one.toMs >= moment.toMs)?.fromMs ?? 0;
  };
  const [old = "", taker = ""] = [...moment.who].sort((a, b) => began(a) - began(b));
  const fault = faultAt(story, old, moment.fromMs);
  const sight = sightOf(story, taker, old, moment.fromMs);
  const values = { old, taker, seconds: (moment.toMs - moment.fromMs) / 1000, seenMs: sight?.seenMs ?? 0, expiresMs: sight?.expiresMs ?? 0, rate: fault?.rate ?? 1 };
  if (!sight) return { key: "election.why.both", values };
  return { key: fault?.rate ? "election.why.slow" : fault ? "election.why.stale" : "election.why.late", values };
}

/**
 * @param {Story} story
 * @param {Gap} moment
 */
function whyNobody(story, moment) {
  const { before: old, after: taker } = moment;
  const row = story.rows.find(({ identity }) => identity === old);
  const released = story.lease.some((one) => one.holder === old && !one.open && Math.abs(one.toMs - moment.fromMs) < 1_000)
    && !sightOf(story, taker, old, moment.toMs);
  const cut = row?.lost.some((one) => one.atMs <= moment.fromMs + 1 && one.atMs > moment.fromMs - 15_000);
  const sight = taker ? sightOf(story, taker, old, moment.toMs)
    : story.rows.flatMap(({ sights }) => sights).filter((one) => one.holder === old && one.atMs >= moment.fromMs).at(-1);
  const values = { old, taker, seconds: (moment.toMs - moment.fromMs) / 1000, seenMs: sight?.seenMs ?? 0, expiresMs: sight?.expiresMs ?? 0, rate: 1 };
  if (released) return { key: "election.why.released", values };
  if (!taker) return { key: sight ? "election.why.waits" : "election.why.nobody", values };
  if (!sight) return { key: "election.why.again", values };
  return { key: cut ? "election.why.cut" : "election.why.died", values };
}

/**
 * @param {Story} story
 * @param {string} identity
 * @param {number} t
 */
function faultAt(story, identity, t) {
  const row = story.rows.find((one) => one.identity === identity);
  return row?.faults.find((one) => (one.fromMs ?? 0) <= t && (one.toMs === null || one.toMs >= t)) ?? null;
}

/**
 * What one saw of another's lease before it took over.
 * @param {Story} story
 * @param {string} observer
 * @param {string} holder
 * @param {number} t
 */
function sightOf(story, observer, holder, t) {
  const row = story.rows.find(({ identity }) => identity === observer);
  return row?.sights.filter((one) => one.holder === holder && one.atMs <= t + 1).at(-1) ?? null;
}
