/** The scheduler replicas: the leader with its crown, lease and the pod in hand; standbys; bindings under way. */

/** @import { Cycle, Dispatch, Lang, QueueStatus, ReplicaSlim, View } from "../lib/types.d.ts" */
/** @import { Colours } from "../dom/colours.js" */
/** @import { Scene } from "./cycle.js" */
/** @import { Glyph, Model } from "./model.js" */
import { formatAsked } from "../lib/quantity.js";
import { counted, number, text } from "../lib/text.js";
import { leaseSeen, podRequests, replicas } from "../state/selectors.js";
import { crashedSchedulers } from "../state/undecided.js";
import { breakable, keepFocus, setAttribute, setText, syncList } from "../dom/dom.js";
import { h, icon, ring, setRing } from "../dom/h.js";
import { glyphElement } from "./glyphs.js";
import { idleHint } from "./hints.js";
import { listOf } from "../lib/names.js";
import { mountOutsiders } from "./outsiders.js";
import { lastOf } from "./told.js";

/** Bindings named in the card; more of them become a number. */
const BINDINGS_SHOWN = 4;
/** A lease without a duration of its own counts as kube-scheduler's default. */
const LEASE_MS = 15_000;

/**
 * @typedef {object} SchedulersInput
 * @property {View} view
 * @property {Model} model
 * @property {Cycle | null} cycle
 * @property {Cycle | null} last the one before, while no other is under way
 * @property {Scene | null} scene
 * @property {string} cycleReplica identity of the replica whose cycle it is
 * @property {Colours} colours
 * @property {Lang} lang
 */

/**
 * @param {HTMLElement} element
 * @param {Dispatch} dispatch
 */
export function mountSchedulers(element, dispatch) {
  element.className = "st-schedulers";
  const list = h("div", { class: "st-replicas" });
  const outside = h("div");
  const outsiders = mountOutsiders(outside);
  const binding = h("section", { class: "st-card st-binding" }, h("h3", { class: "st-binding-title" }),
    h("ul", { class: "st-binding-list" }));
  const controllers = h("section", { class: "st-card st-controllers" }, h("h3", {}, h("span"), h("span")), h("ul"));
  const narrated = h("p", { class: "st-card st-narrated", "data-testid": "stage-narrated" });
  // Nothing is shown, nor read out, before it has its words.
  for (const card of [narrated, binding, controllers]) card.hidden = true;
  element.append(list, outside, narrated, binding, controllers);
  /** @type {readonly ReplicaSlim[]} */
  let shown = [];
  /** @type {View | null} */
  let view = null;
  let lang = /** @type {Lang} */ ("en");
  let tickedMs = /** @type {number | null} */ (null);
  let anew = false;

  /** @param {SchedulersInput} input */
  function render(input) {
    lang = input.lang;
    view = input.view;
    const all = [...replicas(input.view, "kube-scheduler")];
    all.sort((a, b) => Number(isLeader(b)) - Number(isLeader(a)));
    shown = all;
    syncList(list, all, (replica) => replica.metadata.name, () => h("section", { class: "st-card st-replica" }),
      (card, replica) => updateReplica(card, replica, input));
    // A card that was made anew says how long the lease lasts from its first frame on.
    if (anew && tickedMs !== null) tick(tickedMs);
    anew = false;
    const oneIn = input.view.clock?.narrated?.oneIn ?? 1;
    narrated.hidden = oneIn <= 1;
    setText(narrated, text(lang, "banner.narrated", { n: number(lang, oneIn) }));
    updateBinding(binding, input);
    updateControllers(controllers, input, dispatch);
    // Nothing in it can be pressed where nothing may be done: it is scrolled by keyboard itself.
    setAttribute(element, "tabindex", element.querySelector("button, [tabindex], a") ? null : "0");
  }

  /**
   * Moves lease countdowns on.
   * @param {number} nowMs simulated
   */
  function tick(nowMs) {
    tickedMs = nowMs;
    outsiders.tick(view, nowMs, lang);
    for (const replica of shown) {
      const card = list.querySelector(`[data-key="${CSS.escape(replica.metadata.name)}"]`);
      const line = card?.querySelector(".st-lease-text");
      if (!card || !line) continue;
      const lease = view && leaseSeen(view, replica);
      const leads = isLeader(replica);
      const from = leads ? lease?.renewedAtMs : lease?.observedAtMs;
      const left = lease && from !== undefined ? Math.max(0, from + (lease.durationMs || LEASE_MS) - nowMs) : null;
      const key = left === null ? "replica.noLease" : leads ? "replica.lease" : "replica.expiry";
      setText(line, text(lang, key, { n: ((left ?? 0) / 1000).toFixed(1) }));
      const circle = card.querySelector(".st-ring");
      if (circle && lease) setRing(circle, (left ?? 0) / (lease.durationMs || LEASE_MS));
    }
  }

  /** Where the pod in hand is drawn; null while no hand is shown. */
  function hand() {
    return element.querySelector(".st-hand-glyph") ?? element.querySelector(".st-replica[data-leader='true']");
  }

  /**
   * @param {HTMLElement} card
   * @param {ReplicaSlim} replica
   * @param {SchedulersInput} input
   */
  function updateReplica(card, replica, input) {
    const leads = isLeader(replica);
    const crashed = replica.status?.state === "Crashed";
    card.dataset["leader"] = String(leads);
    card.dataset["state"] = crashed ? "crashed" : leads ? "leader" : "standby";
    card.setAttribute("data-testid", `replica-${replica.metadata.name}`);
    const mine = input.cycleReplica === replica.metadata.name;
    const cycle = mine ? input.cycle : null;
    const look = JSON.stringify([leads, crashed, input.lang, cycle?.uid, cycle?.attempt, mine && input.scene?.chosen,
      mine && tieLook(input.scene), mine && outsOf(input.scene), leads && input.last?.traceId, (leads || crashed) && !cycle && idleHint(input.view, input.model), input.colours.key, input.view.me?.role, glyphLook(input, cycle),
      replica.status?.clockSkewMs, replica.status?.clockRate, (replica.status?.faults ?? []).map(({ kind }) => kind)]);
    if (card.dataset["look"] !== look) {
      card.dataset["look"] = look;
      anew = true;
      keepFocus(card, () => card.replaceChildren(...head(replica, leads, crashed, input, dispatch),
        ...(leads ? handSections(input, cycle, mine ? input.scene : null, dispatch) : replica === shown[0] ? nobodySection(input) : [])));
    }
    const standby = card.querySelector(".st-standby");
    if (standby) setText(standby, standbyText(replica, input));
  }

  return { render, tick, hand };
}

