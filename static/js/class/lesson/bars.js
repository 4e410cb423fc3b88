/** A question's stage as bars, in the place of lanes and tiles: touching a node or a pod chooses it, as on the stage. */

/** @import { Dispatch } from "../../lib/types.d.ts" */
/** @import { Input } from "../poll/ballot.js" */
/** @import { BarNode, BarPod, Bars } from "./bars-model.js" */
import { element, icon, keepFocus, setAttribute } from "../../dom/dom.js";
import { formatCpu } from "../../lib/quantity.js";
import { number, text } from "../../lib/text.js";
import { barsOf } from "./bars-model.js";

/** The share of a laptop's scale below which a pod has no room for its facts beside one another. */
const NARROW = 0.25;

/** @param {Dispatch} dispatch */
export function mountBars(dispatch) {
  const root = element("section", { class: "lesson-bars", "data-testid": "lesson-bars" });
  let drawn = "";
  return {
    /** @param {Input | null} input null: nothing is asked on this page */
    render(input) {
      const body = document.querySelector("#stage > .st-body");
      const bars = input && body ? barsOf(input.view, input.state, input.ui.colourBy) : null;
      document.body.classList.toggle("has-bars", bars !== null);
      if (!bars || !input || !body) return void root.remove();
      if (root.nextElementSibling !== body) body.before(root);
      const now = JSON.stringify([bars, input.ui.lang]);
      if (now === drawn) return;
      drawn = now;
      setAttribute(root, "aria-label", text(input.ui.lang, "lesson.bars"));
      keepFocus(root, () => root.replaceChildren(lanes(bars, input.ui.lang), hand(bars, input.ui.lang),
        element("ul", { class: "lesson-bar-nodes" }, bars.nodes.map((node) => nodeRow(node, bars, input.ui.lang, dispatch))), axis(bars)));
    },
  };
}

/** @typedef {import("../../lib/types.d.ts").Lang} Lang */

/** @param {Bars} bars @param {Lang} lang */
function lanes({ pod, lanes: all }, lang) {
  return element("p", { class: "lesson-bar-lanes" }, [
    element("span", { class: "chip accent" }, text(lang, "lane.inHand", { pod: pod.name })),
    ...all.map(({ name, count }) => element("span", { class: "chip" }, `${text(lang, `lane.${name}`)} ${number(lang, count)}`)),
  ]);
}

/** @param {Bars} bars @param {Lang} lang */
function hand({ replica, pod }, lang) {
  return element("div", { class: "lesson-bar-hand" }, [
    element("p", {}, [icon("crown"), element("span", {}, text(lang, "lesson.bars_waits", { replica, pod: pod.name }))]),
    element("div", { class: "lesson-bar-scale" }, podBox(pod, lang, null)),
  ]);
}

/**
 * @param {BarNode} node
 * @param {Bars} bars
 * @param {Lang} lang
 * @param {Dispatch} dispatch
 */
function nodeRow(node, { cpu }, lang, dispatch) {
  const used = text(lang, "lesson.bars_used", { used: formatCpu(node.used), of: formatCpu(node.cpu) });
  const scale = element("div", { class: "lesson-bar-scale" }, node.pods.map((pod) => podBox(pod, lang, dispatch)));
  scale.style.width = `${100 * node.cpu / cpu}%`;
  return element("li", { class: node.voted ? "voted" : "", "data-node": node.name }, [
    element("button", { type: "button", class: "lesson-bar-node", "data-at": `node ${node.name}`, onclick: () => dispatch({ type: "select", resource: "nodes", key: node.name }) }, [
      element("b", {}, node.name), element("span", {}, used), node.voted ? element("span", { class: "chip accent" }, text(lang, "vote.mark")) : null,
      element("span", { class: "lesson-bar-free" }, text(lang, "vote.cpu_free", { amount: formatCpu(Math.max(0, node.cpu - node.used)) })),
    ]),
    scale,
  ]);
}

/**
 * @param {BarPod} pod
 * @param {Lang} lang
 * @param {Dispatch | null} dispatch null: it is in hand, and looked at already
 */
function podBox({ key, name, cpu, share, hue, priority, guard }, lang, dispatch) {
  const facts = [element("i", { "aria-hidden": "true" }), element("b", {}, guard ? [name, icon("shield")] : name),
    element("small", {}, [text(lang, "vote.priority", { priority: number(lang, priority) }), guard].filter(Boolean).join(" · ")), element("small", { class: "lesson-bar-cpu" }, `${formatCpu(cpu)} CPU`)];
  const look = share < NARROW ? "lesson-bar-pod narrow" : "lesson-bar-pod";
  const box = dispatch
    ? element("button", { type: "button", class: look, "data-at": key, onclick: () => dispatch({ type: "select", resource: "pods", key }) }, facts)
    : element("div", { class: `${look} in-hand` }, facts);
  box.style.setProperty("--share", String(share));
  box.style.setProperty("--hue", `var(--owner-${hue + 1})`);
  return box;
}

/** @param {Bars} bars */
function axis({ cpu }) {
  const most = Math.floor(cpu / 1000);
  const marks = Array.from({ length: Math.min(most, 8) + 1 }, (_, n) => (n * most) / Math.min(most, 8));
  return element("ol", { class: "lesson-bar-axis", "aria-hidden": "true" }, marks.map((at) => {
    const mark = element("li", {}, at === 0 || at === most ? `${at} CPU` : String(at));
    mark.style.left = `${(100 * 1000 * at) / cpu}%`;
    return mark;
  }));
}
