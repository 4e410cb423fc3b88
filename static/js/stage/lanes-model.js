/** What the queue lanes show, from the queue as its scheduler last wrote it. Pure. */

/** @import { Lang, PodSlim, QueuedPod, QueueStatus } from "../lib/types.d.ts" */
import { eventNames, fitReasons } from "../lib/sentences.js";
import { text } from "../lib/text.js";

/** A lane with more pods than this shows counts by group instead of names; as many names or groups are a page. */
export const LANE_ROWS_MAX = 8;
/** A lane with more pods than this is never a list of names: who owns them is the least that groups say. */
const NAMES_MAX = 50;
/** kube-scheduler's backoff where its configuration says nothing: one second, doubled with each attempt, at most ten. */
export const BACKOFF_INITIAL_MS = 1_000;
export const BACKOFF_MAX_MS = 10_000;
/** The plugin that orders the active queue by priority; any other one has an order of its own. */
export const PRIORITY_SORT = "PrioritySort";
/** Labels that tell nothing: the pod is new, or its attempt failed. */
const UNTOLD = new Set(["UnschedulablePodAdd", "ScheduleAttemptFailure"]);

/** Labels of time and of the queue itself; every other one is a cluster event. */
const MOVED_BY_TIME = new Set(["BackoffComplete", "UnschedulableTimeout", "ForceActivate", "PopFromBackoffQ"]);

/** @type {(key: string) => string} */
const nameless = (key) => (key.split("/").pop() ?? key).replace(/-[a-z0-9]{1,6}$/, "");
const USUAL = { backoff: { initialMs: BACKOFF_INITIAL_MS, maxMs: BACKOFF_MAX_MS }, sort: PRIORITY_SORT, ownerOf: nameless, asksOf: () => "" };

/** Pods that no queue has taken in yet are looked at one by one up to here; the rest only add to the lane's count. */
const UNSEEN_ROWS_MAX = 500;

/**
 * @typedef {object} LaneRow
 * @property {string} key of the pod
 * @property {number | null} priority
 * @property {"queued" | "gated" | "assumed" | "hand" | "unseen"} state
 * @property {number} readyAtMs simulated; 0 where nothing counts down
 * @property {number} spanMs the whole of the countdown
 * @property {string} plugin
 * @property {string} message
 * @property {readonly string[]} wakes
 * @property {string} movedBy what put the pod into its lane: a cluster event, or time; "" where that goes without saying
 * @property {string} uid
 * @property {string} asks the scheduler that it asks for, where that is none of the session's
 * @property {readonly {name: string, untilMs: number}[]} holds plugins that hold the pod at Permit, each with its timer
 */

/** @typedef {{label: string, values: Record<string, string | number>, count: number, rows: readonly LaneRow[]}} LaneGroup */

/**
 * @typedef {object} Lane
 * @property {"active" | "backoff" | "unschedulable" | "gated" | "permit"} name
 * @property {number} count
 * @property {readonly LaneRow[]} rows the pod in hand, and the others where they are not grouped
 * @property {readonly LaneGroup[]} groups in place of rows
 * @property {number} listed how many of `count` the rows or groups were made from
 */

/**
 * @param {QueueStatus} queue
 * @param {readonly PodSlim[]} unseen pending pods that no queue has taken in yet
 * @param {string} inHand key of the pod in hand, or ""
 * @param {number} nowMs simulated
 * @param {{backoff: {initialMs: number, maxMs: number}, sort: string, ownerOf?: (key: string) => string, asksOf?: (pod: PodSlim) => string}} [configured]
 *   backoff, who orders the queue, whose a pod is, and which scheduler it asks for where that is none of the session's
 * @returns {Lane[]}
 */
