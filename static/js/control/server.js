/** The dock's API server tab: the newest requests, the way of one of them, and the keys of the store. */

/** @import { ApiRequest, Dispatch, Looks, Ui, View } from "../lib/types.d.ts" */
import { element, keepFocus, setAttribute, setText, syncList } from "../dom/dom.js";
import { clockTime, number, text } from "../lib/text.js";
import { refusedWrite } from "../state/roles.js";
import { keysPanel } from "./keys.js";
import { Looked } from "./looked.js";
import { actorChip, choice } from "./parts.js";
import { listKeys, rove } from "./picking.js";
import { AFTER_MAX, afterwards, conflictOf, objectOf } from "./requests-model.js";
import { codeChip, wayPanel } from "./way.js";

/** Requests of the list. */
const LISTED_MAX = 100;
/** How often requests are asked for at most, in real milliseconds; the server hints twice a second at most. */
const EVERY_MS = 500;

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 * @param {Looks} looks
 */
export function mount(root, dispatch, looks) {
  root.classList.add("control");
  const panel = new Panel(root, dispatch, looks);
  return { render: panel.render.bind(panel) };
}

class Panel {
  /**
   * @param {HTMLElement} root
   * @param {Dispatch} dispatch
   * @param {Looks} looks
   */
  constructor(root, dispatch, looks) {
    this.dispatch = dispatch;
    this.looks = looks;
    this.shows = "requests";
    this.only = "all";
    this.chosen = "";
    /** Two writers were asked for after this request: their conflict is shown as soon as it is there. "" where none is. */
    this.awaits = "";
    this.problem = "";
    /** What was last told of new requests. */
    this.hint = "";
    this.drawn = "";
    /** @type {View | null} */
    this.view = null;
    this.ui = /** @type {Ui} */ ({ lang: "en" });
    this.requests = new Looked(() => looks.look(`requests?limit=${LISTED_MAX}`), EVERY_MS, () => this.draw());
    this.keys = keysPanel(looks, dispatch);
    this.bar = element("div", { class: "ct-bar-head" });
    this.list = element("ul", { class: "ct-list", "data-testid": "request-list" });
    this.note = element("p", { class: "hint" });
    this.detail = element("div", { class: "ct-detail", tabindex: "0", role: "region", "data-testid": "request-way" });
    this.split = element("div", { class: "ct-split" }, element("div", { class: "ct-side" }, this.note, this.list), this.detail);
    listKeys(this.list);
    root.append(this.bar, this.split, this.keys.root);
  }

  /** @returns {ApiRequest[]} newest first */
  get all() {
    return /** @type {ApiRequest[] | null} */ (this.requests.value) ?? [];
  }