/** @param {ReplicaSlim} replica */
function isLeader(replica) {
  return Boolean(replica.status?.leading) && replica.status?.state !== "Crashed";
}

/** @param {Scene | null} scene */
function tieLook(scene) {
  return scene?.tie ? [scene.tie.nodes, scene.tie.drawn, scene.chosen] : null;
}

/**
 * @param {SchedulersInput} input
 * @param {Cycle | null} cycle
 */
function glyphLook({ model }, cycle) {
  const glyph = cycle ? model.pods.get(cycle.pod) : null;
  return glyph ? [glyph.hue, glyph.state] : null;
}

/**
 * kube-scheduler-0 as people call it on the stage.
 * @param {string} identity
 */
export function replicaLabel(identity) {
  return identity.replace(/^kube-(?=scheduler|controller)/, "");
}

/**
 * @param {ReplicaSlim} replica
 * @param {boolean} leads
 * @param {boolean} crashed
 * @param {SchedulersInput} input
 * @param {Dispatch} dispatch
 */
function head(replica, leads, crashed, { lang, view }, dispatch) {
  const name = h("h3", { class: "st-replica-name", title: replica.metadata.name },
    leads ? icon("crown", 17) : h("span", { class: crashed ? "st-dot st-dot-crashed" : "st-dot" }),
    h("span", { text: replicaLabel(replica.metadata.name) }), faultButton(replica, view, lang, dispatch));
  if (crashed) return [name, h("p", { class: "st-replica-line st-crashed", text: text(lang, "replica.crashed") })];
  const lease = h("p", { class: "st-replica-line st-lease" }, leads ? ring(1, 15) : null,
    h("span", { class: "st-lease-text" }));
  const faults = (replica.status?.faults ?? []).map(({ kind }) => text(lang, `fault.name.${kind}`));
  const ails = faults.length > 0 ? h("p", { class: "st-replica-line st-ails", text: faults.join(" · ") }) : null;
  return [name, ails, leads ? null : h("p", { class: "st-replica-line st-standby" }), lease].filter((part) => part !== null);
}

/**
 * The way to what a teacher can do to a replica.
 * @param {ReplicaSlim} replica
 * @param {View} view
 * @param {Lang} lang
 * @param {Dispatch} dispatch
 */
function faultButton(replica, view, lang, dispatch) {
  if (view.me?.role !== "teacher") return null;
  const identity = replica.metadata.name;
  const label = text(lang, "fault.of", { identity });
  return h("button", {
    type: "button", class: "st-fault", title: label, "aria-label": label, "data-testid": `fault-of-${identity}`,
    onclick: () => dispatch({ type: "openFault", identity }),
  }, icon("bolt", 13));
}

/**
 * @param {ReplicaSlim} replica
 * @param {SchedulersInput} input
 */
