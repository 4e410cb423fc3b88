/** What is written over the nodes: the rule of detail with the zoom, and which attempt of the past is shown. */

/** @import { Dispatch, Lang } from "../lib/types.d.ts" */
/** @import { Layout } from "./levels.js" */
/** @import { Model } from "./model.js" */
/** @import { Told } from "./told.js" */
import { setText } from "../dom/dom.js";
import { clockTime, number, text } from "../lib/text.js";
import { h, icon } from "../dom/h.js";
import { ZOOM_MAX, finerBy } from "./levels.js";

/** Steps of the slider, which is logarithmic. */
const SLIDER_STEPS = 100;

/**
 * @param {HTMLElement} element
 * @param {(zoom: number) => void} onZoom
 */
export function mountBanner(element, onZoom) {
  element.className = "st-notes";
  const level = h("b");
  const rule = h("span");
  const factor = h("span", { class: "st-zoom-factor" });
  const slider = h("input", {
    type: "range", min: "0", max: String(SLIDER_STEPS), step: "1", "data-testid": "stage-zoom",
  });
  slider.addEventListener("input", () => onZoom(ZOOM_MAX ** (Number(slider.value) / SLIDER_STEPS)));
  const detail = h("div", { class: "st-banner st-detail" }, icon("eye", 16), h("p", {}, level, " ", rule), factor, slider);
  // Nothing is shown, nor read out, before it has its words.
  detail.hidden = true;
  element.append(detail);

  /** @param {{layout: Layout, count: number, lang: Lang}} input */
  function render({ layout, count, lang }) {
    detail.hidden = layout.level <= 2 && layout.zoom === 1;
    if (!detail.hidden) {
      setText(level, text(lang, "banner.level", { n: layout.level }));
      const finer = finerBy(count, layout);
      const sentence = text(lang, `level.${layout.level}`, { n: number(lang, layout.inView) });
      if (finer === "room") setText(rule, text(lang, "banner.room", { n: number(lang, layout.inView) }));
      else setText(rule, finer && layout.level > 1
        ? `${sentence} ${text(lang, "banner.zoom", { x: number(lang, finer, 1), what: text(lang,
          `level.${layout.level - 1}.zoom`) })}` : sentence);
      setText(factor, `${number(lang, layout.zoom, 1)}×`);
      slider.setAttribute("aria-label", text(lang, "banner.slider"));
      slider.value = String(Math.round((SLIDER_STEPS * Math.log(layout.zoom)) / Math.log(ZOOM_MAX)));
    }
  }
  return { render };
}

/**
 * Says that the nodes show an attempt of the past, with the way back to what happens now.
 * @param {HTMLElement} element
 * @param {Dispatch} dispatch
 */
export function mountRecall(element, dispatch) {
  const said = h("p");
  const words = h("span");
  const back = h("button", {
    type: "button", class: "st-recall-back", "data-testid": "stage-live",
    onclick: () => dispatch(explained ? { type: "deselect" } : { type: "selectTrace", id: "" }),
  }, words, h("kbd", { text: "Esc" }));
  const bar = h("div", { class: "st-banner st-recall", role: "status", "data-testid": "stage-recall" }, icon("clock", 16), said, back);
  bar.hidden = true;
  element.append(bar);
  let explained = false;

  /**
   * @param {Pick<Told, "cycle" | "explained"> | null} told null while the stage tells what happens now
   * @param {Model} model
   * @param {number} epochMs
   * @param {Lang} lang
   */
  function render(told, model, epochMs, lang) {
    bar.hidden = !told;
    if (!told) return;
    const { cycle } = told;
    explained = Boolean(told.explained);
    bar.dataset["explained"] = String(explained);
    const pod = model.say(cycle.pod);
    setText(said, text(lang, "recall.said", { n: cycle.attempt, pod, time: clockTime(epochMs + cycle.startedAtMs) }));
    setText(words, text(lang, "recall.back"));
  }
  return { render };
}
