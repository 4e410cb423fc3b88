/**
 * The stage: the living picture of the cluster. `render` takes the newest view; one requestAnimationFrame loop paints
 * it, so views in between are skipped. The canvas shows nodes and motion, lanes and schedulers are DOM.
 */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
/** @import { Scene } from "./cycle.js" */
/** @import { FieldInput } from "./field.js" */
/** @import { Model } from "./model.js" */
/** @import { Told } from "./told.js" */
import { pageZoom, setText } from "../dom/dom.js";
import { text } from "../lib/text.js";
import { refusedCluster } from "../state/roles.js";
import { pluginHues } from "../state/selectors.js";
import { mountBanner } from "./banner.js";
import { readColours } from "../dom/colours.js";
import { cycleScene } from "./cycle.js";
import { h } from "../dom/h.js";
import { makeField } from "./field.js";
import { makeFlights } from "./flights.js";
import { mountGestures } from "./gestures.js";
import { laneModels } from "./lanes-model.js";
import { mountLanes } from "./lanes.js";
import { mountLegend } from "./legend.js";
import { mountLens } from "./lens.js";
import { modelMaker } from "./model.js";
import { motionOn } from "./motion.js";
import { mountOutline } from "./outline.js";
import { makeOverlay } from "./overlay.js";
import { mountRail } from "./rail.js";
import { mountSchedulers } from "./schedulers.js";
import { LINGER_MS, backoffOf, pointBudgetMs, profileOf, tell } from "./told.js";
import { makeViewport } from "./viewport.js";

/** Real milliseconds between moves of the countdowns in DOM. */
const TICK_MS = 80;

/**
 * @param {HTMLElement} element filled by the stage; its size decides the layout
 * @param {Dispatch} dispatch
 */
