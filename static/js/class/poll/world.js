/** The few nodes of a question that is not about one of them, on the wall: what each carries, as bars. Never a verdict. */

/** @import { Lesson, Poll } from "../../lib/class.d.ts" */
/** @import { Lang, NodeSummary, Ui, View } from "../../lib/types.d.ts" */
import { element } from "../../dom/dom.js";
import { formatCpu, formatMemory } from "../../lib/quantity.js";
import { number, text } from "../../lib/text.js";
import { groupOf } from "../../state/groups.js";
import { nodes, podRequests } from "../../state/selectors.js";

/** As many nodes stand below a question, and as many pods in a bar. */
const NODES_MAX = 4;
const PODS_MAX = 8;
/** Letters that have room in a whole bar of a small wall, and what the ends of a pod take of them. */
const LETTERS = 80;
const ENDS = 2;

/**
 * @typedef {{name: string, share: number, hue: number}} WorldPod `name`: with its priority where both have room; "" where neither has
 * @typedef {{name: string, facts: string[], pods: WorldPod[]}} WorldNode
 */

/**
 * What stands there: null where the step shows something else, where answers are nodes and tell of themselves, or where there is
 * too much to draw, or nothing on any node.
 * @param {View} view
 * @param {{poll: Poll, lesson: Lesson | null}} state
 * @param {Pick<Ui, "colourBy" | "lang">} ui
 * @returns {WorldNode[] | null}
 */
export function worldOf(view, { poll, lesson }, { colourBy, lang }) {
  if (poll.kind !== "choice" || lesson?.poll !== poll.id || lesson.step?.view?.["scene"] !== "stage") return null;
  const all = nodes(view);
  if (all.length > NODES_MAX || all.some(({ pods }) => pods.length > PODS_MAX) || all.every(isBare)) return null;
  const ranked = all.some(({ pods }) => pods.some((pod) => pod.spec?.priority));
  return all.map((node) => ({
    name: node.name, facts: factsOf(node, lang),
    pods: node.pods.toSorted((a, b) => (b.spec?.priority ?? 0) - (a.spec?.priority ?? 0)).map((pod) => {
      const share = node.allocatable.cpuMilli ? podRequests(pod).cpuMilli / node.allocatable.cpuMilli : 0;
      const { name } = pod.metadata;
      const words = [...(ranked ? [`${name} ${number(lang, pod.spec?.priority ?? 0)}`] : []), name, ""];
      return { name: words.find((one) => one.length <= Math.max(0, share * LETTERS - ENDS)) ?? "", share, hue: groupOf(view, pod, colourBy).hue };
    }),
  }));
}

/** Whether there is nothing to tell of a node but its size. @param {NodeSummary} node */
function isBare({ pods, taints, ready, unschedulable }) {
  return pods.length === 0 && taints.length === 0 && ready && !unschedulable;
}

/**
 * @param {NodeSummary} node
 * @param {Lang} lang
 */
function factsOf({ allocatable, requested, taints, ready, unschedulable }, lang) {
  const of = (/** @type {string} */ used, /** @type {string} */ all) => text(lang, "vote.used_of", { used, all });
  const amounts = [
    of(formatCpu(requested.cpuMilli), `${formatCpu(allocatable.cpuMilli)} CPU`),
    ...(requested.memoryBytes ? [of(formatMemory(requested.memoryBytes), formatMemory(allocatable.memoryBytes))] : []),
    ...Object.entries(allocatable.extended ?? {}).map(([name, amount]) => of(number(lang, requested.extended?.[name] ?? 0), `${number(lang, amount)} ${name}`)),
  ];
  return [
    text(lang, "vote.requested", { list: amounts.join(" · ") }),
    ready ? "" : text(lang, "vote.not_ready"), unschedulable ? text(lang, "vote.cordoned") : "",
    ...new Set(taints.map(({ key }) => text(lang, "vote.taint", { taint: key }))),
  ].filter(Boolean);
}

export function mountWorld() {
  const root = element("ul", { class: "wall-world", "data-testid": "wall-world" });
  return {
    element: root,
    /** @param {WorldNode[] | null} all */
    render(all) {
      root.hidden = !all;
      const told = JSON.stringify(all);
      if (!all || root.dataset["told"] === told) return;
      root.dataset["told"] = told;
      root.replaceChildren(...all.map(({ name, facts, pods }) => element("li", {}, [
        element("b", {}, name), element("span", {}, facts.join(" · ")),
        element("div", { class: "wall-world-bar" }, pods.map((pod) => {
          const part = element("span", {}, pod.name);
          part.style.width = `${100 * pod.share}%`;
          part.style.setProperty("--hue", `var(--owner-${pod.hue + 1})`);
          return part;
        })),
      ])));
    },
  };
}