function standbyText(replica, { lang }) {
  const skew = replica.status?.clockSkewMs ?? 0;
  if (skew !== 0) {
    return text(lang, "replica.skew", { n: `${skew > 0 ? "+" : "−"}${Math.abs(skew / 1000).toFixed(1)}` });
  }
  // No lag here: a replica writes the revision it has seen only with its other news, so a number would be stale.
  return text(lang, "replica.standby");
}

/**
 * The pod in hand and, once the scores are in, the tie and its lot.
 * @param {SchedulersInput} input
 * @param {Cycle | null} cycle
 * @param {Scene | null} scene
 * @param {Dispatch} dispatch
 */
function handSections(input, cycle, scene, dispatch) {
  const { lang, model } = input;
  if (!cycle) return [emptyHand(input, dispatch)];
  const glyph = model.pods.get(cycle.pod) ?? null;
  const name = model.say(cycle.pod);
  const square = h("span", { class: "st-hand-glyph" },
    glyphElement({ state: "queued", hue: glyph?.hue ?? 4, ring: false }, 30, input.colours));
  const parts = [h("div", { class: "st-card-part" },
    h("p", { class: "st-hint", text: text(lang, "hand.title", { n: cycle.attempt }) }),
    h("button", {
      type: "button", class: "st-hand", title: cycle.pod,
      onclick: () => dispatch({ type: "select", resource: "pods", key: cycle.pod, tab: "decision" }),
    }, square, h("span", { class: "st-hand-words" }, h("b", { text: name }),
      h("span", { text: text(lang, "hand.priority", { n: number(lang, glyph?.priority ?? 0) }) }))),
    h("p", { class: "st-hand-asks" }, ...asks(glyph, lang)))];
  const outs = outsOf(scene);
  if (outs.length > 0) parts.push(h("div", { class: "st-card-part st-outs" }, h("ul", {}, ...outs.map(({ plugin, count }) =>
    h("li", {}, h("span", {}, ...breakable(plugin)), h("b", { text: `−${number(lang, count)}` }))))));
  const tie = scene?.tie ? tiePart(input, cycle, scene, dispatch) : null;
  if (tie) parts.push(tie);
  return parts;
}

/**
 * What each filter has ruled out so far, while that is what happens.
 * @param {Scene | null} scene
 */
function outsOf(scene) {
  return scene && (scene.point === "Filter" || scene.point === "PostFilter") ? scene.outs : [];
}

/**
 * No pod in hand: what the last one came to stays, with the way to its decision.
 * @param {SchedulersInput} input
 * @param {Dispatch} dispatch
 */
function emptyHand({ last, lang, model, view }, dispatch) {
  return h("div", { class: "st-card-part st-hand-empty" }, h("p", { class: "st-hint", text: text(lang, "hand.empty") }),
    ...hintPart(idleHint(view, model), lang),
    last ? h("button", {
      type: "button", class: "st-last", title: last.pod, "data-testid": "stage-last",
      onclick: () => dispatch({ type: "select", resource: "pods", key: last.pod, tab: "decision" }),
    }, h("span", { text: sentenceOf(last, model.say(last.pod), lang) })) : null);
}

/**
 * Where no scheduler runs, its card says what becomes of the pods that wait.
 * @param {SchedulersInput} input
 */
function nobodySection({ lang, model, view }) {
  return crashedSchedulers(view) ? hintPart(idleHint(view, model), lang) : [];
}

/**
 * @param {ReturnType<typeof idleHint>} hint
 * @param {Lang} lang
 */
function hintPart(hint, lang) {
  return hint ? [h("p", { class: "st-idle", "data-testid": "stage-idle", text: counted(lang, hint.key, hint.values) })] : [];
}

/**
 * @param {Cycle} last
 * @param {string} pod its name as it is said
 * @param {Lang} lang
 */
function sentenceOf(last, pod, lang) {
  const [key, told] = lastOf(last, pod);
  return counted(lang, key, told);
}

/**
 * What the pod asks for, a line each.
 * @param {Glyph | null} glyph
 * @param {Lang} lang
 */
function asks(glyph, lang) {
  if (!glyph) return [];
  const spec = glyph.pod?.spec ?? {};
  const lines = [formatAsked(glyph.pod ? podRequests(glyph.pod) : glyph) || text(lang, "stage.noRequests")];
  const nominated = glyph.pod?.status?.nominatedNodeName;
  if (nominated) lines.push(text(lang, "hand.nominated", { node: nominated }));
  for (const [name, value] of Object.entries(spec["nodeSelector"] ?? {})) {
    lines.push(text(lang, "hand.selector", { label: `${name.split("/").pop()}=${value}` }));
  }
  for (const spread of spec["topologySpreadConstraints"] ?? []) {
    lines.push(text(lang, "hand.spread", { key: String(spread.topologyKey ?? "").split("/").pop() ?? "" }));
  }
  if (spec["affinity"]?.podAffinity) lines.push(text(lang, "hand.near"));
  if (spec["affinity"]?.podAntiAffinity) lines.push(text(lang, "hand.apart"));
  if (spec["affinity"]?.nodeAffinity) lines.push(text(lang, "hand.nodeAffinity"));
  return lines.map((line) => h("span", { text: line }));
}

