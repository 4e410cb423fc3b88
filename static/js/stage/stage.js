/**
 * The stage: the living picture of the cluster. `render` takes the newest view; one requestAnimationFrame loop paints
 * it, so views in between are skipped. The canvas shows nodes and motion, lanes and schedulers are DOM.
 */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
/** @import { FieldInput } from "./field.js" */
/** @import { Now } from "./story.js" */
/** @import { Told, Turn } from "./told.js" */
import { readColours } from "../dom/colours.js";
import { atMostEvery, TICK_MS } from "../lib/paced.js";
import { makeField } from "./field.js";
import { makeFlights } from "./flights.js";
import { mountLens } from "./lens.js";
import { litOf } from "./lit.js";
import { motionOn } from "./motion.js";
import { makeOverlay } from "./overlay.js";
import { mountPage } from "./page.js";
import { mountPointer } from "./pointer.js";
import { makeStory } from "./story.js";
import { trialOf } from "./trial.js";
import { makeViewport } from "./viewport.js";

/**
 * @param {HTMLElement} element filled by the stage; its size decides the layout
 * @param {Dispatch} dispatch
 */
export function mountStage(element, dispatch) {
  const story = makeStory();
  const page = mountPage(element, dispatch, {
    zoom: (zoom) => setZoom(zoom, null),
    focus: (name) => viewport.reveal((focused = name)), reveal: (name) => viewport.reveal(name),
    frame: story.setFrame, leave: () => (story.leave(), renderPage(performance.now())),
  });
  const { parts } = page;
  const viewport = makeViewport(parts.scroller, parts.spacer);
  const field = makeField(parts.scroller, parts.canvas);
  const overlay = makeOverlay(element, parts.overlay);
  const flights = makeFlights(element, parts, page, overlay);
  const lens = mountLens(element);
  const pointer = mountPointer(element, parts.scroller, {
    field, lens, dispatch, input: fieldInput, zoom: viewport.zoom, setZoom, toZone: viewport.toZone,
  });
  const palette = makePalette(element);
  const tickDue = atMostEvery(TICK_MS);
  let focused = "";

  /**
   * @param {View} view
   * @param {Ui} ui
   * @param {View | null} [other] the newest view, where its difference from a held one is asked for
   */
  function render(view, ui, other = null) {
    palette.take(ui.theme);
    const timeMs = performance.now();
    // What the cluster does moves no walls; what a person does here may.
    if (!sameUi(ui, story.now()?.ui)) viewport.forgetRoom();
    const { before, now, turns, begun } = story.take(view, ui, timeMs, other);
    renderPage(timeMs);
    flights.between(before?.model ?? null, now, turns, viewport.layout(), timeMs);
    flights.requests(before?.view ?? null, now, viewport.layout(), timeMs);
    for (const node of nodesToReveal(before, now, turns, story.live(), begun)) viewport.reveal(node);
  }

  /** @param {number} timeMs real */
  function renderPage(timeMs) {
    const now = story.now();
    if (now) viewport.fit(now.view, now.model, story.wide());
    const layout = viewport.layout();
    if (!now || !layout) return;
    const shown = { told: story.told(), live: story.live(), scene: story.sceneAt(timeMs), nowMs: story.simNow() };
    page.render(now, { ...shown, layout, colours: palette.colours() }, timeMs);
  }

  /** @returns {FieldInput | null} */
  function fieldInput() {
    const layout = viewport.layout();
    const now = story.now();
    return now && layout && {
      ...selectionOf(now), model: now.model, layout, scene: story.scene(), colours: palette.colours(), lang: now.ui.lang,
      nowMs: story.simNow(), focused, hovered: pointer.hovered(), trial: trialOf(now.ui), lit: litOf(now.ui)?.nodes ?? null,
    };
  }

  /** @param {number} timeMs real */
  function paint(timeMs) {
    const layout = viewport.layout();
    const now = story.now();
    if (!now || !layout) return;
    if (story.advance(timeMs)) renderPage(timeMs);
    // Words first: what paints asks where things stand, and is answered by a layout that nothing overthrows any more.
    if (tickDue(timeMs)) page.tick(now, story.simNow(), timeMs);
    const input = fieldInput();
    if (input) field.paint(input);
    flights.paint(timeMs, palette.colours(), story.scene(), layout);
  }

  /**
   * @param {number} wanted
   * @param {number | null} pointerY within the field; null zooms about its top
   */
  function setZoom(wanted, pointerY) {
    const now = story.now();
    if (!now || !viewport.zoomTo(wanted, pointerY, now.view, now.model)) return;
    lens.hide();
    renderPage(performance.now());
  }

  const unwatch = everyResize(parts.scroller, () => {
    viewport.forgetRoom();
    renderPage(performance.now());
  });
  const stop = everyFrame(paint);

  return {
    render, zoom: viewport.zoom, setZoom: (/** @type {number} */ wanted) => setZoom(wanted, null),
    destroy() {
      stop();
      unwatch();
      pointer.destroy();
      element.replaceChildren();
    },
  };
}

