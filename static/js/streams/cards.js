/** The four cards of Streams: titles, places of the charts, words around them, the shape that is asked about. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Shape } from "./recorder.js" */
import { element, setAttribute, setText } from "../dom/dom.js";
import { ITEMS } from "../lib/items.js";
import { cpuMilli, memoryBytes } from "../lib/quantity.js";
import { text } from "../lib/text.js";
import { factPlaces } from "./facts.js";
import { twin } from "./twin.js";

/** @typedef {"queue" | "scores" | "preemptions" | "utilisation"} Chart */
/** @type {readonly Chart[]} */
export const CHARTS = ["queue", "scores", "preemptions", "utilisation"];
const PLOTS = /** @type {const} */ (["queue", "waits", "scores", "preemptions", "heat", "fits"]);
/** Items of the palette of which one can ask how many more fit. */
const SHAPES = ["pod-small", "pod-medium", "pod-large", "pod-gpu"];

/** @param {() => void} reshaped another shape is asked about */
export function makeCards(reshaped) {
  const places = /** @type {Record<typeof PLOTS[number], HTMLElement>} */ (/** @type {unknown} */ (Object.fromEntries(PLOTS.map((name) =>
    [name, element("div", { class: `streams-plot streams-${name}`, "data-testid": `streams-${name}` })]))));
  const facts = factPlaces();
  const label = element("span");
  const shapes = element("select", { class: "input", "data-testid": "streams-shape", onchange: reshaped });
  const more = element("div", { class: "streams-facts" }, [element("label", { class: "streams-shape" }, [label, shapes]), facts.fits]);
  /** @type {Record<Chart, HTMLElement[]>} */
  const inside = {
    queue: [places.queue, facts.waits, places.waits],
    scores: [places.scores, facts.owners],
    preemptions: [places.preemptions, facts.last],
    utilisation: [places.heat, more, places.fits],
  };
  const cards = CHARTS.map((name) => {
    const title = element("h3");
    const table = twin(`streams-table-${name}`);
    const root = element("section", { class: "streams-card" }, [element("header", {}, [title, facts[name]]), ...inside[name], table.root]);
    return { name, title, table, root };
  });
  const root = element("div", { class: "streams-grid", tabindex: "0", role: "region" }, cards.map((card) => card.root));

  return {
    root, places, facts,
    tables: Object.fromEntries(cards.map(({ name, table }) => [name, table])),
    /** @returns {Shape} */
    get shape() {
      const { cpu = "0", memory = "0", gpu = "0" } = ITEMS.find((item) => item.id === (shapes.value || SHAPES[0]))?.defaults ?? {};
      return { cpuMilli: cpuMilli(cpu), memoryBytes: memoryBytes(memory), gpu: Number(gpu) };
    },
    /** @param {Lang} lang */
    render(lang) {
      if (root.dataset["lang"] === lang) return;
      root.dataset["lang"] = lang;
      const t = (/** @type {string} */ key) => text(lang, key);
      setAttribute(root, "aria-label", t("streams.label"));
      for (const { name, title } of cards) setText(title, t(`streams.${name}`));
      setText(label, t("streams.more"));
      const chosen = shapes.value || SHAPES[0];
      shapes.replaceChildren(...ITEMS.filter(({ id }) => SHAPES.includes(id)).map((item) => {
        const { cpu, memory, gpu } = item.defaults;
        const amounts = [cpu, memory, gpu ? `${gpu} GPU` : ""].filter(Boolean).join(" · ");
        return element("option", { value: item.id, selected: item.id === chosen }, `${t(item.label)}, ${amounts}`);
      }));
      for (const place of Object.values(places)) {
        place.dataset["loading"] = t("streams.loading");
        // Its table says the same.
        setAttribute(place, "aria-hidden", "true");
      }
    },
  };
}
