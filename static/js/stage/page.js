/** The stage's DOM: its frame, and the parts that follow the view in words. The canvases are painted elsewhere. */

/** @import { Dispatch } from "../lib/types.d.ts" */
/** @import { Colours } from "../dom/colours.js" */
/** @import { Scene } from "./cycle.js" */
/** @import { Layout } from "./levels.js" */
/** @import { Model } from "./model.js" */
/** @import { Now } from "./story.js" */
/** @import { Told } from "./told.js" */
import { setText } from "../dom/dom.js";
import { h } from "../dom/h.js";
import { ownerGroup } from "../lib/hues.js";
import { text } from "../lib/text.js";
import { refusedCluster } from "../state/roles.js";
import { crashedSchedulers, strangers } from "../state/undecided.js";
import { mountBanner, mountRecall } from "./banner.js";
import { mountClients } from "./clients.js";
import { mountEdges } from "./edges.js";
import { laneModels } from "./lanes-model.js";
import { mountLanes } from "./lanes.js";
import { mountEvictBar } from "./evict-bar.js";
import { mountLegend } from "./legend.js";
import { makeListener } from "./listen.js";
import { litOf } from "./lit.js";
import { mountLooks } from "./looks.js";
import { mountOutline } from "./outline.js";
import { mountRail } from "./rail.js";
import { mountRollouts } from "./rollouts.js";
import { mountSeal } from "./seal.js";
import { mountSchedulers } from "./schedulers.js";
import { mountTrialBar, trialOf } from "./trial.js";
import { backoffOf, isComplete, profileOf } from "./told.js";

/**
 * @param {HTMLElement} element filled by the stage
 * @param {Dispatch} dispatch
 * @param {{zoom: (zoom: number) => void, focus: (node: string) => void, reveal: (node: string) => void,
 *   frame: (frame: number) => void, leave: () => void}} on what the banner's slider, the table's focus, the arrows at the edges
 *   and the steps of a preemption ask for
 */