/**
 * The page's colours, read anew where the theme has become another: asking for them has the browser style the page.
 * @param {HTMLElement} element
 */
function makePalette(element) {
  let colours = readColours(element);
  let known = "";
  return {
    colours: () => colours,
    take(/** @type {string} */ theme) {
      if (theme === known) return;
      known = theme;
      colours = readColours(element);
    },
  };
}

/**
 * Call it before every picture the browser shows, until the function handed back is called.
 * @param {(timeMs: number) => void} paint
 */
function everyFrame(paint) {
  /** @param {number} timeMs */
  const loop = (timeMs) => {
    frame = requestAnimationFrame(loop);
    paint(timeMs);
  };
  let frame = requestAnimationFrame(loop);
  return () => cancelAnimationFrame(frame);
}

/**
 * Call it whenever an element has another size, until the function handed back is called.
 * @param {HTMLElement} element
 * @param {() => void} changed
 */
function everyResize(element, changed) {
  const resized = new ResizeObserver(changed);
  resized.observe(element);
  return () => resized.disconnect();
}

/**
 * Whether nothing but time has passed for what a person has set and opened.
 * @param {Ui} now
 * @param {Ui | undefined} before
 */
function sameUi(now, before) {
  return before !== undefined && Object.entries(now).every(([name, value]) =>
    name === "nowMs" || value === before[/** @type {keyof Ui} */ (name)]);
}

/**
 * What is selected, as far as it is drawn on the field.
 * @param {Now} now
 */
function selectionOf({ ui: { selected }, model }) {
  const selectedPod = selected?.resource === "pods" ? selected.key : "";
  return {
    selectedNode: selected?.resource === "nodes" ? selected.key : "", selectedPod,
    selectedPodNode: model.pods.get(selectedPod)?.node ?? "",
  };
}

/**
 * Nodes to bring into the part that is seen: where cycles have just ended, while one can follow that, the one that has
 * just been selected, the first of those that are lit, and where an attempt went that has just been recalled.
 * @param {Now | null} before
 * @param {Now} now
 * @param {readonly Turn[]} turns
 * @param {Told | null} live
 * @param {Told | null} begun what is told since now
 */
function nodesToReveal(before, { view, ui: { selected, lit } }, turns, live, begun) {
  const ended = begun?.recalled ? [endOf(begun)] : motionOn(false, view.clock?.rate ?? 1) ? ends(turns, live) : [];
  const chosen = selected && selected !== before?.ui.selected && selected.resource === "nodes" ? [selected.key] : [];
  const found = lit && lit !== before?.ui.lit ? [...lit.nodes].slice(0, 1) : [];
  return [...ended, ...chosen, ...found];
}

/**
 * Nodes where a cycle has just ended: the winner, or the one whose pods have to leave. Among a hundred tiles it may lie
 * outside the part that is seen.
 * @param {readonly Turn[]} turns
 * @param {Told | null} told
 */
function ends(turns, told) {
  const nominated = told?.cycle.trace?.preemption?.nominatedNode;
  return turns.flatMap((turn) => (turn.kind === "reserved" ? [turn.node] : turn.kind === "refused" && nominated
    ? [nominated] : []));
}

/**
 * The node that a cycle came to; "" where it came to none.
 * @param {Told} told
 */
function endOf({ cycle: { trace } }) {
  return trace?.chosen ?? trace?.preemption?.nominatedNode ?? "";
}
