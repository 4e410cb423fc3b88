/** The world that a rule comes to: nodes as bars, who dies marked, what it says of itself. */

/** @import { Bar, World } from "./model.js" */
import { element, icon } from "../dom/dom.js";

/** @typedef {(key: string, values?: Record<string, string>) => string} Translate */

/**
 * @param {{t: Translate, play: ((rule: string) => Promise<unknown>) | null}} scene
 * @param {World} world
 * @param {boolean} real the engine's
 */
export function worldCard({ play, t }, world, real) {
  const button = !real && play ? element("button", { class: "button", type: "button", "data-testid": "rules-play", onclick: () => void play(world.id) }, t("rules.play")) : null;
  return element("section", { class: real ? "rw-card rw-world real" : "rw-card rw-world own", "data-testid": real ? "rules-engine" : "rules-world" }, [
    element("div", { class: "rw-head" }, [real ? icon("crown") : null, element("h3", {}, world.title), element("span", { class: "rw-waits" }, world.waits)]),
    element("ul", { class: "rw-bars" }, world.bars.map((bar) => barRow(bar, t))),
    element("p", { class: "rw-dies" }, world.dies),
    element("p", { class: "hint" }, world.why),
    button,
  ]);
}

/** @param {Bar} bar @param {Translate} t */
export function barRow(bar, t) {
  const parts = bar.parts.map((part) => {
    const words = [part.victim ? "✕ " : "", `${part.name} ${part.priority}`].join("");
    const box = element("span", { class: part.victim ? "pod victim" : "pod", title: `${part.name} ${part.priority}` }, [
      words, part.guarded ? element("span", { class: "rw-guard" }, "PDB") : null,
      part.victim ? element("span", { class: "sr-only" }, t("rules.dies_word")) : null,
    ]);
    box.style.flexGrow = String(part.share);
    return box;
  });
  const free = element("span", { class: "free", "aria-hidden": "true" });
  free.style.flexGrow = String(bar.free);
  return element("li", { class: bar.chosen ? "chosen" : "" }, [
    element("b", {}, bar.name), element("span", { class: "rw-bar" }, bar.free > 0 ? [...parts, free] : parts),
  ]);
}
