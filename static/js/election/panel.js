/** The dock's tab Leader election: who believed to lead, who saw what, drawn as the socket tells of it. */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
/** @import { Scene as Base } from "../streams/charts.js" */
import { readColours } from "../dom/colours.js";
import { element, setAttribute, setText } from "../dom/dom.js";
import { paced } from "../lib/paced.js";
import { clockTime, text } from "../lib/text.js";
import { exportRow } from "../streams/export.js";
import { LiveTab } from "../streams/live.js";
import { isBound } from "../streams/marks.js";
import { plot } from "../streams/plots.js";
import { SAMPLE_EVERY_MS, recorder as decisions } from "../streams/recorder.js";
import { twin } from "../streams/twin.js";
import { electionChart } from "./charts.js";
import { byOwnClocks } from "./clocks.js";
import { storyOf } from "./model.js";
import { electionRecorder as recorder } from "./recorder.js";
import { surroundings } from "./strip.js";
import { electionTable } from "./words.js";

const COMPONENTS = /** @type {const} */ (["kube-scheduler", "kube-controller-manager"]);
const LEGEND = /** @type {const} */ (["renewed", "lost", "refused", "accepted", "expires", "reads", "observed"]);

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 */
export function mount(root, dispatch) {
  const panel = new Panel(root, dispatch);
  return { render: panel.render.bind(panel) };
}

