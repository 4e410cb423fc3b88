/** The dock's Architecture tab: who talks to the API server, as it happens, with a table of the same and a panel of each. */

/** @import { ApiRequest, Dispatch, Looks, Person, Ui, View } from "../lib/types.d.ts" */
/** @import { Exchange, Part } from "./model.js" */
import { element, setAttribute, setText, syncList } from "../dom/dom.js";
import { clockTime, text } from "../lib/text.js";
import { Looked } from "../control/looked.js";
import { actorName } from "../control/parts.js";
import { objectOf } from "../control/requests-model.js";
import { nodes, replicas } from "../state/selectors.js";
import { componentPanel } from "./component.js";
import { exchangeOf, gathered, isRead, partsOf, readOf, refusalOf, saidOf, watchesOf } from "./model.js";
import { nodesRoom } from "./layout.js";
import { Scene } from "./scene.js";

/** Exchanges of the table, and how often components are asked what they watch, at most. */
const LISTED_MAX = 60;
const EVERY_MS = 2_000;
const REFUSALS_EVERY_MS = 500;

/** @typedef {{id: number, user: string, agent: string, verb: string, path: string}} Read one of `GET …/reads` */

/** @type {Record<Exchange["verb"], string>} */
const VERBS = { create: "arch.create", write: "arch.write", delete: "arch.delete", get: "arch.get", list: "arch.lists", watch: "arch.watches" };

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 * @param {Looks} looks
 */
export function mount(root, dispatch, looks) {
  root.classList.add("control", "arch");
  const panel = new Panel(root, looks);
  return { render: panel.render.bind(panel) };
}

class Panel {
  /**
   * @param {HTMLElement} root
   * @param {Looks} looks
   */
  constructor(root, looks) {
    this.looks = looks;
    this.root = root;
    this.chosen = "kube-apiserver";
    /** The newest row that was shown; -1 before the tab was seen. */
    this.revision = -1;
    this.hint = "";
    this.shape = "";
    /** @type {Exchange[]} newest first */
    this.told = [];
    /** Requests that were refused and known. @type {Set<string> | null} */
    this.refused = null;
    /** @type {View | null} */
    this.view = null;
    this.ui = /** @type {Ui} */ ({ lang: "en" });
    this.seen = false;
    this.known = new Looked(() => this.ask(), EVERY_MS, () => this.draw());
    this.requests = new Looked(() => looks.look("requests?limit=40"), REFUSALS_EVERY_MS, () => this.tellRefusals());
    /** The newest read that is known; -1 before any was asked for. */
    this.read = -1;
    this.reads = new Looked(() => looks.look("reads"), REFUSALS_EVERY_MS, () => this.tellReads());
    this.scene = new Scene((id) => {
      this.chosen = id;
      this.draw();
    });
    this.component = componentPanel(looks);
    this.legend = element("div", { class: "ct-bar-head" });
    this.list = element("ol", { class: "arch-list" });
    this.summary = element("summary");
    const twin = element("details", { class: "arch-twin", "data-testid": "architecture-list" }, this.summary, this.list);
    this.field = element("div", { class: "arch-field" }, this.scene.root);
    root.append(this.legend, element("div", { class: "arch-split" }, element("div", { class: "arch-main" }, this.field, twin), this.component.root));
    new ResizeObserver(() => this.draw()).observe(this.field);
  }

  /** @returns {Promise<{watches: Record<string, string[]>, proxies: string[]}>} */
  async ask() {
    const names = this.view ? replicas(this.view).map(({ metadata }) => metadata.name) : [];
    const [proxies, ...insides] = await Promise.all([
      this.looks.look("proxies"), ...names.map((name) => this.looks.look(`replicas/${encodeURIComponent(name)}`)),
    ]);
    return {
      proxies: /** @type {{node: string}[]} */ (proxies).map(({ node }) => node),
      watches: Object.fromEntries(insides.map((one) => [one.identity, watchesOf(one)])),
    };
  }

  /** @returns {Part[]} */
  parts() {
    const view = /** @type {View} */ (this.view);
    const told = this.known.value ?? { watches: {}, proxies: [] };
    const people = view.people.map(({ slug, name, color, online }) => /** @type {Person} */ ({ slug, name, color, online }));
    return partsOf({ replicas: replicas(view), nodes: nodes(view).map(({ name }) => name), people, rows: view.rows }, told,
      nodesRoom(this.field.clientWidth));
  }

  draw() {
    const { view, ui } = this;
    if (!view || !this.seen || this.field.clientWidth === 0) return;
    const { lang } = ui;
    const size = parseFloat(getComputedStyle(this.root).getPropertyValue("--ct-size")) || 12;
    const parts = this.parts();
    this.scene.render(parts, { lang, still: ui.reducedMotion, chosen: this.chosen, revision: view.revision, nodeCount: nodes(view).length },
      { width: this.field.clientWidth, height: this.field.clientHeight, size });
    this.drawLegend();
    this.drawList();
    const chosen = parts.find(({ id }) => id === this.chosen) ?? parts[0];
    if (chosen) this.component.render(chosen, view, ui);
  }

