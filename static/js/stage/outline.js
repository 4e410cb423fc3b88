/**
 * The field of nodes as a table for keyboard and screen reader: what the canvas shows, in words. Arrow keys move over
 * nodes as they lie on the stage; Enter selects; the pods of the focused node are buttons in its row.
 */

/** @import { Dispatch, Lang, Trial } from "../lib/types.d.ts" */
/** @import { NodeScene, Scene } from "./cycle.js" */
/** @import { Layout } from "./levels.js" */
/** @import { Glyph, Model, NodeModel } from "./model.js" */
import { setText, syncList } from "../dom/dom.js";
import { formatCpu, formatMemory } from "../lib/quantity.js";
import { refusalSentence } from "../lib/refusals.js";
import { number, text } from "../lib/text.js";
import { h } from "../dom/h.js";
import { differenceWords } from "./difference.js";
import { glyphWords } from "./glyph-words.js";
import { neighbour } from "./levels.js";
import { trialAt, trialWords } from "./trial.js";
import { troubleFate, troubleHead } from "./trouble.js";

/** Real milliseconds between updates of a large table: a reader cannot follow more, and layout costs frames. */
const SLOW_UPDATE_MS = 1_000;
/** Nodes up to which the table follows every view. */
const FAST_NODES_MAX = 60;
/** Nodes up to which every row lists its pods; above it, only the focused row does. */
const PODS_IN_ALL_ROWS_NODES_MAX = 60;

/**
 * @typedef {object} OutlineInput
 * @property {Model} model
 * @property {Layout} layout
 * @property {Scene | null} scene
 * @property {string} selectedNode
 * @property {Lang} lang
 * @property {number} epochMs
 * @property {Trial | null} trial
 */

