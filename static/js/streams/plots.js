/** The plots of Streams in their places: drawn once, then extended by what came, at most four times a second. */

/** @import { Growth, Scene } from "./charts.js" */
/** @import { PlotlyModule } from "../dom/plotly.js" */
import { CONFIG, loadPlotly } from "../dom/plotly.js";
import { KEPT, rangeOf, shapesOf } from "./charts.js";

/**
 * @template T
 * @typedef {object} Source what one plot shows
 * @property {(scene: Scene) => readonly T[]} items all there is, oldest first
 * @property {(item: T) => number} time
 * @property {(scene: Scene, items: readonly T[]) => {data: object[], layout: object}} build
 * @property {(scene: Scene, items: readonly T[]) => Growth} [grow] without: it is drawn afresh whenever there is something new
 */

/**
 * @template T
 * @param {HTMLElement} place
 * @param {Source<T>} source
 * @param {(id: string) => void} [choose] what a click on a point with an id does
 */
export function plot(place, source, choose) {
  let drawn = 0;
  let key = "";
  /** @type {Promise<unknown> | null} */
  let busy = null;
  let failed = false;

  /**
   * @param {Scene} scene
   * @param {string} wanted what makes a chart another one: theme, language, what is kept
   */
  function draw(scene, wanted) {
    // A slow computer leaves frames out, it does not collect them.
    if (busy) return;
    busy = step(scene, wanted).catch((problem) => {
      if (!failed) console.warn(problem);
      failed = true;
      place.dataset["failed"] = "true";
    }).finally(() => {
      busy = null;
    });
  }

  /**
   * @param {Scene} given
   * @param {string} wanted
   */
  async function step(given, wanted) {
    const plotly = await loadPlotly();
    if (place.clientWidth === 0 || place.clientHeight === 0) return;
    const scene = { ...given, height: place.clientHeight };
    const items = source.items(scene).filter((item) => source.time(item) <= scene.toMs);
    const fresh = items.slice(drawn);
    if (key !== wanted || items.length < drawn || (!source.grow && fresh.length > 0)) {
      const chart = source.build(scene, items);
      await plotly.react(place, chart.data, chart.layout, CONFIG);
      if (!key && choose) onClick(place, choose);
    } else if (fresh.length > 0 && source.grow) {
      const { update, traces } = source.grow(scene, fresh);
      const { layout } = /** @type {{layout: {xaxis: {range: number[]}, shapes: object[]}}} */ (/** @type {unknown} */ (place));
      // One redraw for what came and for the time that went.
      layout.xaxis.range = rangeOf(scene);
      layout.shapes = shapesOf(scene);
      await plotly.extendTraces(place, update, traces, KEPT);
    } else {
      await plotly.relayout(place, { "xaxis.range": rangeOf(scene), shapes: shapesOf(scene) });
    }
    key = wanted;
    drawn = items.length;
    place.dataset["points"] = String(drawn);
    place.dataset["drawn"] = String(Number(place.dataset["drawn"] ?? 0) + 1);
  }

  return { draw, image: (/** @type {PlotlyModule} */ plotly, /** @type {object} */ options) => plotly.toImage(place, options), place };
}

/**
 * @param {HTMLElement} place
 * @param {(id: string) => void} choose
 */
function onClick(place, choose) {
  const chart = /** @type {{on: (name: string, heard: (event: {points: {customdata?: unknown}[]}) => void) => void}} */ (
    /** @type {unknown} */ (place));
  chart.on("plotly_click", ({ points }) => {
    const id = points[0]?.customdata;
    if (typeof id === "string") choose(id);
  });
}