  draw() {
    const { view, ui: { lang } } = this;
    if (!view) return;
    const { all } = this;
    this.findConflict(all);
    const listed = this.only === "all" ? all : all.filter(({ code }) => code >= 400);
    const chosen = listed.find(({ id }) => id === this.chosen) ?? listed[0] ?? null;
    this.split.hidden = this.shows !== "requests";
    this.keys.root.hidden = this.shows !== "keys";
    keepFocus(this.bar, () => this.bar.replaceChildren(...this.controls(all)));
    const refused = all.filter(({ code }) => code >= 400).length;
    // What is not there yet is said once, where it will be.
    this.note.hidden = !this.problem && !this.requests.problem && all.length === 0;
    setText(this.note, this.problem || this.requests.problem || (all.length === 0 ? text(lang, this.requests.value ? "control.noRequests" : "control.loading")
      : text(lang, view.me?.role === "teacher" ? "control.requests" : "control.ownRequests", { n: number(lang, all.length), refused: number(lang, refused) })));
    syncList(this.list, listed, ({ id }) => `${id} ${lang}`, (request) => this.row(request), (row, { id }) =>
      setAttribute(/** @type {Element} */ (row.firstElementChild), "aria-current", id === chosen?.id ? "true" : null));
    rove(this.list, this.list.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement) : null);
    // What became of the object grows with the log.
    const after = chosen ? afterwards(chosen, view.rows, AFTER_MAX).map(({ revision }) => revision) : [];
    const sign = [lang, chosen?.id, all.length, this.requests.value === null, all[0]?.id, view.people.length, ...after].join("|");
    if (sign === this.drawn) return;
    this.drawn = sign;
    setAttribute(this.detail, "aria-label", text(lang, "control.way"));
    const parts = chosen ? wayPanel(chosen, all, view, lang, this.dispatch) : [this.nothing()];
    keepFocus(this.detail, () => this.detail.replaceChildren(...parts.filter((part) => part !== null)));
  }

  /** @param {readonly ApiRequest[]} all */
  controls(all) {
    const { lang } = this.ui;
    const word = (/** @type {string} */ key) => text(lang, key);
    const refused = all.filter(({ code }) => code >= 400).length;
    return [
      choice([{ value: "requests", word: word("control.showRequests") }, { value: "keys", word: word("control.showKeys") }], this.shows,
        word("control.shows"), (value) => this.turn({ shows: value }), "server-shows"),
      this.shows === "requests" ? choice([{ value: "all", word: word("control.all") }, {
        value: "refused", word: text(lang, "control.onlyRefused", { n: number(lang, refused) }),
      }], this.only, word("control.which"), (value) => this.turn({ only: value }), "server-only") : element("span"),
      this.shows === "requests" && all.length > 0 ? this.meeting("button") : "",
      element("span", { class: "ct-push hint" }, word("control.wallClock")),
    ];
  }

  /**
   * What brings two writers together; "" for who may not write.
   * @param {string} look
   */
  meeting(look) {
    const { lang } = this.ui;
    return this.view && refusedWrite(this.view.me, this.view.me?.namespace ?? "") === null ? element("button", {
      class: look, type: "button", "data-testid": "server-conflict", title: text(lang, "control.meetTitle"), onclick: () => void this.meet(),
    }, text(lang, "control.meet")) : "";
  }

  /** What stands where there is no request yet: how one comes about, and what two at once come to. */
  nothing() {
    const { lang } = this.ui;
    if (!this.requests.value) return element("p", { class: "hint ct-none" }, text(lang, "control.loading"));
    return element("div", { class: "ct-none" }, element("p", { class: "hint" }, text(lang, "control.noRequests")), this.meeting("primary"));
  }

  async meet() {
    this.awaits = this.all[0]?.id ?? "none";
    this.problem = "";
    try {
      await this.looks.showConflict(this.view?.me?.namespace ?? "default");
    } catch (problem) {
      this.awaits = "";
      this.problem = problem instanceof Error ? problem.message : String(problem);
    }
    this.draw();
  }

  /** @param {readonly ApiRequest[]} all */
  findConflict(all) {
    if (!this.awaits || !this.view) return;
    const { view: { rows } } = this;
    const since = all.findIndex(({ id }) => id === this.awaits);
    const found = (since < 0 ? all : all.slice(0, since)).find((one) => conflictOf(one, all, rows)?.again);
    if (!found) return;
    this.awaits = "";
    this.only = "all";
    this.chosen = found.id;
  }

  /** @param {{shows?: string, only?: string}} change */
  turn(change) {
    Object.assign(this, change);
    this.draw();
    if (this.view && this.shows === "keys") this.keys.render(this.view, this.ui);
  }

  /** @param {ApiRequest} request */
  row(request) {
    const { view, ui: { lang } } = this;
    const current = /** @type {View} */ (view);
    return element("li", {}, element("button", {
      type: "button", class: "ct-row", "data-code": request.code, onclick: () => {
        this.chosen = request.id;
        this.draw();
      },
    }, element("b", {}, objectOf(request).name), codeChip(request.code),
    element("span", {}, `${request.verb} ${request.path.split("/").filter(Boolean).slice(-2).join("/")}`),
    element("span", { class: "ct-by" }, actorChip(`user:${request.user}`, current, lang),
      element("time", {}, clockTime(current.epochMs + request.simTime * 1000)))));
  }

  /**
   * @param {View} view
   * @param {Ui} ui
   * @param {boolean} seen
   */
  render(view, ui, seen) {
    const other = !this.view || ui.lang !== this.ui.lang || view.people !== this.view.people || view.rows !== this.view.rows;
    this.view = view;
    this.ui = ui;
    this.looks.followRequests("server", seen);
    // What happens while nobody looks is not told: whoever looks again asks again, and so does a page that was away.
    const hint = seen ? `${ui.requestHints} ${ui.connection}` : "";
    if (hint !== this.hint) {
      this.hint = hint;
      if (seen) this.requests.want();
    }
    if (!seen) return;
    if (other) this.draw();
    if (this.shows === "keys") this.keys.render(view, ui);
  }
}
