/** The inspector: head, tabs and the tab that is open, for whatever is selected. */

/** @import { Dispatch, Slim, Ui, View } from "../lib/types.d.ts" */
/** @import { Guests, Tab } from "./inspector-body.js" */
import { append, arrowKeys, element, keepFocus, setAttribute, setText } from "../dom/dom.js";
import { splitKey } from "../lib/kinds.js";
import { text } from "../lib/text.js";
import { eventsAbout } from "../state/events.js";
import { lookersAt } from "../state/looks.js";
import { whose } from "../state/people.js";
import { authorOf, cycleInHand, objectAt } from "../state/selectors.js";
import { keyOf } from "../state/view.js";
import { kindName } from "./facts.js";
import { mountBody } from "./inspector-body.js";
import { headOf, stateOf } from "./inspector-head.js";
import { mountReading } from "./reading.js";

/** @type {readonly Tab[]} */
const POD_TABS = ["summary", "decision", "whatif", "yaml", "events"];
const DECIDED = new Set(["decision", "whatif"]);
const OTHER_TABS = POD_TABS.filter((tab) => !DECIDED.has(tab));

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 * @param {Guests} guests
 */
export function mount(root, dispatch, guests) {
  const head = mountHead(dispatch);
  const tabs = mountTabs((next) => {
    tab = next;
    body.forget();
    tabs.forget();
    dispatch({ type: "tab", tab: next });
  });
  const body = mountBody(dispatch, guests);
  const emptied = mountEmpty(dispatch);
  const empty = emptied.element;
  const content = element("div", { class: "inspector-content" }, [head.element, tabs.element, body.element]);
  root.append(empty, content);
  const reading = mountReading(body.element, () => dispatch({ type: "tab", tab: "read" }));

  // "Why there?" is what a pod is clicked for; what else is selected opens with its summary.
  /** @type {Tab} */
  let tab = "decision";
  let shownPod = false;
  let wantsFocus = false;
  /** The tab was asked for by name: it is not changed for the usual one. */
  let asked = false;
  /** @type {Slim | null} */
  let last = null;

  return {
    /** @param {string} wanted one that the inspector does not have, as an address may name, changes nothing */
    openTab(wanted) {
      const found = POD_TABS.find((name) => name === wanted);
      if (!found) return;
      tab = found;
      asked = true;
    },
    get tab() {
      return tab;
    },
    /** How far the open tab is read: a part of it, and the share of that part. */
    get part() {
      return reading.part;
    },
    /** @param {number} part */
    showPart: (part) => reading.show(part),
    /** Whether the open tab tells of decisions. */
    get decides() {
      return DECIDED.has(tab);
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
        const seen = last !== null && last.resource === selected?.resource && keyOf(last) === selected.key;
        emptied.render(ui, view.ready ? selected : null, seen, offerOf(view));
        // What held the keyboard went with the object.
        if (hadFocus) root.focus();
        for (const part of [head, tabs, body]) part.forget();
        return;
      }
      last = object;
      const pod = object.resource === "pods";
      if (!pod && DECIDED.has(tab)) tab = "summary";
      else if (pod && !shownPod && !asked && tab === "summary") tab = ui.phone ? "summary" : "decision";
      shownPod = pod;
      asked = false;
      head.render(object, view, ui);
      tabs.render(tab, object, view, ui);
      body.render(tab, object, view, ui);
      if (wantsFocus) tabs.focus();
      wantsFocus = false;
    },
  };
}

/**
 * What stands there while nothing is selected. The button stays the same while what it offers changes: a click meets it.
 * @param {Dispatch} dispatch
 */
function mountEmpty(dispatch) {
  const title = element("h2");
  const hint = element("p", { class: "hint" });
  let offered = "";
  const see = element("button", {
    class: "button inspector-see", type: "button", "data-testid": "inspector-see",
    onclick: () => dispatch({ type: "select", resource: "pods", key: offered, tab: "decision", focus: true }),
  });
  return {
    element: element("div", { class: "inspector-empty" }, title, hint, see),
    /**
     * @param {Ui} ui
     * @param {Ui["selected"]} missing what is selected and not there
     * @param {boolean} seen whether it was there before
     * @param {{key: string, held: boolean} | null} offer
     */
    render(ui, missing, seen, offer) {
      const named = missing && { kind: kindName(missing), name: splitKey(missing.key).name };
      setText(title, named ? text(ui.lang, seen ? "gone" : "not_there", named) : text(ui.lang, "nothing_selected"));
      setText(hint, text(ui.lang, "nothing_hint"));
      see.hidden = !offer;
      if (!offer) return;
      offered = offer.key;
      setText(see, text(ui.lang, offer.held ? "see_hand" : "see_last", splitKey(offered)));
    },
  };
}

/**
 * The pod whose decision is worth a look while nothing is selected: the one in hand, else the one that was decided last.
 * @param {View} view
 * @returns {{key: string, held: boolean} | null}
 */
export function offerOf(view) {
  const held = cycleInHand(view)?.cycle.pod ?? "";
  if (held && objectAt(view, "pods", held)) return { key: held, held: true };
  const last = view.decisions.findLast(({ pod }) => objectAt(view, "pods", pod));
  return last ? { key: last.pod, held: false } : null;
}

/** @param {Dispatch} dispatch */
function mountHead(dispatch) {
  const head = element("header", { class: "inspector-head" });
  let shown = "";
  return {
    element: head,
    forget() {
      shown = "";
    },
    /**
     * @param {Slim} object
     * @param {View} view
     * @param {Ui} ui
     */
    render(object, view, ui) {
      const state = stateOf(object, view);
      // What controllers made of a student's work is the student's, too.
      const author = authorOf(view, object) ?? whose(view, object.metadata.namespace);
      const others = lookersAt(view, object.resource, keyOf(object)).map(({ id }) => id);
      const key = [object.metadata.uid, object.metadata.resourceVersion, state.key, author?.name, view.me?.role, ui.enlarged, ui.colourBy, ui.theme, ui.lang,
        ...others].join("|");
      if (key === shown) return;
      shown = key;
      keepFocus(head, () => {
        head.replaceChildren();
        append(head, headOf(object, { view, ui, dispatch, state, author }));
      });
    },
  };
}

/** @param {(tab: Tab) => void} open */
function mountTabs(open) {
  const tabs = element("div", { class: "tabs", role: "tablist" });
  arrowKeys(tabs);
  let shown = "";
  const focus = () => /** @type {HTMLElement | null} */ (tabs.querySelector("[aria-selected=true]"))?.focus();
  return {
    element: tabs,
    focus,
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
      const count = eventsAbout(view, object).length;
      const names = object.resource === "pods" ? POD_TABS : OTHER_TABS;
      const key = [names.length, count, tab, ui.lang].join("|");
      if (key === shown) return;
      shown = key;
      const focused = tabs.contains(document.activeElement);
      tabs.replaceChildren(...names.map((name) => {
        const button = element("button", {
          type: "button", role: "tab", "aria-selected": String(name === tab), tabindex: name === tab ? 0 : -1,
          "data-testid": `inspector-tab-${name}`,
        }, text(ui.lang, `tab_${name}`) + (name === "events" && count ? ` ${count}` : ""));
        button.addEventListener("click", () => open(name));
        return button;
      }));
      if (focused) focus();
    },
  };
}
