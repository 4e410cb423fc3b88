/** The dock's tab Watches: a lane a component, what it listed and heard, how far behind it is. */

/** @import { Dispatch, Looks, Ui, View } from "../lib/types.d.ts" */
/** @import { Scene as Base } from "../streams/charts.js" */
/** @import { Table } from "../lib/csv.js" */
import { readColours } from "../dom/colours.js";
import { element, setAttribute, setText, syncList } from "../dom/dom.js";
import { paced } from "../lib/paced.js";
import { clockTime, number, text } from "../lib/text.js";
import { exportRow } from "../streams/export.js";
import { LiveTab } from "../streams/live.js";
import { plot } from "../streams/plots.js";
import { SAMPLE_EVERY_MS } from "../streams/recorder.js";
import { twin } from "../streams/twin.js";
import { lanesTable, momentsTable, resourcesTable, watchesChart } from "./charts.js";
import { watchRecorder as recorder } from "./recorder.js";

const LEGEND = /** @type {const} */ (["events", "lists", "gones", "lag", "cut"]);

/**
 * @param {HTMLElement} root
 * @param {Dispatch} _dispatch
 * @param {Pick<Looks, "followRequests">} looks
 */
export function mount(root, _dispatch, looks) {
  const panel = new Panel(root, looks);
  return { render: panel.render.bind(panel) };
}

class Panel extends LiveTab {
  /**
   * @param {HTMLElement} root
   * @param {Pick<Looks, "followRequests">} looks
   */
  constructor(root, looks) {
    super(root, "watches", 1);
    this.looks = looks;
    this.look = "";
    /** @type {Ui["watches"] | null} */
    this.told = null;
    this.place = element("div", { class: "streams-plot watches-plot", "data-testid": "watches-chart", "aria-hidden": "true" });
    this.title = element("h3");
    this.under = element("span", { class: "hint" });
    this.people = element("p", { class: "hint", "data-testid": "watches-people" });
    this.legend = element("div", { class: "streams-facts watches-legend" }, LEGEND.map((name) => element("span", { class: `streams-key ${name}`, "data-name": name })));
    this.head = element("tr");
    this.body = element("tbody");
    this.caption = element("caption");
    this.resources = twin("watches-resources", "watches");
    this.table = twin("watches-table", "watches");
    this.plot = plot(this.place, { items: () => [0], time: () => 0, build: (scene) => watchesChart(scene, this.lanes) });
    const words = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ values = {}) => text(this.ui.lang, key, values);
    this.files = exportRow({
      name: "watches", words,
      tables: () => ({ watches: this.moments(), resources: resourcesTable(this.lanes, this.ui.lang) }),
      images: () => [{ title: words("watches.title"), plots: [this.plot] }],
      names: (name) => words(name === "watches" ? "watches.title" : "watches.byResource"),
      colours: () => readColours(root),
      code: () => this.view?.session?.code ?? "session",
    });
    root.classList.add("streams", "watches");
    const now = element("div", { class: "streams-rows watches-now", "data-testid": "watches-now" }, element("table", {}, this.caption, element("thead", {}, this.head), this.body));
    this.region = element("div", { class: "watches-body", tabindex: "0", role: "region" }, element("section", { class: "streams-card" },
      element("header", {}, this.title, this.under), this.place, this.legend, now, this.people, this.table.root, this.resources.root));
    root.append(this.controls.root, this.files.root, this.region);
    this.follow = paced(SAMPLE_EVERY_MS, () => this.draw());
  }

  get lanes() {
    return [...recorder.lanes.values()].filter((one) => one.moments.some(({ state }) => state !== "down"));
  }

  get fromMs() {
    const first = Math.min(...this.lanes.map((one) => one.moments[0]?.t ?? 0));
    return this.minutes === Infinity ? Math.min(this.toMs - 60_000, Number.isFinite(first) ? first : 0) : this.toMs - this.minutes * 60_000;
  }

  moments() {
    const epochMs = this.view?.epochMs ?? 0;
    return momentsTable(this.lanes, { lang: this.ui.lang, fromMs: this.fromMs, toMs: this.toMs, time: (t) => clockTime(epochMs + t, true) });
  }

  /** @override */
  draw() {
    const { view, ui } = this;
    if (!this.seen || !view) return;
    const { lang } = ui;
    const { lanes } = this;
    const colours = readColours(this.root);
    const heardMs = ui.watches.atMs;
    this.controls.render(ui, { held: this.held, minutes: this.minutes, epochMs: view.epochMs, heardMs, thinnedTo: 0 });
    this.words();
    const size = parseFloat(getComputedStyle(this.root).getPropertyValue("--stream-size")) || 12;
    this.place.style.height = `${Math.round(size * (4 + 3.2 * Math.max(3, lanes.length)))}px`;
    const scene = { colours, lang, epochMs: view.epochMs, fromMs: this.fromMs, toMs: this.toMs, size, gaps: [] };
    const key = [colours.key, lang, size, recorder.version, this.fromMs, this.toMs, this.place.clientWidth].join(" ");
    this.plot.draw(/** @type {Base} */ (/** @type {unknown} */ (scene)), key);
    this.now(lanesTable(lanes, { lang, toMs: this.toMs }));
    setText(this.people, text(lang, "watches.people", { n: number(lang, view.people.filter((one) => one.online).length), revision: number(lang, view.revision) }));
    this.table.render(() => this.moments(), lang);
    this.resources.render(() => resourcesTable(this.lanes, this.ui.lang), lang);
    setText(/** @type {Element} */ (this.resources.root.querySelector("summary")), text(lang, "watches.byResource"));
    if (!this.files.root.hidden) this.files.render();
  }

  /** @param {Table} table how every component stands */
  now({ head, rows }) {
    const { lang } = this.ui;
    syncList(this.head, head, (name) => name, () => element("th", { scope: "col" }), (place, name) => setText(place, text(lang, `watches.col.${name}`)));
    syncList(this.body, rows, (row) => String(row[0]), (row) => element("tr", {}, row.map((_, index) => element(index ? "td" : "th", index ? {} : { scope: "row" }))), (place, row) =>
      row.forEach((value, index) => setText(/** @type {Element} */ (place.children[index]), typeof value === "number" ? number(lang, value) : String(value ?? "…"))));
  }

  words() {
    const { lang } = this.ui;
    if (this.look === lang) return;
    this.look = lang;
    const t = (/** @type {string} */ key) => text(lang, key);
    this.place.dataset["loading"] = t("streams.loading");
    setText(this.title, t("watches.title"));
    setText(this.under, t("watches.under"));
    setText(this.caption, t("watches.now"));
    setAttribute(this.region, "aria-label", t("watches.title"));
    for (const one of /** @type {Iterable<HTMLElement>} */ (this.legend.children)) setText(one, t(`watches.legend.${one.dataset["name"]}`));
  }

  /**
   * @param {View} view
   * @param {Ui} ui
   * @param {boolean} seen
   */
  render(view, ui, seen) {
    this.take(view, ui, seen);
    // A watch from outside begins without a row in the log.
    this.looks.followRequests("watches", seen);
    if (ui.watches !== this.told && ui.watches.revision >= 0) recorder.learn(ui.watches);
    this.told = ui.watches;
    if (seen) this.follow();
  }
}
