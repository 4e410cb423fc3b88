/** The scheduler's sentences and event names, taken apart. Pure. */

/** What happens to an object, as the end of an event's name. */
const DONE = ["Add", "Delete", "Update", "Allocatable", "Label", "Taint", "Condition", "Annotation", "ScaleDown", "Tolerations",
  "SchedulingGatesEliminated", "GeneratedResourceClaim", "Other"].join("|");

/** An event's kind, and what happened; a pod is a pod whether it has a node or not. */
const EVENT = new RegExp(`^(?:Assigned|Unschedulable)?([A-Z]+[A-Za-z]*?)(?=(?:Node|Pod)?(?:${DONE})$)(.+)$`);

/**
 * Cluster events as upstream writes them in words (Node/Add), from the names that hints register (NodeAdd|NodeTaint).
 * @param {readonly string[]} wakes
 * @returns {string[]} each once
 */
export function eventNames(wakes) {
  const names = wakes.filter((wake) => wake !== "*" && wake !== "").flatMap((wake) => {
    const [first = "", ...others] = wake.split("|");
    const [, resource = "", action = ""] = EVENT.exec(first) ?? [];
    // The kind stands before the first alone: NodeAdd|NodeTaint, CSINodeAdd|Update.
    return resource ? [action, ...others].map((one) => `${resource}/${one.replace(/^(?:Node|Pod)(?=.)/, "")}`) : [wake];
  });
  return [...new Set(names)];
}

/**
 * The same of an era that has a line a node: "fit failure on node (a): PodFitsHostPorts".
 * @param {string} message
 */
function fitReasonsByNode(message) {
  const counts = new Map();
  for (const [, reason] of message.matchAll(/^fit failure on node \(.*?\): (.+)$/gm))
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const reasons = [...counts].map(([reason, count]) => ({ count, reason }));
  const more = Number(/^fit failure on (\d+) more nodes$/m.exec(message)?.[1] ?? 0);
  return { nodes: reasons.reduce((sum, one) => sum + one.count, more), reasons };
}

/** Where what PostFilter said begins. */
const AFTER_FILTERS = /\. (?=preemption: |no new claims|still not schedulable|deallocation of ResourceClaim|not found)/;

/**
 * A FitError's node part as its counted reasons, for the short form in the lane.
 * @param {string} message
 * @returns {{nodes: number, reasons: {count: number, reason: string}[]}}
 */
export function fitReasons(message) {
  const head = /^0\/(\d+) nodes are available: ?(.*)$/s.exec(message);
  if (!head) return fitReasonsByNode(message);
  const histogram = (head[2] ?? "").split(AFTER_FILTERS)[0] ?? "";
  const reasons = histogram.replace(/\.\s*$/, "").split(/, (?=\d+ )/).flatMap((part) => {
    const match = /^(\d+) (.+)$/s.exec(part);
    return match ? [{ count: Number(match[1]), reason: match[2] ?? "" }] : [];
  });
  return { nodes: Number(head[1]), reasons };
}