export function laneModels(queue, unseen, inHand, nowMs, { backoff, sort, ownerOf = nameless, asksOf = USUAL.asksOf } = USUAL) {
  const byReason = (/** @type {readonly LaneRow[]} */ rows) => groupsByReason(rows, ownerOf);
  const fresh = unseen.slice(0, UNSEEN_ROWS_MAX).map((pod) => ({
    pod: `${pod.metadata.namespace}/${pod.metadata.name}`,
    uid: pod.metadata.uid ?? "",
    priority: pod.spec?.priority ?? 0,
    gates: (pod.spec?.schedulingGates ?? []).map((gate) => gate.name),
    asks: asksOf(pod),
  })).filter((entry) => entry.pod !== inHand);
  const gates = fresh.filter((entry) => entry.gates.length > 0);
  const open = fresh.filter((entry) => entry.gates.length === 0);
  const active = [
    ...queue.active.filter((entry) => entry.pod !== inHand).map((entry) => rowOf(entry, "queued")),
    ...open.map((entry) => ({ ...rowOf(entry, "unseen"), asks: entry.asks })),
  ];
  if (sort === PRIORITY_SORT) active.sort((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
  const hand = inHand ? [rowOf(handEntry(queue, inHand), "hand")] : [];
  const waiting = queue.waiting.map((entry) => ({
    ...rowOf({ pod: entry.pod, uid: entry.uid }, "assumed"),
    plugin: entry.plugins.map((plugin) => plugin.name).join(", "),
    holds: entry.plugins,
    readyAtMs: Math.min(...entry.plugins.map((plugin) => plugin.untilMs)),
    spanMs: 60_000,
  }));
  const cut = queue.counts;
  // The queue is written a moment after the pod was taken out of it.
  const stillListed = queue.active.some((entry) => entry.pod === inHand) ? 1 : 0;
  return [
    lane("active", [...hand, ...active], count(cut["active"], queue.active) - stillListed + open.length
      + Math.max(0, unseen.length - UNSEEN_ROWS_MAX), byPriority, byReason),
    lane("backoff", queue.backoff.map((entry) => backoffRow(entry, backoff)), count(cut["backoff"], queue.backoff),
      (rows) => byTimeLeft(rows, nowMs), byReason),
    lane("unschedulable", queue.unschedulable.map((entry) => rowOf(entry, "queued")),
      count(cut["unschedulable"], queue.unschedulable), byReason, byReason),
    lane("gated", [
      ...queue.gated.map((entry) => rowOf(entry, "gated")),
      ...gates.map((entry) => ({ ...rowOf(entry, "gated"), plugin: "SchedulingGates", message: entry.gates.join(", ") })),
    ], count(cut["gated"], queue.gated) + gates.length, byReason, byReason),
    lane("permit", waiting, count(cut["waiting"], queue.waiting), byPlugin, byReason),
  ];
}

/**
 * Pods that wait for the very reason that the one above them waits for: it is not told twice.
 * @param {readonly (LaneRow | LaneGroup)[]} shown rows and groups, from the top
 * @returns {Set<string>} their keys
 */
export function asAbove(shown) {
  /** @param {LaneRow | LaneGroup | undefined} row */
  const why = (row) => (row && "message" in row && row.message ? [row.plugin, row.message, ...row.wakes].join("|") : "");
  return new Set(shown.flatMap((row, at) => ("key" in row && why(row) && why(row) === why(shown[at - 1]) ? [row.key] : [])));
}

/**
 * Pending pods that no queue has taken in yet. While the queue's lists are whole, those that none of them names. Where
 * they are cut nobody can tell a pod beyond the cut from a new one by its name, but by its age: only what was written
 * after the queue was is new.
 * @param {readonly PodSlim[]} pending without a node
 * @param {QueueStatus} queue
 * @param {ReadonlySet<string>} taken uids that the queue, the hand or a binding names
 * @param {number} revision of the queue's status
 * @returns {PodSlim[]}
 */
export function unseenPods(pending, queue, taken, revision) {
  const lists = /** @type {const} */ (["active", "backoff", "unschedulable", "gated", "waiting", "binding"]);
  const cut = lists.some((name) => (queue.counts[name] ?? 0) > queue[name].length);
  return pending.filter((pod) => !taken.has(pod.metadata.uid ?? "")
    && (!cut || Number(pod.metadata.resourceVersion ?? 0) > revision));
}

/**
 * @param {number | undefined} counted
 * @param {readonly unknown[]} list
 */
function count(counted, list) {
  return Math.max(counted ?? 0, list.length);
}

/**
 * @param {QueueStatus} queue
 * @param {string} pod
 * @returns {QueuedPod}
 */
function handEntry(queue, pod) {
  return queue.active.find((entry) => entry.pod === pod) ?? { pod, uid: "" };
}

/**
 * @param {QueuedPod} entry
 * @param {LaneRow["state"]} state
 * @returns {LaneRow}
 */
function rowOf(entry, state) {
  return {
    key: entry.pod,
    priority: entry.priority ?? null,
    state,
    readyAtMs: 0,
    spanMs: 0,
    plugin: (entry.plugins ?? (entry.plugin ? [entry.plugin] : [])).join(", "),
    message: entry.message ?? "",
    wakes: entry.wakes ?? [],
    movedBy: UNTOLD.has(entry.movedBy ?? "") ? "" : entry.movedBy ?? "",
    uid: entry.uid,
    asks: "",
    holds: [],
  };
}

/**
 * @param {QueuedPod} entry
 * @param {{initialMs: number, maxMs: number}} backoff
 */
function backoffRow(entry, { initialMs, maxMs }) {
  const spanMs = Math.min(initialMs * 2 ** Math.max(0, (entry.attempts ?? 1) - 1), maxMs);
  return { ...rowOf(entry, "queued"), readyAtMs: entry.readyAtMs ?? 0, spanMs };
}

/**
 * @param {Lane["name"]} name
 * @param {readonly LaneRow[]} rows
 * @param {number} total
 * @param {(rows: readonly LaneRow[]) => LaneGroup[]} group
 * @param {(rows: readonly LaneRow[]) => LaneGroup[]} byReason where the other way finds one group of everything
 * @returns {Lane}
 */
function lane(name, rows, total, group, byReason) {
  const hand = rows.filter((row) => row.state === "hand");
  const queued = rows.filter((row) => row.state !== "hand");
  const count = Math.max(total, queued.length);
  if (count <= LANE_ROWS_MAX) return { name, count, rows, groups: [], listed: queued.length };
  const own = group(queued);
  // One group of everything tells nothing: names do, as long as a person can read them.
  const groups = own.length > 1 || count <= NAMES_MAX ? own : byReason(queued);
  if (groups.length > 1 || count > NAMES_MAX) return { name, count, rows: hand, groups, listed: queued.length };
  return { name, count, rows, groups: [], listed: queued.length };
}

/**
 * A page of a lane's names or groups; of an opened group, a page of its names. The pod in hand is on every page.
 * @param {Pick<Lane, "rows" | "groups">} lane
 * @param {{page: number, open: string}} at `open`: key of the group, "" for none
 * @returns {{items: (LaneRow | LaneGroup)[], page: number, pages: number, open: LaneGroup | null}}
 */
export function pageOf({ rows, groups }, { page, open: wanted }) {
  const open = groups.find((group) => groupKey(group) === wanted) ?? null;
  const hand = rows.filter((row) => row.state === "hand");
  /** @type {(LaneRow | LaneGroup)[]} */
  const all = open ? [...open.rows] : [...rows.filter((row) => row.state !== "hand"), ...groups];
  const pages = Math.max(1, Math.ceil(all.length / LANE_ROWS_MAX));
  const at = Math.min(Math.max(0, page), pages - 1);
  return {
    items: [...hand, ...(open ? [open] : []), ...all.slice(at * LANE_ROWS_MAX, (at + 1) * LANE_ROWS_MAX)], page: at, pages, open,
  };
}

/** @param {Pick<LaneGroup, "label" | "values">} group */
export function groupKey({ label, values }) {
  return `group ${label} ${Object.values(values).join(" ")}`;
}

/**
 * By owner and the reason of most nodes; without a reason by owner alone.
 * @param {readonly LaneRow[]} rows
 * @param {(key: string) => string} ownerOf
 */
function groupsByReason(rows, ownerOf) {
  return tally(rows, (row) => {
    const most = fitReasons(row.message).reasons.toSorted((a, b) => b.count - a.count)[0];
    const reason = most?.reason ?? (row.message || row.plugin);
    return reason ? { label: "reason", values: { owner: ownerOf(row.key), reason } } : { label: "owner", values: { owner: ownerOf(row.key) } };
  }).map((group) => named(group)).sort((a, b) => b.count - a.count);
}

/**
 * A group of one is that pod.
 * @param {LaneGroup} group
 * @returns {LaneGroup}
 */
function named(group) {
  const [only, more] = group.rows;
  return !only || more ? group : { ...group, values: { ...group.values, owner: only.key.split("/").at(-1) ?? only.key } };
}

/** @param {readonly LaneRow[]} rows */
function byPriority(rows) {
  return tally(rows, (row) => ({ label: "number", values: { n: row.priority ?? 0 } }))
    .sort((a, b) => Number(b.values["n"]) - Number(a.values["n"]));
}

/**
 * @param {readonly LaneRow[]} rows
 * @param {number} nowMs
 */
function byTimeLeft(rows, nowMs) {
  const edges = [1, 5, 10];
  return tally(rows, (row) => {
    const left = (row.readyAtMs - nowMs) / 1000;
    const index = edges.findIndex((edge) => left < edge);
    return index === 0 ? { label: "under", values: { to: 1 } }
      : { label: "between", values: { from: edges[index - 1] ?? 5, to: edges[index] ?? 10 } };
  }).sort((a, b) => Number(a.values["to"]) - Number(b.values["to"]));
}

/** @param {readonly LaneRow[]} rows */
function byPlugin(rows) {
  return tally(rows, (row) => ({ label: "plugin", values: { plugin: row.plugin || "?" } }))
    .sort((a, b) => b.count - a.count);
}

/**
 * @param {readonly LaneRow[]} rows
 * @param {(row: LaneRow) => {label: string, values: Record<string, string | number>}} groupOf
 * @returns {LaneGroup[]}
 */
function tally(rows, groupOf) {
  /** @type {Map<string, {label: string, values: Record<string, string | number>, rows: LaneRow[]}>} */
  const groups = new Map();
  for (const row of rows) {
    const group = groupOf(row);
    const key = groupKey(group);
    const known = groups.get(key);
    if (known) known.rows.push(row);
    else groups.set(key, { ...group, rows: [row] });
  }
  return [...groups.values()].map((group) => ({ ...group, count: group.rows.length }));
}

/**
 * What moved a pod, as a key of the page's texts and the event that it names.
 * @param {string} movedBy
 * @returns {{key: string, event: string}}
 */
export function movedWords(movedBy) {
  if (MOVED_BY_TIME.has(movedBy)) return { key: `lane.moved.${movedBy}`, event: "" };
  return { key: "lane.moved", event: eventNames([movedBy])[0] ?? movedBy };
}

/**
 * Why a pod was rejected; "" where that is not told, as while a question seals it.
 * @param {Pick<LaneRow, "plugin" | "message">} row
 * @param {Lang} lang
 */
export function rejection({ plugin, message }, lang) {
  const { nodes, reasons } = fitReasons(message);
  const first = reasons[0];
  if (reasons.length === 1 && first) return text(lang, "lane.rejectedAll", { reason: first.reason, n: first.count, of: nodes });
  return reasons.length > 1 ? reasons.map(({ count, reason }) => `${count} ${reason}`).join(", ") : plugin ? message : "";
}
