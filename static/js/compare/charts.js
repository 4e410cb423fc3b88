/** The two charts of Compare: pods by node on both sides, and how long pods waited. Pure but for the colours. */

/** @import { Colours } from "../dom/colours.js" */
/** @import { Compared, Lang } from "../lib/types.d.ts" */
import { baseLayout, escapeText } from "../dom/plotly.js";
import { text } from "../lib/text.js";
import { nodesOf, waitsOf } from "./model.js";

/** @typedef {{colours: Colours, lang: Lang, size: number}} Scene `size` of the letters, pixels */

/** @param {Scene} scene */
function layoutOf({ colours, size }) {
  const layout = baseLayout(colours, { l: 3.2 * size, r: size, t: 6, b: 3.4 * size }, 0);
  const axis = { gridcolor: colours.line, zeroline: false, fixedrange: true, nticks: 5, rangemode: "tozero" };
  return {
    ...layout, height: undefined, font: { ...layout.font, size },
    hoverlabel: { ...layout.hoverlabel, font: { ...layout.hoverlabel.font, size } },
    xaxis: { ...axis, showgrid: false, nticks: undefined, automargin: true },
    yaxis: { ...axis, tickformat: ",~f" },
  };
}

/** @param {Scene} scene @returns {[string, string]} the hues of a and of b */
export function hues({ colours }) {
  return [/** @type {string} */ (colours.owner[4]), colours.acc];
}

/**
 * @param {Compared} answer
 * @param {Scene} scene
 */
export function nodesChart(answer, scene) {
  const nodes = nodesOf(answer);
  const colours = hues(scene);
  const data = ["A", "B"].map((name, index) => ({
    type: "bar", name, x: nodes.map(({ node }) => escapeText(node)), y: nodes.map(({ pods }) => pods[index] ?? 0),
    marker: { color: colours[index] }, hovertemplate: `${name} · %{x}<br>%{y}<extra></extra>`,
  }));
  const layout = layoutOf(scene);
  return { data, layout: { ...layout, barmode: "group", bargap: 0.3, xaxis: { ...layout.xaxis, type: "category" } } };
}

/**
 * @param {Compared} answer
 * @param {Scene} scene
 */
export function waitsChart(answer, scene) {
  const colours = hues(scene);
  const end = Math.max(1, ...answer.rows.flatMap((row) => [row.a.waited ?? 0, row.b.waited ?? 0]));
  const data = /** @type {const} */ (["a", "b"]).map((side, index) => {
    const { seconds, pods } = waitsOf(answer, side);
    return {
      type: "scatter", mode: "lines", name: side.toUpperCase(), x: [...seconds, end * 1.05], y: [...pods, pods.at(-1)],
      line: { shape: "hv", width: 2, color: colours[index], dash: side === "a" ? "dot" : "solid" },
      hovertemplate: `${side.toUpperCase()} · %{x} s<br>%{y}<extra></extra>`,
    };
  });
  const layout = layoutOf(scene);
  const title = { text: text(scene.lang, "compare.seconds"), font: { size: scene.size, color: scene.colours.t2 }, standoff: 4 };
  return { data, layout: { ...layout, xaxis: { ...layout.xaxis, title, tickformat: ",~f" } } };
}