export function mountStage(element, dispatch) {
  const parts = build(element);
  const rail = mountRail(parts.rail);
  const banner = mountBanner(parts.notes, (zoom) => setZoom(zoom, null));
  const lanes = mountLanes(parts.lanes, dispatch);
  const schedulers = mountSchedulers(parts.schedulers, dispatch);
  const legend = mountLegend(parts.legend, dispatch);
  const lens = mountLens(element);
  const viewport = makeViewport(parts.scroller, parts.spacer);
  const field = makeField(parts.scroller, parts.canvas);
  const overlay = makeOverlay(element, parts.overlay);
  const outline = mountOutline(parts.outline, dispatch, focusNode);
  const flights = makeFlights(element, parts, lanes, schedulers, overlay);
  const makeModel = modelMaker();

  /** @type {{view: View, ui: Ui, model: Model} | null} */
  let now = null;
  /** @type {Told | null} */
  let told = null;
  let colours = readColours(element);
  let theme = "";
  let focused = "";
  let hovered = "";
  let frame = 0;
  let renderedMs = 0;

  /**
   * @param {View} view
   * @param {Ui} ui
   */
  function render(view, ui) {
    if (ui.theme !== theme) {
      theme = ui.theme;
      colours = readColours(element);
    }
    const before = now;
    const model = makeModel(view, ui);
    now = { view, ui, model };
    const timeMs = performance.now();
    renderedMs = timeMs;
    const next = tell(told, view, timeMs);
    told = next.told;
    viewport.fit(view, model);
    renderParts(timeMs);
    flights.between(before?.model ?? null, now, next.turns, viewport.layout(), timeMs);
    announce(next.turns);
    if (motionOn(false, view.clock?.rate ?? 1)) for (const node of ends(next.turns, told)) viewport.reveal(node);
    const selected = ui.selected;
    if (selected && selected !== before?.ui.selected && selected.resource === "nodes") viewport.reveal(selected.key);
  }

  /**
   * DOM that follows the view.
   * @param {number} timeMs real
   */
  function renderParts(timeMs) {
    const layout = viewport.layout();
    if (!now || !layout) return;
    const { view, ui, model } = now;
    const scene = sceneAt(timeMs);
    const under = told && told.endedMs === null ? told : null;
    const mayNot = refusedCluster(view.me);
    const selectedPod = ui.selected?.resource === "pods" ? ui.selected.key : "";
    const profile = profileOf(view, told?.cycle.profile ?? "");
    rail.render(told?.cycle ?? null, profile, model.nodes.size, ui.lang);
    banner.render({ layout, count: model.nodes.size, lang: ui.lang });
    lanes.render({
      lanes: laneModels(model.queue, model.unseen, under?.cycle.pod ?? "", simNow(), {
        backoff: backoffOf(view), sort: profile.sort,
      }), sort: profile.sort,
      glyphOf: (key) => model.pods.get(key) ?? null, selectedPod, colours, lang: ui.lang,
      paused: view.clock?.paused ?? true, refused: mayNot ? text(ui.lang, mayNot) : "",
    });
    schedulers.render({
      view, model, cycle: under?.cycle ?? null, scene, cycleReplica: under?.replica ?? "", colours, lang: ui.lang,
    });
    legend.render({ groups: model.groups, layout, ui, colours });
    outline.render({ model, layout, scene, selectedNode: nodeSelected(), lang: ui.lang }, timeMs);
    parts.empty.hidden = model.nodes.size > 0 || !view.ready;
    setText(parts.empty, text(ui.lang, "stage.empty"));
    element.dataset["level"] = String(layout.level);
    parts.scroller.setAttribute("aria-label", text(ui.lang, "stage.label"));
  }

  /**
   * The cycle as it looks at a moment; null while none is told.
   * @param {number} timeMs real
   * @returns {Scene | null}
   */
  function sceneAt(timeMs) {
    if (!told || !now) return null;
    const { weights } = profileOf(now.view, told.cycle.profile);
    const fast = (now.view.clock?.rate ?? 1) > 10 && !now.view.clock?.paused;
    return cycleScene(told.cycle, timeMs - told.sinceMs, {
      budgetMs: pointBudgetMs(now.view), motion: !now.ui.reducedMotion && !fast, order: [...now.model.nodes.keys()],
      weights, hues: pluginHues(now.view),
    });
  }

  /** Simulated milliseconds: as the page reckoned them for the newest view, and on from there. */
  function simNow() {
    if (!now) return 0;
    const clock = now.view.clock;
    if (!clock || clock.paused) return now.ui.nowMs;
    const rate = Math.min(clock.rate, clock.effectiveRate || clock.rate);
    return now.ui.nowMs + (performance.now() - renderedMs) * rate;
  }

  function nodeSelected() {
    const selected = now?.ui.selected;
    return selected?.resource === "nodes" ? selected.key : "";
  }

  /** @returns {FieldInput | null} */
  function fieldInput(/** @type {Scene | null} */ scene) {
    const layout = viewport.layout();
    if (!now || !layout) return null;
    const selected = now.ui.selected;
    const selectedPod = selected?.resource === "pods" ? selected.key : "";
    return {
      model: now.model, layout, scene, colours, lang: now.ui.lang, nowMs: simNow(), selectedNode: nodeSelected(),
      selectedPod, selectedPodNode: now.model.pods.get(selectedPod)?.node ?? "", focused, hovered,
    };
  }

  /** @type {Scene | null} */
  let lastScene = null;
  let lastTold = /** @type {Told | null} */ (null);
  let lastTick = 0;

  /** @param {number} timeMs */
  function loop(timeMs) {
    frame = requestAnimationFrame(loop);
    const layout = viewport.layout();
    if (!now || !layout) return;
    if (told?.endedMs != null && timeMs - told.endedMs > LINGER_MS) {
      told = null;
      renderParts(timeMs);
    }
    if (told !== lastTold || lastScene?.moving) {
      const before = lastScene;
      lastScene = sceneAt(timeMs);
      lastTold = told;
      // The tie's card and the table of nodes tell the end of an animation, not every step of it.
      const ended = before?.moving && !lastScene?.moving;
      if (ended || Boolean(lastScene?.tie) !== Boolean(before?.tie)) renderParts(timeMs);
    }
    const input = fieldInput(lastScene);
    if (input) field.paint(input);
    flights.paint(timeMs, colours, lastScene, layout);
    if (timeMs - lastTick > TICK_MS) {
      lastTick = timeMs;
      lanes.tick(simNow(), now.ui.lang);
      schedulers.tick(simNow());
      outline.tick(timeMs);
    }
  }

  /**
   * @param {number} wanted
   * @param {number | null} pointerY within the field; null zooms about its top
   */
  function setZoom(wanted, pointerY) {
    if (!now || !viewport.zoomTo(wanted, pointerY, now.view, now.model)) return;
    lens.hide();
    renderParts(performance.now());
  }

  /** @param {string} name */
  function focusNode(name) {
    focused = name;
    if (name) viewport.reveal(name);
  }

  /** @param {ReturnType<typeof tell>["turns"]} turns */
  function announce(turns) {
    if (!now) return;
    const { lang } = now.ui;
    for (const turn of turns) {
      if (turn.kind === "reserved") setText(parts.live, text(lang, "live.chosen", { pod: turn.pod, node: turn.node }));
      if (turn.kind === "refused") setText(parts.live, text(lang, "live.refused", { pod: turn.pod, message: turn.message }));
    }
  }

  const gestures = mountGestures(parts.scroller, {
    zoomBy: (factor, y) => setZoom(viewport.zoom() * factor, y),
    resetZoom: () => setZoom(1, null),
    zone: viewport.toZone,
    hover: (x, y) => {
      const input = fieldInput(lastScene);
      const hit = input && field.hit(input, x, y);
      hovered = hit?.node.name ?? "";
      parts.scroller.style.cursor = hit ? "pointer" : "";
      const edge = element.getBoundingClientRect();
      if (input && hit) lens.show(input, hit, { x: (x - edge.left) / pageZoom(), y: (y - edge.top) / pageZoom() });
      else lens.hide();
    },
    leave: () => {
      hovered = "";
      lens.hide();
    },
    click: (x, y) => {
      const input = fieldInput(lastScene);
      const hit = input && field.hit(input, x, y);
      if (hit?.glyph) dispatch({ type: "select", resource: "pods", key: hit.glyph.key });
      else if (hit) dispatch({ type: "select", resource: "nodes", key: hit.node.name });
    },
  });
  const resized = new ResizeObserver(() => {
    if (now) viewport.fit(now.view, now.model);
    renderParts(performance.now());
  });
  resized.observe(parts.scroller);
  frame = requestAnimationFrame(loop);

  return {
    render,
    destroy() {
      cancelAnimationFrame(frame);
      resized.disconnect();
      gestures.destroy();
      element.replaceChildren();
    },
  };
}

/**
 * Nodes where a cycle has just ended: the winner, or the one whose pods have to leave. Among a hundred tiles it may lie
 * outside the part that is seen.
 * @param {ReturnType<typeof tell>["turns"]} turns
 * @param {Told | null} told
 */
function ends(turns, told) {
  const nominated = told?.cycle.trace?.preemption?.nominatedNode;
  return turns.flatMap((turn) => (turn.kind === "reserved" ? [turn.node] : turn.kind === "refused" && nominated
    ? [nominated] : []));
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
  const live = h("p", { class: "st-hidden", "aria-live": "polite" });
  element.classList.add("st-stage");
  element.dataset["testid"] ??= "stage";
  const side = h("div", { class: "st-side" }, lanes, schedulers);
  element.replaceChildren(rail, notes, h("div", { class: "st-body" }, side, h("div", { class: "st-nodes" }, scroller,
    empty, outline)), legend, overlay, live);
  return { rail, notes, lanes, schedulers, scroller, canvas, spacer, empty, legend, overlay, outline, live };
}
