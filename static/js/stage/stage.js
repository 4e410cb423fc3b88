/**
 * The stage: the living picture of the cluster. `render` takes the newest view; before the browser's next picture it
 * is painted, so views in between are skipped, and again while anything moves. The canvas shows nodes and motion, lanes and schedulers are DOM.
 */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
/** @import { FieldInput } from "./field.js" */
/** @import { Now } from "./story.js" */
/** @import { Told, Turn } from "./told.js" */
import { readColours } from "../dom/colours.js";
import { makeFrames } from "../dom/frames.js";
import { atMostEvery, TICK_MS, untilNext } from "../lib/paced.js";
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
import { LINGER_MS } from "./told.js";
import { makeViewport } from "./viewport.js";

/** Events of a hand on the stage, wherever in it. */
const HANDS = [
  "pointermove", "pointerdown", "pointerup", "pointerleave", "wheel", "scroll", "click", "keydown", "focusin", "focusout",
  "dragover", "dragleave", "drop",
];

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
  const [palette, tickDue] = [makePalette(element), atMostEvery(TICK_MS)];
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
    frames.wake();
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

  /**
   * @param {number} timeMs real
   * @returns {number} milliseconds after which there is something to paint again if nothing happens
   */
  function paint(timeMs) {
    const layout = viewport.layout();
    const now = story.now();
    if (!now || !layout) return Infinity;
    if (story.advance(timeMs)) renderPage(timeMs);
    // Words first: what paints asks where things stand, and is answered by a layout that nothing overthrows any more.
    if (tickDue(performance.now())) page.tick(now, story.simNow(), timeMs);
    const input = fieldInput();
    if (input) field.paint(input);
    const flying = flights.paint(timeMs, palette.colours(), story.scene(), layout);
    return flying || story.scene()?.moving ? 0 : restMs(story, page, timeMs);
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
  const frames = makeFrames(paint);
  const ends = [frames.stop, everyHand(element, frames.wake), unwatch, pointer.destroy];

  return {
    render, zoom: viewport.zoom, setZoom: (/** @type {number} */ wanted) => setZoom(wanted, null),
    destroy() {
      for (const end of ends) end();
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
 * Milliseconds until the picture changes by itself where nothing moves: countdowns go on, a cycle that has ended fades.
 * @param {Pick<ReturnType<typeof makeStory>, "now" | "live" | "told">} story
 * @param {{waits: () => boolean}} page
 * @param {number} timeMs real
 */
function restMs(story, page, timeMs) {
  const counts = !story.now()?.view.clock?.paused || page.waits();
  const fades = [story.live(), story.told()].map((one) => (one?.endedMs ?? -Infinity) + LINGER_MS - timeMs).filter((ms) => ms >= 0);
  // Just after that moment, not at it.
  return Math.min(...fades.map((ms) => ms + 1), counts ? untilNext(performance.now(), TICK_MS) : Infinity);
}

/**
 * Call it whenever a hand does what may change the picture, until the function handed back is called: what it is over, where
 * it has scrolled to, what has the keyboard.
 * @param {HTMLElement} element
 * @param {() => void} done
 */
function everyHand(element, done) {
  for (const name of HANDS) element.addEventListener(name, done, { capture: true, passive: true });
  return () => HANDS.forEach((name) => element.removeEventListener(name, done, { capture: true }));
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
