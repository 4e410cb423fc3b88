/** The row of files that charts can be taken along as: one picture of all charts, and a CSV a chart. */

/** @import { Colours } from "../dom/colours.js" */
/** @import { PlotlyModule } from "../dom/plotly.js" */
/** @import { Table } from "../lib/csv.js" */
import { element, setText } from "../dom/dom.js";
import { save } from "../dom/files.js";
import { loadPlotly } from "../dom/plotly.js";
import { csvOf } from "../lib/csv.js";

/** Pixels of the picture for each of the page. */
const SCALE = 2;
const WIDTH = 720;
const GAP = 16;
const TITLE = 28;

/**
 * @typedef {object} Exported
 * @property {string} name of the tab
 * @property {() => Record<string, Table>} tables by chart
 * @property {() => {title: string, plots: {place: HTMLElement, image: (plotly: PlotlyModule, options: object) => Promise<string>}[]}[]} images
 * @property {(name: string) => string} names of the charts
 * @property {(key: string, values?: Record<string, string | number>) => string} words
 * @property {() => Colours} colours
 * @property {() => string} code of the session
 */

/** @param {Exported} given */
export function exportRow({ name: tab, tables, images, names, words, colours, code }) {
  const root = element("div", { class: "streams-files", hidden: true, role: "group" });
  const png = element("button", { class: "button small primary", type: "button", "data-testid": `${tab}-png` });
  const note = element("span", { class: "hint" });
  /** @type {Map<string, HTMLButtonElement>} */
  const buttons = new Map();
  png.addEventListener("click", () => void picture());
  root.append(png);

  function render() {
    root.setAttribute("aria-label", words("streams.export"));
    setText(png, words("streams.png", { px: WIDTH * 2 * SCALE }));
    for (const [name, table] of Object.entries(tables())) {
      let button = buttons.get(name);
      if (!button) {
        button = element("button", { class: "button small", type: "button", "data-testid": `${tab}-csv-${name}` });
        button.addEventListener("click", () => {
          const found = tables()[name];
          if (found) save(new Blob([csvOf(found)], { type: "text/csv" }), `${code()}-${name}.csv`);
        });
        buttons.set(name, button);
        root.append(button);
      }
      setText(button, words("streams.csv", { chart: names(name), n: table.rows.length }));
    }
    setText(note, words("streams.columns"));
    root.append(note);
  }

  /** All charts on one sheet, two beside each other, in the colours of the page. */
  async function picture() {
    const plotly = await loadPlotly();
    const { surf, t1, font } = colours();
    const parts = await Promise.all(images().map(async ({ title, plots }) => ({
      title, shots: await Promise.all(plots.map(async ({ place, image }) => {
        const height = Math.max(90, place.clientHeight);
        return { height, shot: await loaded(await image(plotly, { format: "png", width: WIDTH, height, scale: SCALE })) };
      })),
    })));
    const tall = (/** @type {typeof parts[number]} */ part) => part.shots.reduce((sum, { height }) => sum + height, TITLE + GAP);
    const columns = [parts.filter((_, index) => index % 2 === 0), parts.filter((_, index) => index % 2 === 1)];
    const canvas = document.createElement("canvas");
    canvas.width = (WIDTH * 2 + GAP) * SCALE;
    canvas.height = Math.max(...columns.map((column) => column.reduce((sum, part) => sum + tall(part), GAP))) * SCALE;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.scale(SCALE, SCALE);
    context.fillStyle = surf;
    context.fillRect(0, 0, canvas.width, canvas.height);
    columns.forEach((column, index) => {
      const left = index * (WIDTH + GAP);
      let top = GAP;
      for (const { title, shots } of column) {
        context.fillStyle = t1;
        context.font = `600 15px ${font}`;
        context.fillText(title, left + 8, top + 16);
        top += TITLE;
        for (const { height, shot } of shots) {
          context.drawImage(shot, left, top, WIDTH, height);
          top += height;
        }
        top += GAP;
      }
    });
    canvas.toBlob((blob) => {
      if (blob) save(blob, `${code()}-${tab}.png`);
    }, "image/png");
  }
  return { root, render };
}

/**
 * @param {string} url
 * @returns {Promise<HTMLImageElement>}
 */
function loaded(url) {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.onerror = () => reject(new Error("a chart cannot be drawn as a picture"));
    image.src = url;
  });
}