  drawLegend() {
    const { lang } = this.ui;
    const key = (/** @type {string} */ kind, /** @type {string} */ word) => element("span", { class: `arch-key ${kind}` }, text(lang, word));
    if (this.legend.dataset["lang"] === lang) return;
    this.legend.dataset["lang"] = lang;
    this.legend.replaceChildren(key("request", "arch.request"), key("event", "arch.event"), key("refused", "arch.refused"),
      key("breath", "arch.breath"), element("span", { class: "ct-push hint" }, text(lang, "arch.note")));
  }

  drawList() {
    const { ui: { lang } } = this;
    const view = /** @type {View} */ (this.view);
    setText(this.summary, text(lang, "arch.list", { n: this.told.length }));
    syncList(this.list, this.told, ({ id }) => `${id} ${lang}`, (one) => element("li", { class: one.code >= 400 ? "bad" : "" },
      element("time", {}, clockTime(view.epochMs + one.simTimeMs, true)), element("b", {}, actorName(one.actor, view, lang)),
      element("code", {}, saidOf(one, text(lang, VERBS[one.verb]))),
      element("span", {}, one.code >= 400 ? String(one.code) : isRead(one) ? text(lang, "arch.answered") : text(lang, "arch.storedAs", { rv: String(one.revision) })),
      element("small", {}, one.heard.length > 0 ? text(lang, "arch.heard", { names: one.heard.join(", ") }) : "")));
  }

  /** @param {Exchange[]} fresh */
  tell(fresh) {
    if (fresh.length === 0) return;
    // Renewals would push everything else off the table, which tells of each alone.
    this.told = [...fresh.filter(({ breath }) => !breath).reverse(), ...this.told].slice(0, LISTED_MAX);
    this.scene.tell(gathered(fresh));
    this.drawList();
  }

  tellRefusals() {
    const all = /** @type {ApiRequest[] | null} */ (this.requests.value) ?? [];
    const refused = all.filter(({ code }) => code >= 400);
    const known = this.refused;
    this.refused = new Set(refused.map(({ id }) => id));
    if (!known) return;
    this.tell(refused.filter(({ id }) => !known.has(id)).reverse().map((one) => {
      const { resource, name } = objectOf(one);
      return refusalOf(one, resource || one.path.split("/").at(-1) || "", name);
    }));
  }

  tellReads() {
    const all = /** @type {Read[] | null} */ (this.reads.value) ?? [];
    const known = this.read;
    this.read = Math.max(known, 0, ...all.map(({ id }) => id));
    if (known < 0) return;
    this.tell(all.filter(({ id }) => id > known).reverse().map((one) => {
      const about = objectOf({ path: one.path, key: "" });
      const list = one.verb !== "get";
      return readOf(one, { resource: list ? about.name : about.resource || about.name, name: list ? "" : about.name, atMs: this.ui.nowMs });
    }));
  }

  /**
   * @param {View} view
   * @param {Ui} ui
   * @param {boolean} seen
   */
  render(view, ui, seen) {
    const before = this.view;
    const looks = (/** @type {Ui} */ { lang, theme, reducedMotion }) => `${lang} ${theme} ${reducedMotion}`;
    const other = !before || seen !== this.seen || looks(ui) !== looks(this.ui) || view.people !== before.people;
    const changed = !before || view.objects.get("replicas.clustersim.io") !== before.objects.get("replicas.clustersim.io")
      || view.objects.get("nodes") !== before.objects.get("nodes");
    this.view = view;
    this.ui = ui;
    this.seen = seen;
    this.looks.followRequests("architecture", seen);
    // The past stands still.
    if (!seen || ui.past.shown) {
      this.revision = this.read = -1;
      this.refused = null;
      this.hint = "";
      return;
    }
    if (other || changed) this.draw();
    // Which components there are, and which proxies are used, changes with them; nothing asks by itself.
    const shape = [ui.connection, replicas(view).map(({ metadata, status }) => `${metadata.name} ${status?.state}`), view.objects.get("clients.clustersim.io")?.size].join("|");
    if (shape !== this.shape) {
      this.shape = shape;
      this.known.want();
    }
    const hint = `${ui.requestHints} ${ui.connection}`;
    if (hint !== this.hint) {
      this.hint = hint;
      this.requests.want();
      this.reads.want();
    }
    this.follow(view);
  }

  /** @param {View} view */
  follow(view) {
    if (view.revision === this.revision) return;
    const parts = this.parts();
    const first = this.revision < 0;
    const since = first ? 0 : this.revision;
    this.revision = view.revision;
    const fresh = view.rows.filter(({ revision }) => revision > since).map((row) => exchangeOf(row, parts)).filter((one) => one !== null);
    // What was said before the tab was opened stands in the table; only what is said now runs.
    if (!first) return this.tell(fresh);
    const stood = fresh.filter(({ breath }) => !breath).reverse().slice(0, LISTED_MAX);
    this.told = stood;
    this.drawList();
  }
}