/**
 * @param {SchedulersInput} input
 * @param {Cycle} cycle
 * @param {Scene} scene
 * @param {Dispatch} dispatch
 */
function tiePart({ view, lang }, cycle, scene, dispatch) {
  const tie = /** @type {NonNullable<Scene["tie"]>} */ (scene.tie);
  const names = listOf(tie.nodes, lang);
  const seed = String(view.session?.seed ?? "");
  const lot = cycle.trace?.lot;
  const said = tie.drawn && lot
    ? text(lang, "tie.drawn", { seed, draw: lot.draw, last: lot.below - 1, node: scene.chosen })
    : text(lang, "tie.equal", { nodes: names, seed });
  const teacher = view.me?.role === "teacher";
  return h("div", { class: "st-card-part st-tie" },
    h("h4", { class: "st-tie-title" }, icon("dice", 14),
      h("span", { text: text(lang, "tie.title", { n: number(lang, tie.nodes.length), total: number(lang, tie.total) }) })),
    h("p", { text: said }),
    !tie.drawn && teacher ? h("button", {
      type: "button", class: "st-draw", text: text(lang, "tie.draw"), onclick: () => dispatch({ type: "step", by: "point" }),
    }) : null);
}

/**
 * @param {HTMLElement} card
 * @param {SchedulersInput} input
 */
function updateBinding(card, { model, lang, colours }) {
  /** @type {QueueStatus["binding"]} */
  const all = [...model.queue.binding, ...model.queue.waiting];
  const total = Math.max(all.length, (model.queue.counts["binding"] ?? 0) + (model.queue.counts["waiting"] ?? 0));
  card.hidden = total === 0;
  setText(/** @type {HTMLElement} */ (card.querySelector("h3")), text(lang, "binding.title", { n: number(lang, total) }));
  const list = /** @type {HTMLElement} */ (card.querySelector("ul"));
  syncList(list, all.slice(0, BINDINGS_SHOWN), (entry) => entry.uid, () => h("li"), (item, entry) => {
    const glyph = model.pods.get(entry.pod);
    const look = `${glyph?.hue} ${glyph?.state} ${entry.node} ${colours.key}`;
    if (item.dataset["look"] === look) return;
    item.dataset["look"] = look;
    const state = glyph?.state === "bound" ? "bound" : "assumed";
    item.replaceChildren(glyphElement({ state, hue: glyph?.hue ?? 4, ring: false }, 12, colours),
      // While a question about a pod is open nobody is told where it goes.
      h("span", { text: entry.node ? `${model.say(entry.pod)} → ${entry.node}` : model.say(entry.pod) }));
  });
}

/**
 * Replicas of the controller manager, a line each: who leads, who stands by, who has crashed.
 * @param {HTMLElement} card
 * @param {SchedulersInput} input
 * @param {Dispatch} dispatch
 */
function updateControllers(card, { view, lang }, dispatch) {
  const all = replicas(view, "kube-controller-manager");
  card.hidden = all.length === 0;
  const [title, faults] = /** @type {HTMLElement[]} */ ([...card.querySelectorAll("h3 > span")]);
  if (title) setText(title, text(lang, "controllers.title"));
  const look = `${lang} ${view.me?.role} ${all[0]?.metadata.name}`;
  if (faults && faults.dataset["look"] !== look) {
    faults.dataset["look"] = look;
    const button = all[0] ? faultButton(all[0], view, lang, dispatch) : null;
    keepFocus(faults, () => faults.replaceChildren(...(button ? [button] : [])));
  }
  const list = /** @type {HTMLElement} */ (card.querySelector("ul"));
  syncList(list, all, (replica) => replica.metadata.name, () => h("li"), (item, replica) => {
    const state = replica.status?.state === "Crashed" ? "crashed" : isLeader(replica) ? "leader" : "standby";
    if (item.dataset["state"] === `${state} ${lang}`) return;
    item.dataset["state"] = `${state} ${lang}`;
    item.className = `st-controller st-controller-${state}`;
    item.replaceChildren(state === "leader" ? icon("crown", 13) : h("span", { class: `st-dot st-dot-${state}` }),
      h("span", { text: replicaLabel(replica.metadata.name).replace("controller-manager", "manager") }),
      h("span", { class: "st-controller-state", text: text(lang, `controllers.${state}`) }));
  });
}