export function mountPage(element, dispatch, on) {
  const parts = build(element);
  const rail = mountRail(parts.rail);
  const banner = mountBanner(parts.notes, on.zoom);
  const seal = mountSeal(parts.notes);
  const evict = mountEvictBar(parts.notes, dispatch, { frame: on.frame, close: on.leave });
  const recall = mountRecall(parts.notes, dispatch);
  const trialBar = mountTrialBar(parts.notes, dispatch);
  const lanes = mountLanes(parts.lanes, dispatch);
  const looks = mountLooks(parts.spacer, parts.lanes);
  const schedulers = mountSchedulers(parts.schedulers, dispatch);
  const rollouts = mountRollouts(parts.schedulers, dispatch);
  const clients = mountClients(parts.schedulers);
  const legend = mountLegend(parts.legend, dispatch);
  const edges = mountEdges(parts.nodes, parts.scroller, on.reveal);
  const listener = makeListener((sentence) => setText(parts.live, sentence));
  const outline = mountOutline(parts.outline, dispatch, on.focus);

  /**
   * @param {Now} now
   * @param {{told: Told | null, live: Told | null, scene: Scene | null, layout: Layout, colours: Colours, nowMs: number}}
   *   shown `live`: told but for an attempt that is recalled; `nowMs`: simulated
   * @param {number} timeMs real
   */
  function render({ view, ui, model }, { told, live, scene, layout, colours, nowMs }, timeMs) {
    const { lang, selected } = ui;
    const under = live && live.endedMs === null ? live : null;
    const mayNot = refusedCluster(view.me);
    const profile = profileOf(view, told?.cycle.profile ?? "");
    listener.follow(under?.cycle ?? null, view.decisions, model.say, lang);
    rail.render(told?.cycle ?? null, profile, model.nodes.size, lang, {
      over: Boolean(scene?.over || told?.recalled), sealed: seal.render(view, lang),
    });
    const trial = trialOf(ui);
    trialBar.render(trial, model, lang);
    recall.render(told?.recalled && !trial ? told : null, model, view.epochMs, lang);
    banner.render({ layout, count: model.nodes.size, lang });
    lanes.render({
      lanes: laneModels(model.queue, model.unseen, under?.cycle.pod ?? "", nowMs, {
        backoff: backoffOf(view), sort: profile.sort, ownerOf: (key) => ownerOf(model, key), asksOf: strangers(view),
      }),
      sort: profile.sort, glyphOf: (key) => model.pods.get(key) ?? null, say: model.say,
      selectedPod: selected?.resource === "pods" ? selected.key : "", colours, lang,
      fresh: crashedSchedulers(view) ? text(lang, "lane.nobody") : view.clock?.paused ?? true ? text(lang, "lane.unseen") : "", refused: mayNot ? text(lang, mayNot) : "",
    });
    schedulers.render({
      view, model, cycle: under?.cycle ?? null, last: live && !under && isComplete(live.cycle) ? live.cycle : null,
      scene: told === live ? scene : null, cycleReplica: under?.replica ?? "", colours, lang,
    });
    looks.render(view, ui, layout);
    rollouts.render(model.rollouts, lang);
    clients.render(view, model.say, lang);
    legend.render({ groups: model.groups, aged: model.rollouts.length > 0, pods: model.pods, layout, ui, colours, scene, trial,
      compares: Boolean(model.nodes.values().next().value?.difference) });
    const eviction = layout.wide && told && scene?.eviction;
    evict.render(eviction ? {
      eviction, cycle: told.cycle, name: model.say(told.cycle.pod), glyph: model.pods.get(told.cycle.pod) ?? null, colours, lang,
    } : null);
    element.dataset["scene"] = eviction ? "eviction" : "";
    edges.render({ scene, layout, lang });
    outline.render({
      model, layout, scene, selectedNode: selected?.resource === "nodes" ? selected.key : "", lang, epochMs: view.epochMs, trial,
    }, timeMs);
    parts.empty.hidden = model.nodes.size > 0 || !view.ready;
    setText(parts.empty, text(lang, "stage.empty"));
    element.dataset["level"] = String(layout.level);
    element.dataset["lit"] = String(litOf(ui)?.nodes.size ?? 0);
    element.dataset["recalled"] = String(Boolean(told?.recalled));
    parts.scroller.setAttribute("aria-label", text(lang, "stage.label"));
  }

  /**
   * Moves the countdowns on; everything else waits for the next view.
   * @param {Now} now
   * @param {number} nowMs simulated
   * @param {number} timeMs real
   */
  function tick({ ui }, nowMs, timeMs) {
    listener.tick(timeMs, ui.lang);
    lanes.tick(nowMs, ui.lang);
    schedulers.tick(nowMs);
    outline.tick(timeMs);
  }

  /** Whether something is still to be told when its real time has come, though nothing happens. */
  const waits = () => listener.waits() || outline.waits();

  return { parts, lanes, schedulers, clients, render, tick, waits };
}

/**
 * Whose a waiting pod is, as the legend of owners calls it.
 * @param {Model} model
 * @param {string} key
 */
function ownerOf(model, key) {
  const pod = model.pods.get(key)?.pod;
  return pod ? ownerGroup(pod).label : key.split("/").pop() ?? key;
}

/** @param {HTMLElement} element */
function build(element) {
  const rail = h("div");
  const notes = h("div");
  const lanes = h("div");
  const schedulers = h("div");
  const canvas = h("canvas", { class: "st-canvas", "aria-hidden": "true" });
  const spacer = h("div", { class: "st-spacer" });
  const scroller = h("div", { class: "st-field", role: "region", tabindex: "-1" }, canvas, spacer);
  const empty = h("p", { class: "st-empty" });
  const legend = h("footer");
  const overlay = h("canvas", { class: "st-overlay", "aria-hidden": "true" });
  const outline = h("div");
  const live = h("p", { class: "st-hidden", "aria-live": "polite", "data-testid": "stage-heard" });
  element.classList.add("st-stage");
  element.dataset["testid"] ??= "stage";
  const side = h("div", { class: "st-side" }, lanes, schedulers);
  const nodes = h("div", { class: "st-nodes" }, scroller, empty, outline);
  element.replaceChildren(rail, notes, h("div", { class: "st-body" }, side, nodes), legend, overlay, live);
  return { nodes, rail, notes, lanes, schedulers, scroller, canvas, spacer, empty, legend, overlay, outline, live };
}
