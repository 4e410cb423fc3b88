/** The dock: Events, the log of changes as they came with their authors, the scheduler that runs, the formal model. */

/** @import { Dispatch, Looks, Ui, View } from "../lib/types.d.ts" */
/** @import { Tab } from "./dock-tabs.js" */
import { arrowKeys, element, icon, setAttribute, setText } from "../dom/dom.js";
import { paced } from "../lib/paced.js";
import { number, text } from "../lib/text.js";
import { objectsOf } from "../state/selectors.js";
import { dockGuests } from "./dock-guests.js";
import { dockHandle } from "./dock-handle.js";
import { TABS } from "./dock-tabs.js";

/** A laptop's window, or a narrower one, where the stage needs the height more than a list does. */
const SHORT_OF_ROOM = "(max-width: 1439px), (max-height: 800px)";

/** Real milliseconds between two drawings of a list that its session keeps changing. */
const LIST_EVERY_MS = 250;

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 * @param {Looks} looks
 */
export function mount(root, dispatch, looks) {
  const tabs = element("div", { class: "tabs", role: "tablist" });
  const warnings = element("label", { class: "dock-filter" });
  const onlyWarnings = element("input", { type: "checkbox" });
  const warningsText = element("span");
  warnings.append(onlyWarnings, warningsText);
  const replay = element("span", { class: "chip accent", "data-testid": "replay-progress" });
  const fold = element("button", { class: "ghost", type: "button" }, icon("chevron-down"));
  const list = element("div", { class: "event-list", role: "tabpanel", tabindex: "0" });
  const guests = dockGuests(root, dispatch, looks);
  const { handle, show: showHandle } = dockHandle(root, dispatch);
  root.append(handle, element("div", { class: "dock-head" }, [tabs, replay, warnings, fold]), list);

  let tab = /** @type {Tab} */ (TABS[0]);
  const buttons = TABS.map((one) => {
    const button = element("button", { type: "button", role: "tab", "data-testid": `dock-${one.name}` });
    button.addEventListener("click", () => {
      tab = one;
      shown = null;
      list.replaceChildren();
      unfold(true);
      button.scrollIntoView({ block: "nearest", inline: "nearest" });
    });
    return button;
  });
  tabs.append(...buttons);
  const fade = fading(tabs);
  const isOpen = (/** @type {Tab} */ one) => one === tab && !root.classList.contains("folded");
  const follow = follower(list, dispatch, isOpen, () => onlyWarnings.checked);
  /** @type {unknown} */
  let shown = null;
  let shownLang = "";
  onlyWarnings.addEventListener("change", () => {
    shown = null;
    dispatch({ type: "tab", tab: `dock-${tab.name}` });
  });
  fold.addEventListener("click", () => unfold(root.classList.contains("folded")));

  /** @param {boolean} open */
  function unfold(open) {
    root.classList.toggle("folded", !open);
    const page = { "dock-tall": open && tab.tall, "dock-timeline": open && tab.name === "timeline", "dock-folded": !open };
    for (const [name, is] of Object.entries(page)) root.parentElement?.classList.toggle(name, Boolean(is));
    dispatch({ type: "tab", tab: `dock-${tab.name}` });
  }

  if (window.matchMedia(SHORT_OF_ROOM).matches) unfold(false);

  return {
    /** @param {string} name of the tab to open; one that the dock does not have changes nothing */
    open(name) {
      /** @type {HTMLElement | null} */ (tabs.querySelector(`[data-testid="dock-${name}"]`))?.click();
    },
    /** Close it to its tabs. */
    fold() {
      if (!root.classList.contains("folded")) unfold(false);
      return true;
    },
    /** The tab that is open; "" while the dock is folded. */
    get tab() {
      return root.classList.contains("folded") ? "" : tab.name;
    },
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      const folded = root.classList.contains("folded");
      fade(ui.lang);
      setAttribute(root, "aria-label", text(ui.lang, "dock"));
      TABS.forEach((one, index) => {
        const button = /** @type {HTMLElement} */ (buttons[index]);
        setText(button, text(ui.lang, `tab_${one.name}`));
        setAttribute(button, "aria-selected", String(one === tab && !folded));
        setAttribute(button, "tabindex", one === tab ? "0" : "-1");
      });
      const running = replayUnderWay(view);
      replay.hidden = !running;
      if (running) setText(replay, text(ui.lang, "openb_progress", {
        done: number(ui.lang, running.done), total: number(ui.lang, running.total),
      }));
      setText(warningsText, text(ui.lang, "filter_warnings"));
      warnings.hidden = tab.name !== "events" || folded;
      const foldLabel = text(ui.lang, folded ? "dock_unfold" : "dock_fold");
      showHandle(ui.dockHeight, text(ui.lang, "dock_resize"));
      setAttribute(fold, "aria-label", foldLabel);
      setAttribute(fold, "title", foldLabel);
      setAttribute(fold, "aria-expanded", String(!folded));
      list.hidden = Boolean(tab.load);
      guests.render(view, ui, tab, folded);
      const source = tab.source?.(view, ui);
      if (folded || !tab.draw || (shown === source && shownLang === ui.lang && source !== undefined)) return;
      const follows = shown !== null && source !== undefined && shownLang === ui.lang;
      shown = source;
      shownLang = ui.lang;
      if (follows) follow(view, ui, tab);
      else tab.draw(list, view, ui, dispatch, { onlyWarnings: onlyWarnings.checked });
    },
  };
}

/**
 * Has a strip of tabs gone through by arrow keys, and says whether it goes on beyond its edge.
 * @param {HTMLElement} tabs
 * @returns {(lang: string) => void} to be told the language of its words, which give it its width
 */
function fading(tabs) {
  arrowKeys(tabs);
  const fade = () => tabs.toggleAttribute("data-more", tabs.scrollWidth - tabs.scrollLeft > tabs.clientWidth + 1);
  tabs.addEventListener("scroll", fade, { passive: true });
  new ResizeObserver(fade).observe(tabs);
  let spoken = "";
  return (lang) => {
    if (lang !== spoken) requestAnimationFrame(fade);
    spoken = lang;
  };
}

/**
 * A list that its session keeps changing, drawn four times a second at most: nobody reads more, and each moves hundreds of rows.
 * @param {HTMLElement} list
 * @param {Dispatch} dispatch
 * @param {(tab: Tab) => boolean} isOpen
 * @param {() => boolean} onlyWarnings
 */
function follower(list, dispatch, isOpen, onlyWarnings) {
  return paced(LIST_EVERY_MS, (/** @type {View} */ view, /** @type {Ui} */ ui, /** @type {Tab} */ tab) => {
    if (isOpen(tab)) tab.draw?.(list, view, ui, dispatch, { onlyWarnings: onlyWarnings() });
  });
}

/**
 * The recorded trace that is being replayed: arrivals and departures so far, and all of them.
 * @param {View} view
 * @returns {{done: number, total: number} | null}
 */
function replayUnderWay(view) {
  for (const { status } of objectsOf(view, "replays.clustersim.io").values())
    if (status && !status["done"])
      return { done: Number(status["created"]) + Number(status["deleted"]), total: Number(status["total"]) };
  return null;
}
