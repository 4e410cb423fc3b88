/** The dock's Controllers tab: what each is at, and of one of them queue, workers, caches and what it did last. */

/** @import { ControllerPanel, Dispatch, Looks, Ui, View } from "../lib/types.d.ts" */
import { element, keepFocus, setAttribute, setText, syncList } from "../dom/dom.js";
import { number, text } from "../lib/text.js";
import { controllerPanel } from "./controller.js";
import { inOrder, lagOf, stateOf } from "./controllers-model.js";
import { newestMade } from "./fresh.js";
import { Looked } from "./looked.js";
import { choice } from "./parts.js";
import { listKeys, rove } from "./picking.js";
import { reasonWord } from "./reasons.js";

/** How often the controllers are asked for at most, in real milliseconds. */
const EVERY_MS = 1_000;

/** @type {Record<ReturnType<typeof stateOf>, string>} */
const STATES = {
  working: "control.is.working", queued: "control.is.queued", failing: "control.is.failing", retrying: "control.is.retrying",
  idle: "control.is.idle", unused: "control.is.unused",
};
const TONES = { working: "accent", queued: "accent", failing: "bad", retrying: "bad", idle: "good", unused: "" };

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
    this.order = "busy";
    this.chosen = "";
    /** The reconciliation that is shown: "" is the newest. */
    this.moment = "";
    this.drawn = "";
    this.asked = "";
    /** @type {View | null} */
    this.view = null;
    this.ui = /** @type {Ui} */ ({ lang: "en" });
    this.panels = new Looked(() => looks.look("controllers"), EVERY_MS, () => this.draw());
    this.bar = element("div", { class: "ct-bar-head" });
    this.note = element("p", { class: "hint" });
    this.list = element("ul", { class: "ct-list", "data-testid": "controller-list" });
    this.detail = element("div", { class: "ct-detail", tabindex: "0", role: "region", "data-testid": "controller-panel" });
    listKeys(this.list);
    root.append(this.bar, element("div", { class: "ct-split" }, element("div", { class: "ct-side" }, this.note, this.list), this.detail));
  }

  draw() {
    const { view, ui: { lang } } = this;
    if (!view) return;
    const all = /** @type {ControllerPanel[] | null} */ (this.panels.value) ?? [];
    const listed = this.order === "busy" ? inOrder(all) : all;
    const chosen = listed.find(({ name }) => name === this.chosen) ?? listed[0] ?? null;
    // Whichever works most by then, who reads of one goes on reading of it.
    this.chosen = chosen?.name ?? this.chosen;
    keepFocus(this.bar, () => this.bar.replaceChildren(choice(
      [{ value: "busy", word: text(lang, "control.byWork") }, { value: "table", word: text(lang, "control.byTable") }], this.order,
      text(lang, "control.order"), (value) => {
        this.order = value;
        this.draw();
      }, "controllers-order"),
    element("span", { class: "ct-push hint" }, all[0] ? text(lang, all[0].leading ? "control.ofLeader" : "control.ofFollower", { name: all[0].replica }) : "")));
    setText(this.note, this.panels.problem || (all.length === 0 ? text(lang, "control.loading") : text(lang, "control.controllers", {
      n: number(lang, all.length), busy: number(lang, all.filter((one) => stateOf(one) !== "idle" && stateOf(one) !== "unused").length),
    })));
    syncList(this.list, listed, ({ name }) => `${name} ${lang}`, (one) => this.row(one), (row, one) => this.tellRow(row, one, one === chosen));
    rove(this.list, this.list.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement) : null);
    this.drawDetail(chosen, view);
  }

  /**
   * @param {ControllerPanel | null} chosen
   * @param {View} view
   */
  drawDetail(chosen, view) {
    const { lang } = this.ui;
    setAttribute(this.detail, "aria-label", chosen?.name ?? text(lang, "control.controller"));
    const sign = JSON.stringify([lang, this.moment, chosen]);
    if (sign === this.drawn) return;
    this.drawn = sign;
    if (!chosen) return keepFocus(this.detail, () => this.detail.replaceChildren());
    keepFocus(this.detail, () => this.detail.replaceChildren(...controllerPanel(chosen, this.moment, view, lang, this.dispatch, (moment) => {
      this.moment = moment;
      this.draw();
    })));
  }

  /** @param {ControllerPanel} one */
  row({ name }) {
    return element("li", {}, element("button", {
      type: "button", class: "ct-row", "data-controller": name, onclick: () => {
        if (this.chosen !== name) this.moment = "";
        this.chosen = name;
        this.draw();
      },
    }, element("b", {}, name), element("span", { class: "chip" }), element("span"), element("span", { class: "ct-by" })));
  }

  /**
   * @param {HTMLElement} row
   * @param {ControllerPanel} one
   * @param {boolean} isChosen
   */
  tellRow(row, one, isChosen) {
    const { lang } = this.ui;
    const button = /** @type {HTMLElement} */ (row.firstElementChild);
    const [, chip, why, facts] = /** @type {HTMLElement[]} */ ([...button.children]);
    const state = stateOf(one);
    const lag = lagOf(one);
    setAttribute(button, "aria-current", isChosen ? "true" : null);
    setAttribute(/** @type {Element} */ (chip), "class", `chip ${TONES[state]}`);
    setText(/** @type {Element} */ (chip), text(lang, STATES[state]));
    setText(/** @type {Element} */ (why), one.last ? [one.last.object, reasonWord(one.last.reason, lang)].filter(Boolean).join(": ") : "–");
    setText(/** @type {Element} */ (facts), text(lang, "control.rowFacts", {
      queue: number(lang, one.queue.length), busy: one.workers.busy, limit: one.workers.limit, lag: lag === null ? "?" : number(lang, lag),
    }));
  }

  /**
   * @param {View} view
   * @param {Ui} ui
   * @param {boolean} seen
   */
  render(view, ui, seen) {
    const other = !this.view || ui.lang !== this.ui.lang;
    this.view = view;
    this.ui = ui;
    if (!seen) return;
    const asked = `${newestMade(view)} ${ui.connection}`;
    if (asked !== this.asked) {
      this.asked = asked;
      this.panels.want();
    }
    if (other) this.draw();
  }
}