class Panel extends LiveTab {
  /**
   * @param {HTMLElement} root
   * @param {Dispatch} dispatch
   */
  constructor(root, dispatch) {
    super(root, "election", 1);
    /** @type {typeof COMPONENTS[number]} */
    this.component = "kube-scheduler";
    this.look = "";
    /** Whether each row is drawn by its replica's own clock. */
    this.own = false;
    /** @type {Ui["leases"]} */
    this.leases = [];
    this.place = element("div", { class: "streams-plot election-plot", "data-testid": "election-chart", "aria-hidden": "true" });
    this.title = element("h3");
    this.under = element("span", { class: "hint" });
    this.legend = element("div", { class: "streams-facts election-legend" }, LEGEND.map((name) => element("span", { class: `streams-key ${name}`, "data-name": name })));
    this.table = twin("election-table", "election");
    this.around = surroundings(dispatch);
    this.components = COMPONENTS.map((name) => element("button", {
      type: "button", "data-testid": `election-${name}`, onclick: () => {
        this.component = name;
        this.draw();
      },
    }, name));
    this.clocks = /** @type {const} */ (["true", "own"]).map((name) => element("button", {
      type: "button", "data-testid": `election-${name}-clock`, onclick: () => {
        this.own = name === "own";
        this.draw();
      },
    }));
    this.clock = element("div", { class: "segmented election-clock", role: "group" }, this.clocks);
    this.choice = element("div", { class: "segmented election-choice", role: "group" }, this.components);
    this.controls.root.prepend(this.choice);
    this.plot = plot(this.place, {
      items: () => [0], time: () => 0,
      build: (scene) => electionChart({ ...scene, width: this.place.clientWidth }, this.own ? byOwnClocks(this.story()) : this.story()),
    });
    const words = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ values = {}) => text(this.ui.lang, key, values);
    this.files = exportRow({
      name: "election", words,
      tables: () => ({ election: this.rows(true) }),
      images: () => [{ title: words("election.title"), plots: [this.plot] }],
      names: () => words("election.title"),
      colours: () => readColours(root),
      code: () => this.view?.session?.code ?? "session",
    });
    root.classList.add("streams", "election");
    const chart = element("section", { class: "streams-card election-chart" },
      element("header", {}, this.title, this.under, this.clock), this.place, this.legend, this.table.root);
    this.body = element("div", { class: "election-body", tabindex: "0", role: "region" }, this.around.strip, element("div", { class: "election-main" }, chart, this.around.aside));
    root.append(this.controls.root, this.files.root, this.body);
    this.follow = paced(SAMPLE_EVERY_MS, () => this.draw());
  }

  get fromMs() {
    return this.minutes === Infinity ? Math.min(this.toMs - 60_000, recorder.renewals[0]?.t ?? 0) : this.toMs - this.minutes * 60_000;
  }

  story() {
    const told = [...recorder.told.values()].filter((one) => one.component === this.component);
    const writes = this.component === "kube-scheduler"
      ? decisions.marks.filter(isBound).map((one) => ({ revision: one.revision, t: one.simTimeMs, who: one.replica })) : recorder.writes;
    return storyOf({ told, renewals: recorder.renewals, writes }, this.toMs);
  }

  /** @param {boolean} renewals */
  rows(renewals) {
    const epochMs = this.view?.epochMs ?? 0;
    return electionTable(this.story(), {
      lang: this.ui.lang, fromMs: this.fromMs, renewals, time: (t) => clockTime(epochMs + t, true),
    });
  }

  /** @override */
  draw() {
    const { view, ui } = this;
    if (!this.seen || !view) return;
    const t = (/** @type {string} */ key) => text(ui.lang, key);
    const story = this.story();
    const colours = readColours(this.root);
    this.controls.render(ui, { held: this.held, minutes: this.minutes, epochMs: view.epochMs, heardMs: recorder.renewals.at(-1)?.t ?? 0, thinnedTo: 0 });
    this.words(t);
    const size = parseFloat(getComputedStyle(this.root).getPropertyValue("--stream-size")) || 12;
    // A row needs its letters' height and more; there are as many rows as replicas.
    this.place.style.height = `${Math.round(size * (6 + 4.1 * (story.rows.length + 1) + 1.4 * story.rows.length))}px`;
    /** @type {Omit<Base, "shape">} */
    const scene = { colours, lang: ui.lang, epochMs: view.epochMs, fromMs: this.fromMs, toMs: this.toMs, size, gaps: [] };
    this.around.render(view, ui, { story, component: this.component, colours, fromMs: this.fromMs, renewals: recorder.renewals });
    const key = [colours.key, ui.lang, size, this.component, this.own, recorder.version, decisions.marks.length, this.fromMs, this.toMs, this.place.clientWidth].join(" ");
    this.plot.draw(/** @type {Base} */ (/** @type {unknown} */ (scene)), key);
    this.table.render(() => this.rows(false), ui.lang);
    if (!this.files.root.hidden) this.files.render();
  }

  /** @param {(key: string) => string} t */
  words(t) {
    this.components.forEach((button, index) => setAttribute(button, "aria-pressed", String(COMPONENTS[index] === this.component)));
    this.clocks.forEach((button, index) => setAttribute(button, "aria-pressed", String(this.own === (index === 1))));
    setText(this.under, t(this.own ? "election.underOwn" : "election.under"));
    if (this.look === this.ui.lang) return;
    this.look = this.ui.lang;
    this.place.dataset["loading"] = t("streams.loading");
    setText(this.title, t("election.title"));
    this.clocks.forEach((button, index) => setText(button, t(index ? "election.ownClock" : "election.trueTime")));
    setAttribute(this.clock, "aria-label", t("election.clocks"));
    setAttribute(this.choice, "aria-label", t("election.component"));
    setAttribute(this.body, "aria-label", t("election.title"));
    setAttribute(this.around.aside, "aria-label", t("election.why"));
    for (const one of /** @type {Iterable<HTMLElement>} */ (this.legend.children)) setText(one, t(`election.legend.${one.dataset["name"]}`));
  }

  /**
   * @param {View} view
   * @param {Ui} ui
   * @param {boolean} seen
   */
  render(view, ui, seen) {
    this.take(view, ui, seen);
    if (ui.leases !== this.leases) recorder.learn(ui.leases);
    this.leases = ui.leases;
    if (seen) this.follow();
  }
}
