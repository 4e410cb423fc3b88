/** What the snapshot says of an option, in a line and a bar: never a verdict. */

/** @import { PollFacts } from "../../lib/class.d.ts" */
/** @import { Lang, Ui, View } from "../../lib/types.d.ts" */
import { element } from "../../dom/dom.js";
import { formatCpu, formatMemory } from "../../lib/quantity.js";
import { counted, number, text } from "../../lib/text.js";
import { groupOf } from "../../state/groups.js";
import { nodes, podRequests } from "../../state/selectors.js";

/** Pods whose priorities are told one by one. */
const PRIORITIES_MAX = 5;

/**
 * The line below an option's name.
 * @param {PollFacts | undefined} facts
 * @param {Lang} lang
 */
export function factsLine(facts, lang) {
  if (!facts) return "";
  const t = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ values = {}) => text(lang, key, values);
  const priorities = facts.priorities ?? [];
  const told = priorities.length > 0 && priorities.length <= PRIORITIES_MAX && priorities.some((one) => one !== 0);
  return [
    facts.zone ?? "",
    facts.ready === false ? t("vote.not_ready") : "",
    facts.unschedulable ? t("vote.cordoned") : "",
    ...(facts.taints ?? []).map((taint) => t("vote.taint", { taint: taint.replace(/:.*$/, "") })),
    told ? t("vote.priorities", { list: priorities.map((one) => number(lang, one)).join(" · ") }) : "",
    facts.guarded ? counted(lang, "vote.guarded", { count: facts.guarded }) : "",
    facts.node ? t("vote.on_node", { node: facts.node }) : "",
    facts.priority === undefined ? "" : t("vote.priority", { priority: number(lang, facts.priority) }),
    facts.requests?.["cpu"] ? `${formatCpu(facts.requests["cpu"])} CPU` : "",
  ].filter(Boolean).join(" · ");
}

/**
 * What is free of the resources that the pod may ask for.
 * @param {PollFacts | undefined} facts
 * @param {Lang} lang
 * @returns {string[]}
 */
export function freeLines(facts, lang) {
  if (!facts?.free) return [];
  return Object.entries(facts.free).filter(([name]) => name !== "pods" && !name.startsWith("ephemeral") && !name.startsWith("hugepages")).map(([name, amount]) => {
    if (name === "cpu") return text(lang, "vote.cpu_free", { amount: formatCpu(amount) });
    if (name === "memory") return text(lang, "vote.memory_free", { amount: formatMemory(amount) });
    return text(lang, "vote.more_free", { amount: number(lang, amount), name });
  }).slice(0, 3);
}

/**
 * A node's pods, as the cluster has them: each one's part of its CPU, and its hue on the stage.
 * @param {string} id of the option
 * @param {PollFacts | undefined} facts
 * @param {View} view
 * @param {Ui["colourBy"]} colourBy
 * @returns {{share: number, hue: number}[] | null}
 */
export function partsOf(id, facts, view, colourBy) {
  const whole = facts?.allocatable?.["cpu"];
  const node = whole ? nodes(view).find(({ name }) => name === id) : undefined;
  if (!whole || !node) return null;
  // In the order in which their priorities are told.
  const pods = node.pods.toSorted((a, b) => (b.spec?.priority ?? 0) - (a.spec?.priority ?? 0));
  return pods.map((pod) => ({ share: podRequests(pod).cpuMilli / whole, hue: groupOf(view, pod, colourBy).hue }));
}

/** The same as a bar. @param {ReturnType<typeof partsOf>} parts */
export function factsBar(parts) {
  return parts && element("span", { class: "vote-bar", "aria-hidden": "true" }, parts.map(({ share, hue }) => {
    const part = element("i");
    part.style.width = `${100 * share}%`;
    part.style.background = `var(--owner-${hue + 1})`;
    return part;
  }));
}
