/** The scheduling queue as lanes: active, backoff, unschedulable, gated, and Permit's waiting room. */

/** @import { Dispatch, Lang } from "../lib/types.d.ts" */
/** @import { Colours } from "../dom/colours.js" */
/** @import { Lane, LaneGroup, LaneRow } from "./lanes-model.js" */
import { podEnding } from "./pen.js";
/** @import { Glyph } from "./model.js" */
import { number, text } from "../lib/text.js";
import { keepFocus, setAttribute, setText, syncList } from "../dom/dom.js";
import { h, icon, ring, setRing } from "../dom/h.js";
import { glyphElement } from "./glyphs.js";
import { eventNames } from "../lib/sentences.js";
import { PRIORITY_SORT, asAbove, groupKey, movedWords, pageOf, rejection } from "./lanes-model.js";

const LANE_ICONS = { active: "layers", backoff: "clock", unschedulable: "ban", gated: "lock", permit: "users" };

/** Waking events named in a row; its title has all of them. */
const WAKES_SHOWN = 3;

/**
 * @typedef {object} LanesInput
 * @property {readonly Lane[]} lanes
 * @property {(key: string) => Glyph | null} glyphOf
 * @property {(key: string) => string} say a pod's name as it is said
 * @property {string} sort the plugin that orders the active queue
 * @property {string} selectedPod
 * @property {Colours} colours
 * @property {Lang} lang
 * @property {string} fresh what becomes of pods that no queue has taken in yet, where that is not in a moment; else ""
 * @property {string} refused why this person may not allow or reject; "" where they may
 */

/**
 * Whether rows lead the keyboard through what may be longer than its place; where there is none, it is scrolled itself.
 * @param {readonly Lane[]} lanes
 */
function leads(lanes) {
  return lanes.some(({ rows, groups }) => rows.length + groups.length > 0);
}

/**
 * @param {HTMLElement} element
 * @param {Dispatch} dispatch
 */
