/** The dock's Compare tab: two schedulers on the same pods and the same seed, and where they differ. */

/** @import { Compared, Dispatch, Ui, View } from "../lib/types.d.ts" */
import { readColours } from "../dom/colours.js";
import { element, keepFocus, setAttribute, setText } from "../dom/dom.js";
import { save } from "../dom/files.js";
import { CONFIG, loadPlotly } from "../dom/plotly.js";
import { csvOf } from "../lib/csv.js";
import { text } from "../lib/text.js";
import { hues, nodesChart, waitsChart } from "./charts.js";
import { saidKey } from "../state/people.js";
import { AS_IT_IS, INPUTS, MOVED, askOf, inputOf, pluginsOf, tableOf } from "./model.js";
import { nodesTable, podsTable, sumsTable, verdictOf } from "./result.js";
import { picker } from "./side.js";

const INPUT_WORDS = { now: "compare.input_now", anew: "compare.input_anew" };

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 */
export function mount(root, dispatch) {
  const panel = new Panel(root, dispatch);
  return { render: panel.render.bind(panel) };
}

class Panel {
  /**
   * @param {HTMLElement} root
   * @param {Dispatch} dispatch
   */
  constructor(root, dispatch) {
    this.root = root;
    this.dispatch = dispatch;
    /** @type {View | null} */
    this.view = null;
    this.ui = /** @type {Ui} */ ({ lang: "en" });
    /** @type {readonly {name: string, title: string}[]} */
    this.eras = [];
    /** @type {Compared | null} */
    this.answer = null;
    this.problem = "";
    this.asking = false;
    this.drawn = "";
    this.turn = 0;
    this.sides = { a: picker("a", AS_IT_IS, () => this.draw()), b: picker("b", MOVED, () => this.draw()) };
    this.inputLabel = element("label", { for: "compare-input" });
    this.input = element("select", { class: "input", id: "compare-input", "data-testid": "compare-input" });
    this.run = element("button", { class: "button primary", type: "button", "data-testid": "compare-run", onclick: () => this.ask() });
    this.csv = element("button", { class: "button", type: "button", "data-testid": "compare-csv", onclick: () => this.saveTable() });
    this.note = element("p", { class: "cmp-note", role: "status", "data-testid": "compare-note" });
    this.verdict = element("p", { class: "cmp-verdict", "data-testid": "compare-verdict" });
    this.sums = element("div");
    this.charts = { nodes: chartPlace("nodes"), waits: chartPlace("waits") };
    this.pods = element("div", { class: "cmp-pods" });
    this.twinTitle = element("summary");
    this.twinRows = element("div", { class: "cmp-table" });
    this.result = element("div", { class: "cmp-result" }, [
      this.verdict, this.sums,
      element("div", { class: "cmp-charts" }, [this.charts.nodes.root, this.charts.waits.root]),
      this.pods, element("details", { class: "cmp-twin", "data-testid": "compare-nodes" }, [this.twinTitle, this.twinRows]),
    ]);
    root.classList.add("cmp");
    root.append(
      element("div", { class: "cmp-form" }, [
        this.sides.a.root, this.sides.b.root,
        element("div", { class: "cmp-ask" }, [element("div", { class: "cmp-pick" }, [this.inputLabel, this.input]), this.run, this.csv]),
      ]),
      this.note, this.result,
    );
    dispatch({ type: "eras", told: (eras) => {
      this.eras = eras;
      this.draw();
    } });
  }

  /** @param {string} key @param {Record<string, string | number>} [values] */
  t = (key, values) => text(this.ui.lang, key, values);

  ask() {
    if (!this.view || this.asking) return;
    const mine = (this.turn += 1);
    this.asking = true;
    this.problem = "";
    this.draw();
    const { a, b } = this.sides;
    this.dispatch({ type: "compare", ask: askOf(a.side, b.side, this.input.value, pluginsOf(this.view)), told: ({ answer, refusal }) => {
      if (mine !== this.turn) return;
      this.asking = false;
      this.answer = answer ?? this.answer;
      this.problem = refusal ? (refusal.causes?.map((one) => `${one.field}: ${one.message}`).join("; ") || refusal.message) : "";
      this.draw();
    } });
  }

