/** The panel's two charts, drawn into their places once Plotly has come. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Decision, NodeRow } from "./model.js" */
/** @import { Mode } from "./heatmap.js" */
import { readColours } from "../dom/colours.js";
import { pageZoom } from "../dom/dom.js";
import { h } from "../dom/h.js";
import { text } from "../lib/text.js";
import { heatmapChart } from "./heatmap.js";
import { CONFIG, loadPlotly } from "../dom/plotly.js";
import { scoresChart } from "./scores.js";

/**
 * @typedef {object} Charts what is drawn
 * @property {Decision} decision
 * @property {readonly NodeRow[]} rows of the heatmap's page
 * @property {readonly NodeRow[]} ranked of the bars' page, best first
 * @property {Mode} mode
 * @property {Lang} lang
 */

/** @param {object} layout as `baseLayout` made it */
function heightOf(layout) {
  return "height" in layout ? Number(layout.height) : 0;
}

/**
 * @param {HTMLElement} element the panel, whose tokens count
 */
export function makeCharts(element) {
  let drawn = 0;

  /**
   * Draws into the places of the panel; a later call, or `forget`, overtakes this one.
   * @param {Charts} charts
   */
  async function draw({ decision, rows, ranked, mode, lang }) {
    const mine = (drawn += 1);
    const heat = /** @type {HTMLElement | null} */ (element.querySelector(".dc-heat .dc-chart"));
    const bars = /** @type {HTMLElement | null} */ (element.querySelector(".dc-scores .dc-chart"));
    if (!heat && !bars) return;
    const colours = readColours(element);
    const shown = [
      heat && heat.clientWidth > 0 ? { place: heat, chart: heatmapChart({ decision, rows, mode, colours, lang, width: heat.clientWidth, zoom: pageZoom() }) } : null,
      bars && bars.clientWidth > 0 && decision.plugins.length > 0
        ? { place: bars, chart: scoresChart({ decision, rows: ranked, colours, lang, width: bars.clientWidth }) } : null,
    ].filter((one) => one !== null);
    // A chart keeps its place while the script comes: what stands below it does not jump.
    for (const { place, chart } of shown) place.style.minHeight = `${heightOf(chart.layout)}px`;
    try {
      const plotly = await loadPlotly();
      for (const { place, chart } of shown) {
        // Another trace or theme may have come while the script was loading.
        if (mine !== drawn || !element.isConnected) return;
        await plotly.react(place, chart.data, chart.layout, CONFIG);
        place.dataset["drawn"] = "true";
      }
    } catch (error) {
      if (mine !== drawn) return;
      const words = text(lang, "decision.noCharts");
      for (const place of [heat, bars]) {
        place?.replaceChildren(h("p", { class: "dc-note", text: words }));
        place?.style.removeProperty("min-height");
        const table = place?.closest("section")?.querySelector("details");
        if (table) table.open = true;
      }
      console.warn(error);
    }
  }

  return {
    draw,
    /** Lets what is being drawn come to nothing. */
    forget() {
      drawn += 1;
    },
  };
}