export function mountLanes(element, dispatch) {
  element.className = "st-lanes";
  /** @type {LaneRow[]} */
  let counting = [];
  /** @type {Map<string, {page: number, open: string}>} what somebody has turned to, by lane */
  const turned = new Map();
  /** @type {LanesInput | null} */
  let last = null;

  /** @param {LanesInput} input */
  function render(input) {
    last = input;
    counting = input.lanes.flatMap((lane) => lane.rows.filter((row) => row.readyAtMs > 0));
    syncList(element, input.lanes, (lane) => lane.name, createLane, (section, lane) => updateLane(section, lane, input));
    setAttribute(element, "tabindex", leads(input.lanes) ? null : "0");
  }

  /**
   * Moves the countdowns on; everything else waits for the next view.
   * @param {number} nowMs simulated
   * @param {Lang} lang
   */
  function tick(nowMs, lang) {
    for (const row of counting) {
      const line = element.querySelector(`[data-counting="${CSS.escape(row.key)}"]`);
      if (!line) continue;
      const left = Math.max(0, row.readyAtMs - nowMs);
      const circle = line.querySelector(".st-ring");
      if (circle) setRing(circle, row.spanMs > 0 ? left / row.spanMs : 0);
      const words = line.querySelector(".st-row-value");
      if (words) setText(words, text(lang, "stage.seconds", { n: (left / 1000).toFixed(1) }));
      row.holds.forEach((hold, index) => {
        const timer = line.parentElement?.querySelectorAll(".st-hold-timer")[index];
        const seconds = Math.max(0, hold.untilMs - nowMs) / 1000;
        if (timer) setText(timer, text(lang, "stage.seconds", { n: seconds.toFixed(1) }));
      });
    }
  }

  /** @param {Lane} lane */
  function createLane(lane) {
    const header = h("header", { class: "st-lane-head" }, icon(LANE_ICONS[lane.name], 13),
      h("h2", { class: "st-lane-name" }), h("span", { class: "st-lane-count" }),
      h("span", { class: "st-lane-means" }));
    return h("section", { class: "st-lane", "data-testid": `queue-lane-${lane.name}` }, header,
      h("ul", { class: "st-lane-rows" }), pager((by) => turn(lane.name, by, undefined)), h("p", { class: "st-lane-note" }));
  }

  /**
   * @param {Lane["name"]} name
   * @param {number} by pages
   * @param {string} [open] key of the group to open, "" for none; undefined as it is
   */
  function turn(name, by, open) {
    const at = turned.get(name) ?? { page: 0, open: "" };
    turned.set(name, open === undefined ? { ...at, page: at.page + by } : { page: 0, open });
    if (last) render(last);
  }

  /**
   * @param {HTMLElement} section
   * @param {Lane} lane
   * @param {LanesInput} input
   */
  function updateLane(section, lane, input) {
    const { lang } = input;
    const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (section.querySelector(`.st-lane-${name}`));
    setText(part("name"), text(lang, `lane.${lane.name}`));
    setText(part("count"), number(lang, lane.count));
    setText(part("means"), meaning(lane, input));
    section.setAttribute("aria-label", `${text(lang, `lane.${lane.name}`)}, ${lane.count}`);
    const shown = pageOf(lane, turned.get(lane.name) ?? { page: 0, open: "" });
    turned.set(lane.name, { page: shown.page, open: shown.open ? groupKey(shown.open) : "" });
    section.dataset["empty"] = String(shown.items.length === 0);
    const most = Math.max(1, ...lane.groups.map((group) => group.count));
    updatePager(section, shown, lang);
    const same = lane.name === "unschedulable" ? asAbove(shown.items) : new Set();
    syncList(part("rows"), shown.items, rowKey, () => h("li", { class: "st-row-item" }), (item, row) => {
      if ("count" in row) updateGroup(item, row, most, lang, row === shown.open, () =>
        turn(lane.name, 0, item.dataset["open"] === "true" ? "" : groupKey(row)));
      else updateRow(item, row, lane, input, dispatch, shown.open !== null ? "group" : same.has(row.key) ? "above" : "");
    });
    const partial = lane.listed < lane.count;
    const waits = lane.rows.some((row) => row.state === "unseen" && !row.asks);
    setText(part("note"), [
      partial ? text(lang, "lane.partial", { n: number(lang, lane.listed), of: number(lang, lane.count) }) : "",
      waits ? input.fresh : "",
    ].join(" ").trim());
  }

  return { render, tick, rowOf: (/** @type {string} */ key) => rowOf(element, key) };
}

/**
 * Where a pod's row is, for a flight to start from; null while it is not listed.
 * @param {HTMLElement} element of the lanes
 * @param {string} key
 */
function rowOf(element, key) {
  const row = element.querySelector(`[data-pod="${CSS.escape(key)}"]`);
  const lane = row?.closest(".st-lane") ?? element.querySelector('[data-testid="queue-lane-active"]');
  // On a wall lanes are counts, and empty ones are not there.
  return [row, lane].find((one) => one && one.getClientRects().length > 0) ?? null;
}

/**
 * @param {HTMLElement} item
 * @param {LaneRow} row
 * @param {Lane} lane
 * @param {LanesInput} input
 * @param {Dispatch} dispatch
 * @param {"group" | "above" | ""} told what says already why it waits: its group, or the row above
 */
function updateRow(item, row, lane, input, dispatch, told) {
  const { lang } = input;
  const glyph = input.glyphOf(row.key);
  const name = input.say(row.key);
  const look = `${told} ${row.state} ${lane.name} ${lang} ${name} ${row.priority} ${row.plugin} ${row.message} `
    + `${row.wakes.join()} ${row.movedBy} ${row.asks} ${row.holds.map((hold) => hold.name).join()} ${input.refused} ${glyph?.hue} ${glyph?.state} ${input.colours.key} ${input.sort}`;
  if (item.dataset["look"] !== look) {
    item.dataset["look"] = look;
    const holds = row.holds.map((hold) => holdLine(row, hold.name, name, input, dispatch));
    keepFocus(item, () => item.replaceChildren(rowButton(row, lane, name, glyph, input, dispatch), ...(told === "group" ? [] : told === "above" ? [
      h("p", { class: "st-row-why", title: row.message, text: text(lang, "lane.same") }),
    ] : rowDetails(row, lane, lang)), ...holds));
  }
  item.querySelector("button")?.setAttribute("aria-pressed", String(row.key === input.selectedPod));
}

