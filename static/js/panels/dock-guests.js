/** Tabs of the dock that are fetched when they are first opened, each in a place of its own. */

/** @import { Dispatch, Looks, Ui, View } from "../lib/types.d.ts" */
/** @import { Guest, Tab } from "./dock-tabs.js" */
import { element, setAttribute } from "../dom/dom.js";
import { text } from "../lib/text.js";

/**
 * @param {HTMLElement} root the dock
 * @param {Dispatch} dispatch
 * @param {Looks} looks
 */
export function dockGuests(root, dispatch, looks) {
  /** @type {Map<Tab, {place: HTMLElement, guest: Guest | null}>} */
  const guests = new Map();

  /**
   * @param {Tab} tab
   * @param {Ui} ui
   */
  function invite(tab, ui) {
    if (!tab.load || guests.has(tab)) return;
    const place = element("div", { class: "dock-guest", role: "tabpanel", "data-testid": `dock-panel-${tab.name}` });
    root.append(place);
    /** @type {{place: HTMLElement, guest: Guest | null}} */
    const made = { place, guest: null };
    guests.set(tab, made);
    tab.load(place, dispatch, ui.lang, looks).then((guest) => {
      made.guest = guest;
      dispatch({ type: "tab", tab: `dock-${tab.name}` });
    }, (problem) => {
      // The network was away: opening the tab again tries again.
      console.warn(problem);
      guests.delete(tab);
      place.remove();
    });
  }

  return {
    /**
     * Show the open tab's place, and tell every guest what is new.
     * @param {View} view
     * @param {Ui} ui
     * @param {Tab} tab
     * @param {boolean} folded
     */
    render(view, ui, tab, folded) {
      if (!folded) invite(tab, ui);
      for (const [one, { place, guest }] of guests) {
        const seen = one === tab && !folded;
        place.hidden = !seen;
        setAttribute(place, "aria-label", text(ui.lang, `tab_${one.name}`));
        guest?.render(view, ui, seen);
      }
    },
  };
}
