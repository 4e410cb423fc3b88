/** The legend: what a glyph's shape and hue mean, how the detail was chosen, and what hues stand for. */

/** @import { Dispatch, Lang, Trial, Ui } from "../lib/types.d.ts" */
/** @import { Colours } from "../dom/colours.js" */
/** @import { Scene, Segment } from "./cycle.js" */
/** @import { Layout } from "./levels.js" */
/** @import { Group } from "../state/groups.js" */
/** @import { Glyph } from "./model.js" */
import { HEAT_STEPS } from "../dom/colours.js";
import { keepFocus, setText, syncList } from "../dom/dom.js";
import { number, text } from "../lib/text.js";
import { h, icon } from "../dom/h.js";
import { glyphElement } from "./glyphs.js";

const STATES = ["queued", "assumed", "bound", "pulling", "running", "terminating", "nominated", "victim", "gated",
  "failed"];
const COLOURS_BY = /** @type {const} */ (["owner", "priority", "namespace", "person"]);
/** Groups named in the legend; the rest are a number, and each pod says its own in the inspector. */
const GROUPS_SHOWN = 7;

/**
 * @param {HTMLElement} element
 * @param {Dispatch} dispatch
 */
export function mountLegend(element, dispatch) {
  element.className = "st-legend";
  const states = h("ul", { class: "st-legend-list" });
  const groups = h("ul", { class: "st-legend-list" });
  const stateTitle = h("b");
  const colourTitle = h("b");
  const rest = h("span", { class: "st-legend-rest", "data-testid": "legend-rest", hidden: true });
  const detail = h("span", { class: "st-legend-side", "data-testid": "stage-detail" });
  const by = h("span", { class: "st-legend-side st-legend-by" });
  const choices = COLOURS_BY.map((name) =>
    h("button", { type: "button", "data-by": name, onclick: () => dispatch({ type: "colourBy", by: name }) }));
  // A laptop's window shows one line of it, and the rest on request.
  const more = h("button", { type: "button", class: "st-legend-more", "data-testid": "legend-more", onclick: () => {
    element.dataset["open"] = String(element.dataset["open"] !== "true");
    more.setAttribute("aria-expanded", element.dataset["open"]);
  } });
  more.setAttribute("aria-expanded", "false");
  element.append(h("div", { class: "st-legend-row" }, stateTitle, states),
    h("div", { class: "st-legend-row" }, colourTitle, groups, rest, detail, by), more);
  let look = "";
  let shown = { used: /** @type {readonly Group[]} */ ([]), lang: /** @type {Lang} */ ("en") };

  /** @param {{groups: readonly Group[], aged: boolean, pods: ReadonlyMap<string, Glyph>, layout: Layout, ui: Ui, colours: Colours, scene: Scene | null,
   *   trial?: Trial | null, compares?: boolean}} input `compares`: a held moment and now are on the nodes together */
  function render({ groups: used, aged, pods, layout, ui, colours, scene, trial = null, compares = false }) {
    const { lang } = ui;
    const present = statesOf(pods);
    const plugins = scoring(scene);
    const range = plugins.length && layout.level >= 4 ? scene?.range ?? null : null;
    const next = `${lang} ${colours.key} ${ui.colourBy} ${layout.level} ${layout.wide} ${layout.inView} ${[...present].join()} `
      + `${plugins.map(({ plugin }) => plugin).join()} ${range?.from} ${range?.to} ${aged} ${trial?.last} ${compares} `
      + used.map((group) => `${group.key}:${group.label}:${group.number}`).join(" ");
    if (next === look) return;
    look = next;
    setText(stateTitle, text(lang, plugins.length ? "legend.plugins" : "legend.state"));
    setText(colourTitle, text(lang, "legend.colour"));
    const sign = (/** @type {string} */ state, /** @type {string} */ said, /** @type {boolean} */ there, old = false) =>
      h("li", { "data-present": String(there) }, glyphElement({ state, hue: 0, ring: false, old }, 13, colours), h("span", { text: said }));
    const usage = h("li", { class: "st-legend-usage" }, h("i", { class: "st-usage-sign", "aria-hidden": "true" }), h("span", { text: text(lang, "legend.usage") }));
    states.replaceChildren(...(trial ? trialItems(trial, lang) : []), ...(range ? rangeItems(range, lang) : plugins.length ? plugins.map(pluginItem) : layout.wide ? evictionItems(colours, lang) : [
      ...(aged ? [sign("running", text(lang, "pod.old"), true, true)] : []),
      ...(compares ? differenceItems(colours, lang) : used.length && layout.level < 4 ? [usage] : []),
      ...STATES.map((state) => sign(state, text(lang, `state.${state}`), present.has(state))),
    ]));
    setText(more, text(lang, "legend.all"));
    const named = used.slice(0, GROUPS_SHOWN);
    syncList(groups, named, (group) => group.key, () => h("li"), (item, group) => {
      item.dataset["hue"] = String(group.hue);
      item.replaceChildren(glyphElement({ state: "running", hue: group.hue, ring: group.ring }, 10, colours),
        h("span", { text: group.label || text(lang, "legend.nobody") }));
    });
    shown = { used, lang };
    requestAnimationFrame(count);
    detail.replaceChildren(icon("search", 13), h("span", { text: detailText(layout, lang) }));
    keepFocus(by, () => by.replaceChildren(text(lang, "legend.by"), " ", ...choices.flatMap((button, index) => {
      const name = COLOURS_BY[index];
      setText(button, text(lang, `legend.by.${name}`));
      button.setAttribute("aria-pressed", String(ui.colourBy === name));
      return index === 0 ? [button] : [" · ", button];
    })));
  }

  /** Says how many groups have found no room: whole names only are shown, and none is left out in silence. */
  function count() {
    const top = /** @type {HTMLElement | null} */ (groups.firstElementChild)?.offsetTop ?? 0;
    const seen = [...groups.children].filter((item) => /** @type {HTMLElement} */ (item).offsetTop === top).length;
    const left = shown.used.slice(seen);
    rest.hidden = left.length === 0;
    setText(rest, text(shown.lang, "legend.more", { n: left.length }));
    rest.title = left.map(({ label }) => label || text(shown.lang, "legend.nobody")).join(", ");
  }

  // In a frame of its own: what it shows changes the room that is observed.
  new ResizeObserver(() => requestAnimationFrame(count)).observe(groups);
  return { render };
}