/**
 * @param {LaneRow} row
 * @param {Lane} lane
 * @param {string} name
 * @param {Glyph | null} glyph
 * @param {LanesInput} input
 * @param {Dispatch} dispatch
 */
function rowButton(row, lane, name, glyph, { lang, colours, sort }, dispatch) {
  const hand = row.state === "hand";
  const state = row.state === "assumed" ? "assumed" : row.state === "gated" ? "gated" : "queued";
  const drawing = glyphElement({ state, hue: glyph?.hue ?? 4, ring: glyph?.ring ?? false }, 12, colours);
  const unordered = lane.name === "active" && sort !== PRIORITY_SORT;
  const value = lane.name === "gated" ? row.message.replace(/^waiting for scheduling gates: /, "") || row.plugin
    : row.readyAtMs > 0 || unordered ? "" : row.priority === null ? "" : number(lang, row.priority);
  const label = hand ? text(lang, "lane.inHand", { pod: name }) : name;
  return h("button", {
    type: "button", class: `st-row st-row-${row.state}`, "data-pod": row.key, title: row.key,
    "data-counting": row.readyAtMs > 0 ? row.key : undefined,
    onclick: () => dispatch({ type: "select", resource: "pods", key: row.key }),
  }, hand ? null : drawing, rowName(label, name),
  row.readyAtMs > 0 ? ring(1) : null, h("span", { class: "st-row-value", text: value }));
}

/**
 * A pod's name and what is said after it; where the name is too long its end stays, which tells it from others. Told as
 * one: a name in two boxes would be read as two words.
 * @param {string} label
 * @param {string} name with which the label begins
 */
function rowName(label, name) {
  const end = podEnding(name);
  if (!end || !label.startsWith(name)) return h("span", { class: "st-row-name", text: label });
  const at = name.length - end.length;
  return h("span", { class: "st-row-name st-row-parts", role: "img", "aria-label": label },
    h("span", { text: label.slice(0, at) }), h("span", { text: label.slice(at) }));
}

/**
 * One plugin that holds a pod at Permit: its timer, and the two words that end the wait.
 * @param {LaneRow} row
 * @param {string} plugin
 * @param {string} pod
 * @param {LanesInput} input
 * @param {Dispatch} dispatch
 */
function holdLine(row, plugin, pod, { lang, refused }, dispatch) {
  const button = (/** @type {"allow" | "reject"} */ verdict) => h("button", {
    type: "button", class: `st-hold-${verdict}`, "data-testid": `permit-${verdict}`, text: text(lang, `hold.${verdict}`),
    "aria-label": text(lang, `hold.${verdict}.of`, { pod, plugin }), "aria-disabled": refused ? "true" : undefined,
    title: refused || undefined,
    onclick: () => dispatch({ type: "judge", uid: row.uid, plugin, verdict }),
  });
  return h("p", { class: "st-hold" }, h("b", { text: plugin, title: plugin }), h("span", { class: "st-hold-timer" }),
    button("allow"), button("reject"));
}

/** @param {LaneRow | LaneGroup} row */
function rowKey(row) {
  return "count" in row ? groupKey(row) : row.key;
}

/**
 * The way to the other pages of a lane.
 * @param {(by: 1 | -1) => void} turn
 */
function pager(turn) {
  const button = (/** @type {1 | -1} */ by) => h("button", { type: "button", class: "st-pager-turn", "data-by": String(by),
    onclick: () => turn(by) }, icon("chevron", 12));
  const line = h("p", { class: "st-pager" }, button(-1), h("span"), button(1));
  line.hidden = true;
  return line;
}

/**
 * @param {HTMLElement} section
 * @param {{page: number, pages: number}} at
 * @param {Lang} lang
 */
