/** The picker of one side: what runs now, an era, other weights and a plugin left out, or a configuration as YAML. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Side } from "./model.js" */
import { breakable, element, keepFocus, setText } from "../dom/dom.js";
import { text } from "../lib/text.js";

const WEIGHT_MAX = 10;

/**
 * @param {"a" | "b"} name
 * @param {Side} begun
 * @param {() => void} changed
 */
export function picker(name, begun, changed) {
  const label = element("label", { for: `compare-${name}` });
  const kind = element("select", { class: "input", id: `compare-${name}`, "data-testid": `compare-${name}` });
  const more = element("div", { class: "cmp-more" });
  const root = element("div", { class: `cmp-side cmp-side-${name}`, role: "group" }, [
    element("div", { class: "cmp-pick" }, [element("b", { class: "cmp-letter", "aria-hidden": "true" }, name.toUpperCase()), label, kind]), more,
  ]);
  /** @type {Side} */
  let side = begun;
  let drawn = "";
  kind.addEventListener("change", () => {
    turn({ kind: kind.value });
    drawn = "";
    changed();
  });

  /** @param {Partial<Side>} part */
  function turn(part) {
    side = { ...side, ...part };
    changed();
  }

  return {
    root,
    get side() {
      return side;
    },
    /**
     * @param {Lang} lang
     * @param {readonly {name: string, title: string}[]} eras
     * @param {readonly {name: string, weight: number}[]} plugins
     */
    render(lang, eras, plugins) {
      const key = JSON.stringify([lang, eras, plugins, side.kind]);
      if (key === drawn) return;
      drawn = key;
      const t = (/** @type {string} */ word, /** @type {Record<string, string | number>} */ values = {}) => text(lang, word, values);
      setText(label, t("compare.side", { side: name.toUpperCase() }));
      root.setAttribute("aria-label", label.textContent ?? "");
      const kinds = [
        ["now", t("compare.now")], ["weights", t("compare.weights")],
        ...eras.map((era) => [`era:${era.name}`, t("compare.era", { title: era.title })]), ["yaml", t("compare.yaml")],
      ];
      kind.replaceChildren(...kinds.map(([value, words]) => element("option", { value, selected: value === side.kind }, words)));
      keepFocus(more, () => more.replaceChildren(...(side.kind === "weights" ? weights(name, { side, plugins, t, turn }) : []),
        ...(side.kind === "yaml" ? [yaml(name, { side, t, turn })] : [])));
    },
  };
}

/**
 * @typedef {object} Scope
 * @property {Side} side
 * @property {(word: string, values?: Record<string, string | number>) => string} t
 * @property {(part: Partial<Side>) => void} turn
 */

/**
 * @param {"a" | "b"} name
 * @param {Scope & {plugins: readonly {name: string, weight: number}[]}} scope
 */
function weights(name, { side, plugins, t, turn }) {
  let moved = { ...side.weights };
  const sliders = plugins.filter(({ weight }) => weight > 0).map((plugin) => {
    const value = element("output");
    const track = element("input", {
      type: "range", min: "0", max: String(Math.max(WEIGHT_MAX, plugin.weight)), step: "1", value: String(moved[plugin.name] ?? plugin.weight),
      "aria-label": t("compare.weight", { plugin: plugin.name }), "data-testid": `compare-${name}-weight-${plugin.name}`,
    });
    const tell = () => {
      const other = track.value !== String(plugin.weight);
      value.textContent = other ? t("compare.from", { now: track.value, before: plugin.weight }) : `× ${track.value}`;
      value.classList.toggle("other", other);
    };
    track.addEventListener("input", () => {
      moved = { ...moved, [plugin.name]: Number(track.value) };
      tell();
      turn({ weights: moved });
    });
    tell();
    return element("label", {}, [element("span", {}, breakable(plugin.name)), track, value]);
  });
  const without = element("select", { class: "input", "data-testid": `compare-${name}-without` },
    ["", ...plugins.map((plugin) => plugin.name)].map((one) => element("option", { value: one, selected: one === side.without }, one || "–")));
  without.addEventListener("change", () => turn({ without: without.value }));
  return [element("div", { class: "cmp-weights" }, sliders), element("label", { class: "cmp-without" }, [t("compare.without"), without])];
}

/**
 * @param {"a" | "b"} name
 * @param {Scope} scope
 */
function yaml(name, { side, t, turn }) {
  const area = element("textarea", {
    class: "input cmp-yaml", rows: "8", spellcheck: "false", "aria-label": t("compare.yaml"), "data-testid": `compare-${name}-yaml`,
    placeholder: "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- …",
  });
  area.value = side.yaml;
  area.addEventListener("input", () => turn({ yaml: area.value }));
  return area;
}