/** @type {WeakMap<ReadonlyMap<string, Glyph>, ReadonlySet<string>>} */
const statesMemory = new WeakMap();

/**
 * The states that some pod is in now.
 * @param {ReadonlyMap<string, Glyph>} pods the same map while nothing has changed
 * @returns {ReadonlySet<string>}
 */
export function statesOf(pods) {
  let found = statesMemory.get(pods);
  if (!found) {
    const all = new Set();
    let last;
    for (const { state } of pods.values()) if (state !== last) all.add((last = state));
    found = new Set(STATES.filter((state) => all.has(state)));
    statesMemory.set(pods, found);
  }
  return found;
}

/**
 * The plugins whose points are on the nodes while a cycle runs, in their order.
 * @param {Scene | null} scene
 * @returns {readonly Segment[]}
 */
export function scoring(scene) {
  if (!scene || scene.over) return [];
  return [...scene.nodes.values()].find(({ segments }) => segments.length > 0)?.segments ?? [];
}

/**
 * What a what-if writes on the nodes.
 * @param {Trial} trial
 * @param {Lang} lang
 */
function trialItems({ last }, lang) {
  return [
    h("li", {}, h("i", { class: "st-trial-sign", "aria-hidden": "true", text: "+2" }), h("span", { text: last
      ? text(lang, "trial.legendLast", { n: number(lang, last) }) : text(lang, "trial.legend") })),
    h("li", {}, h("i", { class: "st-trial-frame", "aria-hidden": "true" }), h("span", { text: text(lang, last ? "trial.gains" : "trial.would") })),
  ];
}

/**
 * What a cell's colour says of its total, and the others' signs.
 * @param {{from: number, to: number}} range
 * @param {Lang} lang
 */
function rangeItems({ from, to }, lang) {
  return [
    h("li", { "data-testid": "legend-range" }, from < to ? h("span", { text: number(lang, from) }) : null,
      h("i", { class: "st-heat-sign", "aria-hidden": "true" }, ...Array.from({ length: from < to ? HEAT_STEPS : 1 }, () => h("b"))),
      h("span", { text: number(lang, to) })),
    h("li", {}, h("i", { class: "st-refused-sign", "aria-hidden": "true" }), h("span", { text: text(lang, "trial.refused") })),
    h("li", {}, h("i", { class: "st-tie-sign", "aria-hidden": "true" }), h("span", { text: text(lang, "stage.tie") })),
  ];
}

/**
 * What stands on the nodes in the scene of a preemption.
 * @param {Colours} colours
 * @param {Lang} lang
 */
function evictionItems(colours, lang) {
  const fate = (/** @type {string} */ state, /** @type {string} */ said) =>
    h("li", {}, glyphElement({ state, hue: 0, ring: false }, 13, colours), h("span", { text: text(lang, said) }));
  const frame = (/** @type {string} */ sign, /** @type {string} */ said) =>
    h("li", {}, h("i", { class: sign, "aria-hidden": "true" }), h("span", { text: text(lang, said) }));
  return [
    h("li", {}, h("b", { text: "100" }), h("span", { text: text(lang, "legend.priority") })),
    fate("victim", "state.victim"), fate("reprieved", "fates.reprieved"),
    h("li", {}, icon("shield", 13), h("span", { text: text(lang, "legend.breaksBudget") })), fate("nominated", "state.nominated"),
    frame("st-trial-frame", "stage.candidate"), frame("st-tie-sign", "stage.chosenNode"), frame("st-refused-sign", "legend.cannotHelp"),
  ];
}

/**
 * What is drawn of a held moment and now together.
 * @param {Colours} colours
 * @param {Lang} lang
 */
function differenceItems(colours, lang) {
  return [h("li", {}, h("i", { class: "st-then-sign", "aria-hidden": "true" }), h("span", { text: text(lang, "legend.thenNow") })),
    .../** @type {const} */ (["came", "changed", "gone"]).map((mark) => h("li", {},
      glyphElement({ state: "running", hue: 4, ring: false, mark }, 13, colours), h("span", { text: text(lang, `mark.${mark}`) })))];
}

/** @param {Segment} segment */
function pluginItem({ plugin, look }) {
  return h("li", {}, h("i", { class: "plugin-swatch", "data-hue": look.hue, "data-again": look.again || undefined }),
    h("span", { text: plugin }));
}

/**
 * The rule of detail in a few words.
 * @param {Layout} layout
 * @param {Lang} lang
 */
export function detailText(layout, lang) {
  return text(lang, "legend.detail", { n: number(lang, layout.inView), what: text(lang, `level.${layout.level}.short`) });
}
