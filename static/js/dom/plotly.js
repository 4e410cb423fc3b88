/** Plotly, loaded when the first chart is shown, and the look that all charts share. */

/** @import { Colours } from "./colours.js" */

/** @type {Promise<PlotlyModule> | null} */
let loading = null;

/**
 * The few calls of Plotly that the charts use.
 * @typedef {{react: (element: HTMLElement, data: object[], layout: object, config: object) => Promise<unknown>,
 *   extendTraces: (element: HTMLElement, update: object, traces: number[], kept?: number) => Promise<unknown>,
 *   relayout: (element: HTMLElement, update: object) => Promise<unknown>,
 *   toImage: (element: HTMLElement, options: object) => Promise<string>,
 *   purge: (element: HTMLElement) => void}} PlotlyModule
 */

/**
 * @returns {Promise<PlotlyModule>} rejected when the script cannot be loaded; a later call tries again
 */
export function loadPlotly() {
  const here = moduleOf(window);
  if (here) return Promise.resolve(here);
  // A recording carries no charts: their numbers are in its tables.
  if (document.documentElement.hasAttribute("data-recording")) return Promise.reject(new Error("a recording has no charts"));
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const base = document.documentElement.dataset["static"] ?? "/static/";
    script.src = `${base.replace(/\/?$/, "/")}vendor/plotly.min.js`;
    script.onload = () => {
      const module = moduleOf(window);
      if (module) resolve(module);
      else reject(new Error("Plotly did not define itself"));
    };
    script.onerror = () => {
      loading = null;
      script.remove();
      reject(new Error(`could not load ${script.src}`));
    };
    document.head.append(script);
  });
  return loading;
}

/**
 * @param {Window} page
 * @returns {PlotlyModule | undefined}
 */
function moduleOf(page) {
  return /** @type {{Plotly?: PlotlyModule}} */ (/** @type {unknown} */ (page)).Plotly;
}

export const CONFIG = { displayModeBar: false, displaylogo: false, responsive: true, doubleClick: false };

/**
 * @param {Colours} colours
 * @param {{l: number, r: number, t: number, b: number}} margin
 * @param {number} height
 */
export function baseLayout(colours, margin, height) {
  return {
    height,
    margin,
    autosize: true,
    dragmode: false,
    showlegend: false,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: colours.font, size: 12, color: colours.t1 },
    hoverlabel: {
      bgcolor: colours.surf, bordercolor: colours.line2, align: "left",
      font: { family: colours.font, size: 12, color: colours.t1 },
    },
  };
}

/** An axis without a word: the charts write their own labels where the eye is. */
export const BARE_AXIS = {
  showgrid: false, zeroline: false, showline: false, showticklabels: false, ticks: "", fixedrange: true,
};

/**
 * Text for Plotly's small HTML: names from people must not become tags.
 * @param {string} text
 */
export function escapeText(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
