/** The inspector: head, tabs and the tab that is open, for whatever is selected. */

/** @import { Dispatch, Slim, Ui, View } from "../lib/types.d.ts" */
import { append, arrowKeys, element, setAttribute, setText } from "../dom/dom.js";
import { text } from "../lib/text.js";
import { eventsAbout } from "../state/events.js";
import { authorOf, objectAt } from "../state/selectors.js";
import { eventRows } from "./events.js";
import { factsOf, kindName } from "./facts.js";
import { headOf, stateOf } from "./inspector-head.js";

/** @typedef {"summary" | "decision" | "yaml" | "events"} Tab */

/** What a summary tells of other objects: when these change, it is told anew. */
const RELATED = /** @type {const} */ (["pods", "replicasets.apps", "persistentvolumeclaims", "persistentvolumes"]);

/**
 * What main.js puts into two of the tabs.
 * @typedef {object} Guests
 * @property {{show: (object: Slim, ui: Ui, view: View) => void, element: HTMLElement}} yaml
 * @property {{show: (ui: Ui) => void, element: HTMLElement}} decision
 */

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 * @param {Guests} guests
 */
export function mount(root, dispatch, guests) {
  const head = element("header", { class: "inspector-head" });
  const tabs = element("div", { class: "tabs", role: "tablist" });
  const body = element("div", { class: "inspector-body", role: "tabpanel", tabindex: "0" });
  const empty = element("div", { class: "inspector-empty" });
  const content = element("div", { class: "inspector-content" }, [head, tabs, body]);
  root.append(empty, content);

  // "Why there?" is what a pod is clicked for; what else is selected opens with its summary.
  /** @type {Tab} */
  let tab = "decision";
  let shownPod = false;
  let wantsFocus = false;
  let shownTabs = "";
  let shownHead = "";
  let shownBody = "";
  /** Whose facts stand there. */
  let shownUid = "";
  /** @type {Slim | null} */
  let last = null;
  /** @type {readonly (ReadonlyMap<string, Slim> | undefined)[]} */
  let shownRelated = [];

  /** @param {Tab} next */
  const open = (next) => {
    tab = next;
    shownBody = "";
    shownTabs = "";
    dispatch({ type: "tab", tab: next });
  };
  arrowKeys(tabs);

  return {
    /** @param {string} wanted */
    openTab(wanted) {
      tab = /** @type {Tab} */ (wanted);
    },
    get tab() {
      return tab;
    },
    /** Take the keyboard to the open tab as soon as there is one. */
    focus() {
      wantsFocus = true;
    },
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      setAttribute(root, "aria-label", text(ui.lang, "inspector"));
      const selected = ui.selected;
      const object = selected && objectAt(view, selected.resource, selected.key);
      const hadFocus = !object && content.contains(document.activeElement);
      empty.hidden = Boolean(object);
      content.hidden = !object;
      if (!object) {
        renderEmpty(ui, Boolean(selected) && view.ready);
        // What held the keyboard went with the object.
        if (hadFocus) root.focus();
        shownHead = shownBody = shownTabs = "";
        return;
      }
      last = object;
      const pod = object.resource === "pods";
      if (!pod && tab === "decision") tab = "summary";
      else if (pod && !shownPod && tab === "summary") tab = ui.phone ? "summary" : "decision";
      shownPod = pod;
      renderHead(object, view, ui);
      renderTabs(object, view, ui);
      renderBody(object, view, ui);
      if (wantsFocus) /** @type {HTMLElement | null} */ (tabs.querySelector("[aria-selected=true]"))?.focus();
      wantsFocus = false;
    },
  };

  /**
   * @param {Ui} ui
   * @param {boolean} wasDeleted
   */
  function renderEmpty(ui, wasDeleted) {
    const gone = wasDeleted && last ? text(ui.lang, "gone", { kind: kindName(last), name: last.metadata.name }) : "";
    const title = gone || text(ui.lang, "nothing_selected");
    const hint = text(ui.lang, "nothing_hint");
    if (empty.textContent === title + hint) return;
    empty.replaceChildren(element("h2", {}, title), element("p", { class: "hint" }, hint));
  }

  /**
   * @param {Slim} object
   * @param {View} view
   * @param {Ui} ui
   */
  function renderHead(object, view, ui) {
    const state = stateOf(object, view);
    const author = authorOf(view, object);
    const key = [object.metadata.uid, object.metadata.resourceVersion, state.key, author?.name, ui.lang].join("|");
    if (key === shownHead) return;
    shownHead = key;
    // Told anew, the head keeps the keyboard where it was.
    const focused = [...head.querySelectorAll("button")].indexOf(/** @type {any} */ (document.activeElement));
    head.replaceChildren();
    append(head, headOf(object, { view, ui, dispatch, state, author }));
    if (focused >= 0) head.querySelectorAll("button")[focused]?.focus();
  }

  /**
   * @param {Slim} object
   * @param {View} view
   * @param {Ui} ui
   */
  function renderTabs(object, view, ui) {
    const count = eventsAbout(view, object).length;
    const names = object.resource === "pods"
      ? /** @type {Tab[]} */ (["summary", "decision", "yaml", "events"])
      : /** @type {Tab[]} */ (["summary", "yaml", "events"]);
    const key = [names.length, count, tab, ui.lang].join("|");
    if (key === shownTabs) return;
    const focused = tabs.contains(document.activeElement);
    shownTabs = key;
    tabs.replaceChildren(...names.map((name) => {
      const button = element("button", {
        type: "button", role: "tab", "aria-selected": String(name === tab), tabindex: name === tab ? 0 : -1,
        "data-testid": `inspector-tab-${name}`,
      }, text(ui.lang, `tab_${name}`) + (name === "events" && count ? ` ${count}` : ""));
      button.addEventListener("click", () => open(name));
      return button;
    }));
    if (focused) /** @type {HTMLElement | null} */ (tabs.querySelector("[aria-selected=true]"))?.focus();
  }

  /**
   * @param {Slim} object
   * @param {View} view
   * @param {Ui} ui
   */
  function renderBody(object, view, ui) {
    // Ages tick by the simulated second; everything else changes with the object.
    const second = tab === "summary" ? Math.floor(ui.nowMs / 1000) : 0;
    if (tab === "yaml" || tab === "decision") {
      const guest = guests[tab].element;
      if (body.firstElementChild !== guest) body.replaceChildren(guest);
      if (tab === "yaml") guests.yaml.show(object, ui, view);
      else guests.decision.show(ui);
      shownBody = tab;
      setText(empty, "");
      return;
    }
    const related = tab === "summary" ? RELATED.map((resource) => view.objects.get(resource)) : [];
    const key = [tab, object.metadata.uid, object.metadata.resourceVersion, second, ui.lang].join("|");
    if (key === shownBody && tab === "summary" && related.every((map, at) => map === shownRelated[at])) return;
    shownRelated = related;
    if (tab === "events") {
      if (shownBody !== "events") body.replaceChildren(element("div", { class: "event-list" }));
      eventRows(/** @type {Element} */ (body.firstElementChild), eventsAbout(view, object), view, ui, dispatch, false);
      shownBody = "events";
      return;
    }
    shownBody = key;
    const focusAt = [...body.querySelectorAll("button")].indexOf(/** @type {any} */ (document.activeElement));
    const fresh = element("dl", { class: "facts" }, factsOf(object, view, ui, dispatch).flatMap(([label, value]) => {
      const cell = element("dd");
      append(cell, /** @type {any} */ (value));
      return [element("dt", {}, label), cell];
    }));
    const shown = body.firstElementChild;
    if (shown?.matches(".facts") && shownUid === object.metadata.uid) exchange(shown, fresh);
    else body.replaceChildren(fresh);
    shownUid = object.metadata.uid ?? "";
    if (focusAt >= 0) body.querySelectorAll("button")[focusAt]?.focus();
  }
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
