/** What stands under the inspector's tabs: the summary's facts, the events, or one of the guests. */

/** @import { Dispatch, Slim, Ui, View } from "../lib/types.d.ts" */
import { append, element, icon, keepFocus } from "../dom/dom.js";
import { text } from "../lib/text.js";
import { sealedPod } from "../state/classroom.js";
import { eventsAbout } from "../state/events.js";
import { keyOf } from "../state/view.js";
import { eventRows } from "./events.js";
import { factsOf } from "./facts.js";

/** @typedef {"summary" | "decision" | "whatif" | "yaml" | "events"} Tab */

/**
 * What main.js puts into three of the tabs.
 * @typedef {object} Guests
 * @property {{show: (object: Slim, ui: Ui, view: View) => void, element: HTMLElement}} yaml
 * @property {{show: (object: Slim, ui: Ui) => void, element: HTMLElement}} decision
 * @property {{show: (object: Slim, ui: Ui, view: View) => void, element: HTMLElement}} whatif
 */

/** Tabs that would tell what a vote is about. @type {ReadonlySet<Tab>} */
const SEALED = new Set(["decision", "whatif", "events"]);

/** What a summary tells of other objects: when these change, it is told anew. */
const RELATED = /** @type {const} */ (["pods", "replicasets.apps", "persistentvolumeclaims", "persistentvolumes", "replicas.clustersim.io"]);

/**
 * @param {Dispatch} dispatch
 * @param {Guests} guests
 */
export function mountBody(dispatch, guests) {
  const body = element("div", { class: "inspector-body", role: "tabpanel", tabindex: "0" });
  /** What stands there: a tab's name or, of a summary, all that it was told from; "" to tell it anew. */
  let shown = "";
  /** Whose facts stand there. */
  let shownUid = "";
  /** @type {readonly (ReadonlyMap<string, Slim> | undefined)[]} */
  let shownRelated = [];

  /** @param {HTMLElement} guest */
  function receive(guest) {
    if (body.firstElementChild !== guest) body.replaceChildren(guest);
  }

  /**
   * @param {Slim} object
   * @param {View} view
   * @param {Ui} ui
   */
  function renderEvents(object, view, ui) {
    if (shown !== "events") body.replaceChildren(element("div", { class: "event-list" }));
    shown = "events";
    eventRows(/** @type {Element} */ (body.firstElementChild), eventsAbout(view, object), view, ui, dispatch, false);
  }

  /**
   * @param {Slim} object
   * @param {View} view
   * @param {Ui} ui
   */
  function renderSummary(object, view, ui) {
    const { uid, resourceVersion } = object.metadata;
    const related = RELATED.map((resource) => view.objects.get(resource));
    // Ages tick by the simulated second; everything else changes with the objects.
    const key = ["summary", uid, resourceVersion, Math.floor(ui.nowMs / 1000), view.clock?.paused, ui.lang].join("|");
    if (key === shown && related.every((map, at) => map === shownRelated[at])) return;
    shown = key;
    shownRelated = related;
    const fresh = factList(object, view, ui, dispatch);
    const facts = body.firstElementChild;
    keepFocus(body, () => {
      if (facts?.matches(".facts") && shownUid === uid) exchange(facts, fresh);
      else body.replaceChildren(fresh);
    });
    shownUid = uid ?? "";
  }

  /**
   * @param {Slim} object
   * @param {Ui} ui
   */
  function renderSealed(object, ui) {
    const words = text(ui.lang, "sealed_pod", { name: object.metadata.name });
    if (shown === words) return;
    shown = words;
    keepFocus(body, () => body.replaceChildren(
      element("p", { class: "sealed-note", "data-testid": "inspector-sealed" }, [icon("lock"), element("span", {}, words)])));
  }

  return {
    element: body,
    /** Tell it anew next time, whatever stands there. */
    forget() {
      shown = "";
    },
    /**
     * @param {Tab} tab
     * @param {Slim} object
     * @param {View} view
     * @param {Ui} ui
     */
    render(tab, object, view, ui) {
      if (SEALED.has(tab) && object.resource === "pods" && keyOf(object) === sealedPod(view)) return renderSealed(object, ui);
      if (tab === "events") return renderEvents(object, view, ui);
      if (tab === "summary") return renderSummary(object, view, ui);
      receive(guests[tab].element);
      shown = tab;
      if (tab === "decision") guests.decision.show(object, ui);
      else guests[tab].show(object, ui, view);
    },
  };
}

/**
 * @param {Slim} object
 * @param {View} view
 * @param {Ui} ui
 * @param {Dispatch} dispatch
 */
function factList(object, view, ui, dispatch) {
  return element("dl", { class: "facts" }, factsOf(object, view, ui, dispatch).flatMap(([label, value]) => {
    const cell = element("dd");
    append(cell, /** @type {any} */ (value));
    return [element("dt", {}, label), cell];
  }));
}

/**
 * Put the rows that changed in the place of what stands there. A row that stays is the same element, so a click that
 * began on its link ends on it, however fast time runs.
 * @param {Element} shown
 * @param {Element} fresh
 */
function exchange(shown, fresh) {
  const before = [...shown.children];
  const after = [...fresh.children];
  for (const [at, row] of after.entries()) {
    const old = before[at];
    if (!old) shown.append(row);
    else if (!old.isEqualNode(row)) old.replaceWith(row);
  }
  for (const old of before.slice(after.length)) old.remove();
}
