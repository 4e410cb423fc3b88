/** The dock's Streams tab: queue and waits, scores, preemptions, utilisation, drawn as the socket tells of them. */

/** @import { Dispatch, Looks, Ui, View } from "../lib/types.d.ts" */
/** @import { Chart } from "./cards.js" */
/** @import { Scene } from "./charts.js" */
/** @import { Column, Mark, Sample } from "./recorder.js" */
import { readColours } from "../dom/colours.js";
import { setAttribute } from "../dom/dom.js";
import { clockTime, text } from "../lib/text.js";
import { nodes } from "../state/selectors.js";
import { Before } from "./before.js";
import { CHARTS, makeCards } from "./cards.js";
import * as charts from "./charts.js";
import { preemptionsTable, queueTable, scoresTable, utilisationTable } from "./csv.js";
import { exportRow } from "./export.js";
import { tellFacts } from "./facts.js";
import { LiveTab } from "./live.js";
import { within } from "./marks.js";
import { plot } from "./plots.js";
import { SAMPLES_MAX, recorder } from "./recorder.js";

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 * @param {Looks} looks
 */
export function mount(root, dispatch, looks) {
  const panel = new Panel(root, dispatch, looks);
  return { render: panel.render.bind(panel) };
}

class Panel extends LiveTab {
  /**
   * @param {HTMLElement} root
   * @param {Dispatch} dispatch
   * @param {Looks} looks
   */
  constructor(root, dispatch, looks) {
    super(root, "streams", 4);
    this.before = new Before(recorder, looks.look);
    this.cards = makeCards(() => this.draw());
    this.plots = makePlots(this.cards.places, () => this.loads(), (id) => {
      const mark = recorder.marks.find((one) => one.id === id);
      if (!mark) return;
      dispatch({ type: "select", resource: "pods", key: mark.pod, tab: "decision" });
      dispatch({ type: "selectTrace", id });
    });
    const { queue, waits, scores, preemptions, heat, fits } = this.plots;
    const drawn = { queue: [queue, waits], scores: [scores], preemptions: [preemptions], utilisation: [heat, fits] };
    const words = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ values = {}) => text(this.ui.lang, key, values);
    this.files = exportRow({
      name: "streams",
      words,
      tables: () => Object.fromEntries(CHARTS.map((name) => [name, this.table(name)])),
      images: () => CHARTS.map((name) => ({ title: words(`streams.${name}`), plots: drawn[name] })),
      names: (name) => words(`streams.${name}`),
      colours: () => readColours(root),
      code: () => this.view?.session?.code ?? "session",
    });
    root.classList.add("streams");
    root.append(this.controls.root, this.files.root, this.cards.root);
    recorder.listeners.add(() => {
      if (this.held === null) this.draw();
      else if (this.seen) this.told();
    });
  }

  /** What is allocated on each node now, in words. */
  loads() {
    return this.view ? nodes(this.view).map(({ requested, allocatable }) => charts.cores(requested.cpuMilli, allocatable.cpuMilli)) : [];
  }

  /**
   * @param {View} view
   * @returns {Scene}
   */
  scene(view) {
    const toMs = this.held ?? this.ui.nowMs;
    const first = Math.min(recorder.samples[0]?.t ?? toMs, toMs - 60_000);
    return {
      colours: readColours(this.root), lang: this.ui.lang, epochMs: view.epochMs, toMs, gaps: recorder.gaps, shape: this.cards.shape,
      fromMs: this.minutes === Infinity ? first : toMs - this.minutes * 60_000,
      size: parseFloat(getComputedStyle(this.root).getPropertyValue("--stream-size")) || 12,
    };
  }

  /** @param {Chart} name */
  table(name) {
    const view = /** @type {View} */ (this.view);
    const { fromMs, toMs, shape } = this.scene(view);
    const clock = (/** @type {number} */ ms) => clockTime(view.epochMs + ms, true);
    if (name === "queue") return queueTable(within(recorder.samples, (one) => one.t, fromMs, toMs), clock);
    if (name === "utilisation") return utilisationTable(within(recorder.columns, (one) => one.t, fromMs, toMs), shape, clock);
    const marks = within(recorder.marks, (one) => one.simTimeMs, fromMs, toMs);
    return name === "scores" ? scoresTable(marks, clock) : preemptionsTable(marks, clock);
  }

  told() {
    this.controls.render(this.ui, {
      held: this.held, minutes: this.minutes, epochMs: this.view?.epochMs ?? 0,
      heardMs: recorder.samples.at(-1)?.t ?? 0, thinnedTo: recorder.thinned ? SAMPLES_MAX : 0,
      reads: this.before.asking,
    });
  }

  /** @override */
  draw() {
    const { view, ui, cards } = this;
    if (!this.seen || !view) return;
    cards.render(ui.lang);
    const scene = this.scene(view);
    void this.before.follow(view, ui, this.minutes === Infinity ? -Infinity : scene.fromMs)?.then(() => this.told());
    this.told();
    tellFacts(cards.facts, scene, view);
    const { heat, fits, ...others } = this.plots;
    const key = `${scene.colours.key} ${scene.lang} ${scene.size} ${recorder.epoch}`;
    for (const one of Object.values(others)) one.draw(scene, key);
    heat.draw(scene, `${key} ${this.minutes} ${this.loads().join()}`);
    fits.draw(scene, `${key} ${JSON.stringify(scene.shape)}`);
    for (const name of CHARTS) cards.tables[name]?.render(() => this.table(name), ui.lang);
    if (!this.files.root.hidden) this.files.render();
  }

  /**
   * @param {View} view
   * @param {Ui} ui
   * @param {boolean} seen
   */
  render(view, ui, seen) {
    const { ui: before } = this;
    const other = !this.view || seen !== this.seen || ui.lang !== before.lang || ui.theme !== before.theme
      || ui.connection !== before.connection || ui.past.shown !== before.past?.shown;
    this.take(view, ui, seen);
    if (other) this.draw();
  }
}

/**
 * @param {ReturnType<typeof makeCards>["places"]} places
 * @param {() => string[]} loads
 * @param {(id: string) => void} choose
 */
function makePlots(places, loads, choose) {
  const sampled = { items: () => recorder.samples, time: (/** @type {Sample} */ one) => one.t };
  const marked = { items: () => recorder.marks, time: (/** @type {Mark} */ one) => one.simTimeMs };
  const columned = { items: () => recorder.columns, time: (/** @type {Column} */ one) => one.t };
  return {
    queue: plot(places.queue, { ...sampled, build: charts.queueChart, grow: charts.growQueue }),
    waits: plot(places.waits, { ...sampled, build: charts.waitsChart, grow: charts.growWaits }),
    scores: plot(places.scores, { ...marked, build: charts.scoresChart, grow: charts.growScores }, choose),
    preemptions: plot(places.preemptions, { ...marked, build: charts.preemptionsChart, grow: charts.growPreemptions }, choose),
    heat: plot(places.heat, { ...columned, build: (scene, columns) => charts.heatChart(scene, columns, loads()) }),
    fits: plot(places.fits, { ...columned, build: charts.fitsChart, grow: charts.growFits }),
  };
}