const ARROWS = /** @type {const} */ ({ ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" });

/**
 * @param {HTMLElement} element
 * @param {Dispatch} dispatch
 * @param {(node: string) => void} onFocus "" when focus leaves
 */
export function mountOutline(element, dispatch, onFocus) {
  element.className = "st-outline";
  const caption = h("caption");
  const headRow = h("tr");
  const body = h("tbody");
  element.append(h("table", {}, caption, h("thead", {}, headRow), body));
  /** @type {OutlineInput | null} */
  let input = null;
  let focused = "";
  let paintedAt = -Infinity;
  let pending = false;
  /** @type {Map<string, {row: HTMLElement, look: unknown[]}>} */
  let rows = new Map();
  let order = "";

  listen(body, {
    layout: () => input?.layout ?? null,
    select: (resource, key) => dispatch({ type: "select", resource, key }),
    to: focusNode,
    focus: (name) => {
      if (name === focused) return;
      focused = name;
      if (input && name) paint(input);
      onFocus(name);
    },
  });

  /** @param {string} name */
  function focusNode(name) {
    const button = body.querySelector(`button[data-node="${CSS.escape(name)}"]`);
    if (button instanceof HTMLElement) button.focus({ preventScroll: true });
  }

  /**
   * @param {OutlineInput} next
   * @param {number} nowMs real
   */
  function render(next, nowMs) {
    const first = input === null || input.lang !== next.lang;
    input = next;
    if (!first && next.model.nodes.size > FAST_NODES_MAX && nowMs - paintedAt < SLOW_UPDATE_MS) {
      pending = true;
      return;
    }
    paintedAt = nowMs;
    pending = false;
    paint(next);
  }

  /**
   * Catches up with what `render` put off.
   * @param {number} nowMs real
   */
  function tick(nowMs) {
    if (!pending || !input || nowMs - paintedAt < SLOW_UPDATE_MS) return;
    paintedAt = nowMs;
    pending = false;
    paint(input);
  }

  /** @param {OutlineInput} now */
  function paint(now) {
    const { lang, model, scene } = now;
    setText(caption, text(lang, "outline.caption", { n: number(lang, model.nodes.size) }));
    const heads = ["node", "zone", "cpu", "memory", "verdict", "pods"];
    syncList(headRow, heads, (head) => head, () => h("th", { scope: "col" }), (cell, head) =>
      setText(cell, text(lang, `outline.${head}`)));
    const nodes = now.layout.tiles.flatMap((tile) => model.nodes.get(tile.name) ?? []);
    const first = nodes[0]?.name ?? "";
    const stop = focused || (model.nodes.has(now.selectedNode) ? now.selectedNode : first);
    const all = nodes.length <= PODS_IN_ALL_ROWS_NODES_MAX;
    // The rows are found by their places only where these have changed: a thousand of them are not asked for in vain.
    const places = nodes.map((node) => node.name).join();
    if (places !== order) {
      order = places;
      /** @type {typeof rows} */
      const fresh = new Map();
      syncList(body, nodes, (node) => node.name, createRow, (row, { name }) => fresh.set(name, rows.get(name) ?? { row, look: [] }));
      rows = fresh;
    }
    for (const node of nodes) {
      const known = rows.get(node.name);
      if (!known) continue;
      const told = scene?.nodes.get(node.name) ?? null;
      const options = {
        say: model.say, lang, epochMs: now.epochMs, reachable: node.name === stop, pods: all || node.name === focused, selected: node.name === now.selectedNode, trial: now.trial,
      };
      const look = [node, told?.feasible, told?.reason, told?.details, told?.segments.length, told?.total, told?.tied, told?.winner, ...Object.values(options)];
      if (look.length === known.look.length && known.look.every((value, index) => value === look[index])) continue;
      known.look = look;
      updateRow(known.row, node, told, options);
    }
  }

  return { render, tick, focusNode, waits: () => pending };
}

/**
 * Keys, focus and clicks on the rows.
 * @param {HTMLElement} body
 * @param {object} on
 * @param {() => Layout | null} on.layout
 * @param {(resource: "pods" | "nodes", key: string) => void} on.select
 * @param {(node: string) => void} on.to moves the focus
 * @param {(node: string) => void} on.focus the focus is there now; "" when it leaves
 */
function listen(body, on) {
  const at = (/** @type {Event} */ event) => /** @type {HTMLElement} */ (event.target);
  body.addEventListener("keydown", (event) => {
    const row = at(event).closest("button")?.closest("tr");
    const layout = on.layout();
    if (!row || !layout) return;
    const direction = ARROWS[/** @type {keyof typeof ARROWS} */ (event.key)];
    if (direction || event.key === "Home" || event.key === "End") {
      event.preventDefault();
      const end = layout.tiles.at(event.key === "Home" ? 0 : -1)?.name ?? "";
      on.to(direction ? neighbour(layout, row.dataset["key"] ?? "", direction) : end);
    }
  });
  body.addEventListener("focusin", (event) => on.focus(at(event).closest("tr")?.dataset["key"] ?? ""));
  body.addEventListener("focusout", (event) => {
    if (!body.contains(/** @type {Node | null} */ (event.relatedTarget))) on.focus("");
  });
  body.addEventListener("click", (event) => {
    const { pod, node } = at(event).closest("button")?.dataset ?? {};
    if (pod) on.select("pods", pod);
    else if (node) on.select("nodes", node);
  });
}

/** @param {NodeModel} node */
function createRow(node) {
  return h("tr", {}, h("th", { scope: "row" }, h("button", { type: "button", "data-node": node.name, text: node.name })),
    h("td"), h("td"), h("td"), h("td"), h("td", {}, h("ul")));
}

/**
 * @param {HTMLElement} row
 * @param {NodeModel} node
 * @param {NodeScene | null} scene
 * @param {{lang: Lang, epochMs: number, reachable: boolean, pods: boolean, selected: boolean, say: (key: string) => string, trial: Trial | null}} options
 */
function updateRow(row, node, scene, { lang, epochMs, reachable, pods, selected, say, trial }) {
  const [name, zone, cpu, memory, verdict, list] = /** @type {HTMLElement[]} */ ([...row.children]);
  if (!name || !zone || !cpu || !memory || !verdict || !list) return;
  const button = /** @type {HTMLElement} */ (name.firstElementChild);
  const tabIndex = reachable ? 0 : -1;
  if (button.tabIndex !== tabIndex) button.tabIndex = tabIndex;
  button.setAttribute("aria-pressed", String(selected));
  setText(zone, node.zone);
  const used = (/** @type {string} */ amount) => (node.usage ? `, ${text(lang, "outline.used", { amount })}` : "");
  setText(cpu, `${formatCpu(node.cpuUsed)} / ${formatCpu(node.cpuMilli)}${used(formatCpu(node.usage?.cpu ?? 0))}`);
  setText(memory, `${formatMemory(node.memoryUsed)} / ${formatMemory(node.memoryBytes)}${used(formatMemory(node.usage?.memory ?? 0))}`);
  const turned = trialAt(trial, node.name);
  setText(verdict, [verdictText(node, scene, { lang, epochMs, say }), trial && turned ? trialWords(trial, turned, lang) : ""].filter(Boolean).join("; "));
  const shown = pods ? node.glyphs : [];
  syncList(/** @type {HTMLElement} */ (list.firstElementChild), shown, (glyph) => glyph.key, () =>
    h("li", {}, h("button", { type: "button" })), (item, glyph) => updatePod(item, glyph, tabIndex, lang));
  if (!pods) list.title = text(lang, "outline.podCount", { n: node.podCount });
}

/**
 * @param {HTMLElement} item
 * @param {Glyph} glyph
 * @param {number} tabIndex
 * @param {Lang} lang
 */
function updatePod(item, glyph, tabIndex, lang) {
  const button = /** @type {HTMLElement} */ (item.firstElementChild);
  button.dataset["pod"] = glyph.key;
  if (button.tabIndex !== tabIndex) button.tabIndex = tabIndex;
  const { state, old, reason, mark } = glyphWords(glyph, lang);
  setText(button, [glyph.spoken, state, old, reason, mark].filter(Boolean).join(", "));
}

/**
 * @param {NodeModel} node
 * @param {NodeScene | null} scene
 * @param {{lang: Lang, epochMs: number, say: (key: string) => string}} how
 */
function verdictText(node, scene, { lang, epochMs, say }) {
  const words = [];
  const { trouble, difference } = node;
  if (difference) words.push(differenceWords(difference, lang));
  // Not what is left until then: a table that counts seconds cannot be listened to.
  if (trouble) words.push(troubleHead({ ...trouble, sinceMs: null }, 0, lang), troubleFate(trouble, null, epochMs, lang));
  if (node.unschedulable) words.push("SchedulingDisabled");
  for (const taint of node.taints) words.push(`${taint.key}${taint.value ? `=${taint.value}` : ""}:${taint.effect}`);
  if (scene?.feasible === false) words.push(...[scene.reason, refusalSentence(scene.details, lang, say)].filter(Boolean));
  else if (scene?.feasible) {
    words.push(scene.segments.length > 0 ? `${scene.total} ${text(lang, "stage.pts")}` : text(lang, "stage.feasible"));
    if (scene.winner) words.push(text(lang, "stage.winner"));
    else if (scene.tied) words.push(text(lang, "stage.tie"));
  }
  return words.filter(Boolean).join("; ");
}