  saveTable() {
    if (!this.answer) return;
    save(new Blob([csvOf(tableOf(this.answer, this.t))], { type: "text/csv" }), `${this.view?.session?.code ?? "session"}-compare.csv`);
  }

  draw() {
    const { view, ui, answer, t } = this;
    if (!view) return;
    const plugins = pluginsOf(view);
    for (const side of Object.values(this.sides)) side.render(ui.lang, this.eras, plugins);
    setText(this.run, t(this.asking ? "compare.running" : "compare.run"));
    setAttribute(this.run, "aria-busy", String(this.asking));
    setText(this.note, this.problem || (answer ? "" : t("compare.note")));
    this.note.classList.toggle("bad", Boolean(this.problem));
    this.csv.hidden = this.result.hidden = !answer;
    const colours = readColours(this.root);
    const key = `${ui.lang} ${colours.key} ${this.turn} ${this.asking} ${parseFloat(getComputedStyle(this.root).fontSize)}`;
    if (key === this.drawn) return;
    this.drawn = key;
    setText(this.inputLabel, t("compare.input"));
    const chosen = this.input.value || inputOf(view);
    this.input.replaceChildren(...INPUTS.map((one) => element("option", { value: one, selected: one === chosen },
      one in INPUT_WORDS ? t(INPUT_WORDS[/** @type {"now"} */ (one)]) : t("compare.input_last", { n: one }))));
    setText(this.csv, t("compare.csv"));
    if (answer) this.drawResult(answer);
  }

  /** @param {Compared} answer */
  drawResult(answer) {
    const { ui: { lang }, t } = this;
    this.verdict.replaceChildren(...verdictOf(answer, lang));
    this.verdict.classList.toggle("moved", answer.elsewhere > 0);
    this.sums.replaceChildren(sumsTable(answer, lang));
    keepFocus(this.pods, () => this.pods.replaceChildren(podsTable(answer, lang, (pod) => this.dispatch({ type: "select", resource: "pods", key: pod }),
      (key) => (this.view ? saidKey(this.view, key) : key))));
    setText(this.twinTitle, t("compare.twin"));
    this.twinRows.replaceChildren(nodesTable(answer, lang));
    const scene = { colours: readColours(this.root), lang, size: parseFloat(getComputedStyle(this.root).fontSize) || 12 };
    this.charts.nodes.draw(t("compare.by_node"), nodesChart(answer, scene), scene);
    this.charts.waits.draw(t("compare.waits"), waitsChart(answer, scene), scene);
  }

  /**
   * @param {View} view
   * @param {Ui} ui
   * @param {boolean} seen
   */
  render(view, ui, seen) {
    this.view = view;
    this.ui = ui;
    if (seen) this.draw();
  }
}

/** @param {"nodes" | "waits"} name */
function chartPlace(name) {
  const [title, keys] = [element("h3"), element("span", { class: "cmp-keys", "aria-hidden": "true" })];
  // Its table says the same.
  const place = element("div", { class: "cmp-plot", "aria-hidden": "true", "data-testid": `compare-chart-${name}` });
  const root = element("section", { class: "cmp-card" }, [element("header", {}, [title, keys]), place]);
  return {
    root,
    /**
     * @param {string} words
     * @param {{data: object[], layout: object}} chart
     * @param {import("./charts.js").Scene} scene
     */
    async draw(words, chart, scene) {
      setText(title, words);
      keys.replaceChildren(...["A", "B"].map((side, index) => {
        const key = element("span", {}, side);
        key.style.setProperty("--key", hues(scene)[index] ?? "");
        return key;
      }));
      try {
        const plotly = await loadPlotly();
        await plotly.react(place, chart.data, chart.layout, CONFIG);
        place.dataset["drawn"] = String(Number(place.dataset["drawn"] ?? 0) + 1);
      } catch (problem) {
        // The tables say the same; the next answer tries again.
        console.warn(problem);
      }
    },
  };
}