function updatePager(section, { page, pages }, lang) {
  const line = /** @type {HTMLElement} */ (section.querySelector(".st-pager"));
  line.hidden = pages <= 1;
  const words = line.querySelector("span");
  if (words) setText(words, text(lang, "lane.page", { n: number(lang, page + 1), of: number(lang, pages) }));
  for (const button of line.querySelectorAll("button")) {
    const back = button.dataset["by"] === "-1";
    button.setAttribute("aria-label", text(lang, back ? "decision.previous" : "decision.next"));
    button.disabled = back ? page === 0 : page === pages - 1;
  }
}

/**
 * What the numbers at the right of a lane mean.
 * @param {Lane} lane
 * @param {LanesInput} input
 */
function meaning(lane, { lang, sort }) {
  if (lane.count === 0 && lane.rows.length === 0) return "";
  const label = lane.groups[0]?.label;
  if (label === "reason" || label === "owner") return text(lang, `lane.by.${label}`);
  if (label) return text(lang, `lane.${lane.name}.by`);
  if (lane.name !== "active" || sort === PRIORITY_SORT) return text(lang, `lane.${lane.name}.means`);
  return sort === "FIFO" ? text(lang, "lane.active.fifo") : text(lang, "lane.active.sorted", { plugin: sort });
}

/**
 * What put a pod into its lane, where that is more than its creation.
 * @param {LaneRow} row
 * @param {Lang} lang
 */
function movedLine(row, lang) {
  if (!row.movedBy || row.state === "hand") return [];
  const { key, event } = movedWords(row.movedBy);
  return [h("p", { class: "st-row-why", title: row.movedBy, text: text(lang, key, { event }) })];
}

/**
 * Why a pod waits, in the scheduler's words, and what will wake it.
 * @param {LaneRow} row
 * @param {Lane} lane
 * @param {Lang} lang
 */
function rowDetails(row, lane, lang) {
  if (row.asks) return [h("p", { class: "st-row-why", text: text(lang, "lane.asks", { name: row.asks }) })];
  if (lane.name === "active" || lane.name === "backoff") return movedLine(row, lang);
  if (lane.name !== "unschedulable") return [];
  const said = rejection(row, lang);
  if (!said) return [];
  const why = h("p", { class: "st-row-why", title: row.message }, h("b", { text: row.plugin }), text(lang, "lane.rejected", { said }));
  const events = eventNames(row.wakes);
  const more = events.length > WAKES_SHOWN ? ` +${events.length - WAKES_SHOWN}` : "";
  const shown = events.slice(0, WAKES_SHOWN).join(", ") + more;
  const wakes = events.length > 0 ? h("p", {
    class: "st-row-why st-row-wakes", title: events.join(", "), text: text(lang, "lane.wakes", { events: shown }),
  }) : null;
  return wakes ? [why, wakes] : [why];
}

/**
 * @param {HTMLElement} item
 * @param {LaneGroup} group
 * @param {number} most
 * @param {Lang} lang
 * @param {boolean} open whether its pods are listed below it
 * @param {() => void} toggle
 */
function updateGroup(item, group, most, lang, open, toggle) {
  if (!item.firstElementChild) {
    item.append(h("button", { type: "button", class: "st-group", "data-testid": "lane-group", onclick: () => toggle() },
      h("span", { class: "st-group-name" }), h("span", { class: "st-group-bar" }, h("span")), h("span", { class: "st-row-value" })));
  }
  item.dataset["open"] = String(open);
  const button = /** @type {HTMLElement} */ (item.firstElementChild);
  button.setAttribute("aria-expanded", String(open));
  button.dataset["label"] = group.label;
  const values = Object.fromEntries(Object.entries(group.values).map(([name, value]) =>
    [name, typeof value === "number" ? number(lang, value) : value]));
  const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (item.querySelector(name));
  setText(part(".st-group-name"), text(lang, `group.${group.label}`, values));
  button.title = text(lang, `group.${group.label}`, values);
  part(".st-group-bar > span").style.width = `${Math.round((100 * group.count) / most)}%`;
  setText(part(".st-row-value"), text(lang, "group.times", { n: number(lang, group.count) }));
}
