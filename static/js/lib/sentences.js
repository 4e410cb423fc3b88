/** The scheduler's sentences and event names, taken apart. Pure. */

/**
 * Cluster events as upstream writes them in words (Node/Add), from the names that hints register (NodeAdd|NodeTaint).
 * @param {readonly string[]} wakes
 * @returns {string[]} each once
 */
export function eventNames(wakes) {
  const names = wakes.flatMap((wake) => wake.split("|")).filter((name) => name !== "*" && name !== "").map((name) => {
    const [, resource, action] = /^(?:Assigned|Unschedulable)?([A-Z][a-z]+)(?:Pod)?([A-Z].*)$/.exec(name) ?? [];
    return resource ? `${resource}/${action}` : name;
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

/**
 * A FitError's node part as its counted reasons, for the short form in the lane.
 * @param {string} message
 * @returns {{nodes: number, reasons: {count: number, reason: string}[]}}
 */
export function fitReasons(message) {
  const head = /^0\/(\d+) nodes are available: ?(.*)$/s.exec(message);
  if (!head) return fitReasonsByNode(message);
  const histogram = (head[2] ?? "").split(/\. (?=preemption: |no new claims|not found)/)[0] ?? "";
  const reasons = histogram.replace(/\.\s*$/, "").split(/, (?=\d+ )/).flatMap((part) => {
    const match = /^(\d+) (.+)$/s.exec(part);
    return match ? [{ count: Number(match[1]), reason: match[2] ?? "" }] : [];
  });
  return { nodes: Number(head[1]), reasons };
}
