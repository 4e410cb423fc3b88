/** Presenting on one page: the switch in the top bar, the band, what is told and what is followed, and a projector's scenes. */

/** @import { Dispatch, Presented, Ui, View } from "../lib/types.d.ts" */
/** @import { Shown, Step } from "../state/presenting.js" */
import { element, icon, setAttribute, setText } from "../dom/dom.js";
import { roving } from "../dom/roving.js";
import { text } from "../lib/text.js";
import { isAsking, isGuided, isProjector, sceneOf, standingOf, toldOf } from "../state/presenting.js";
import { mountBand } from "./band.js";
import { openClass } from "./class.js";
import { Follower, Teller } from "./leading.js";
import { mountWays } from "./ways.js";

/** What to touch means to look for oneself: everything that shows the session. Voting, bands and the bar never leave. */
const OWN_LOOK = ".stage, .inspector, .dock, .palette, .past";
/** What stands on the stage, and is a ballot. */
const VOTES = ".lesson-bars";
/** Keys by which one only moves about or reads. */
const QUIET_KEYS = new Set(["Tab", "Shift", "Control", "Alt", "Meta", "Escape"]);

/**
 * @param {object} page
 * @param {HTMLElement} page.band
 * @param {HTMLElement} page.bar where the switch stands
 * @param {Dispatch} page.dispatch
 * @param {() => Omit<Shown, "scene">} page.shown
 * @param {(step: Step) => void} page.take
 * @param {(view: Presented) => void} page.tell
 * @param {() => Promise<import("./class.js").Check>} page.check
 * @param {() => Promise<void>} page.openRoom
 * @param {() => string} page.qr address of the picture
 * @param {string} page.code
 */
export function mountPresenting({ band, bar, dispatch, shown, take, tell, check, openRoom, qr, code }) {
  let scene = "";
  let lit = false;
  /** @type {View | null} */
  let last = null;
  const whole = () => ({ ...shown(), scene });
  const teller = new Teller(tell, { now: () => performance.now(), after: (ms, act) => void setTimeout(act, ms) });
  const follower = new Follower({ shown: whole, take });
  const button = element("button", { class: "button present-button", type: "button", "data-testid": "present" }, [icon("screen"), element("span")]);
  button.addEventListener("click", () => {
    const presents = last && standingOf(last, false) === "presents";
    dispatch({ type: "present", view: presents ? null : toldOf(whole()) });
  });
  /** @type {ReturnType<typeof openClass> | null} */
  let dialog = null;
  const people = element("button", { class: "button present-button", type: "button", "data-testid": "class" }, [icon("users"), element("span")]);
  people.addEventListener("click", () => {
    dialog = openClass({ dispatch, check, qr: qr(), code });
    dispatch({ type: "tab", tab: "class" });
  });
  const copies = element("button", { class: "button present-button", type: "button", "data-testid": "room" }, [icon("layers"), element("span")]);
  copies.addEventListener("click", () => void openRoom().catch(() => {}));
  const ways = mountWays(bar, dispatch);
  // One stop of Tab for all that only a teacher has.
  const tools = element("div", { class: "desk-slot", role: "toolbar" }, [people, copies, button]);
  roving(tools).refresh();
  bar.append(tools);
  const setScene = (/** @type {string} */ next) => {
    if (scene === next) return;
    scene = next;
    dispatch({ type: "tab", tab: "scene" });
  };
  const bandBar = mountBand(band, { dispatch, leave, back, setScene });

  function leave() {
    if (!last || standingOf(last, follower.left) !== "follows" || last.me?.role === "viewer") return false;
    follower.leave();
    dispatch({ type: "tab", tab: "left" });
    return true;
  }

  function back() {
    if (!last || standingOf(last, follower.left) !== "left") return false;
    follower.back();
    dispatch({ type: "tab", tab: "back" });
    return true;
  }

  /** @param {Event} event */
  const touched = (event) => {
    const target = /** @type {Element} */ (event.target);
    if (target.closest(OWN_LOOK) && !target.closest(VOTES)) leave();
  };
  document.addEventListener("pointerdown", touched, true);
  document.addEventListener("keydown", (event) => {
    if (!QUIET_KEYS.has(event.key) && !event.ctrlKey && !event.metaKey) touched(event);
  }, true);

  return {
    leave,
    back,
    setScene,
    /** Whether nobody else says what this page shows. */
    get free() {
      return !last || standingOf(last, follower.left) === "free" || standingOf(last, follower.left) === "presents";
    },
    /**
     * Show what is presented: before a frame is drawn, so that it is the frame.
     * @param {View} view what is there now
     */
    follow: (view) => follower.follow(view),
    /**
     * @param {View} view what is there now, also while the page is held at a moment of the past
     * @param {Ui} ui
     */
    render(view, ui) {
      last = view;
      const standing = standingOf(view, follower.left);
      teller.follow(whole(), standing === "presents");
      // While nobody presents, the wall shows what a lesson's step is about.
      const guided = isGuided(view, ui, standing) ? scene : "";
      const wall = isProjector(view, ui, standing) || guided !== "";
      enlarge(wall && view.presenting.view ? sceneOf(view.presenting.view) : guided, ui.theme, guided !== "");
      // A viewer's screen that is presented to, or asks the class, hangs on a wall: it is lit for the last row, once.
      const hangs = wall || isAsking(view, ui);
      if (hangs && !lit && ui.theme !== "projector") dispatch({ type: "theme", theme: "projector" });
      lit ||= hangs;
      tools.hidden = view.me?.role !== "teacher";
      setAttribute(tools, "aria-label", text(ui.lang, "seats.title"));
      entitle(people, text(ui.lang, "seats.title"));
      entitle(copies, text(ui.lang, "seats.copies"));
      if (dialog?.open) dialog.render(view, ui);
      const label = standing === "presents" ? "presenting.out_presents" : "presenting.present";
      entitle(button, text(ui.lang, label), text(ui.lang, "presenting.present_title"));
      setAttribute(button, "aria-pressed", String(standing === "presents"));
      ways.render(view, ui);
      bandBar.render(view, ui, standing, scene);
    },
  };
}

/**
 * Say what a tool of the bar is called.
 * @param {HTMLElement} tool
 * @param {string} label
 * @param {string} [title]
 */
function entitle(tool, label, title = label) {
  setText(/** @type {Element} */ (tool.lastElementChild), label);
  setAttribute(tool, "aria-label", label);
  setAttribute(tool, "title", title);
}

/**
 * One scene at a time on a wall, and letters for the last row there, whatever its colours.
 * @param {string} scene "": all of the page
 * @param {Ui["theme"]} theme
 * @param {boolean} guided a lesson says it: who hung the wall there still chooses its language and colours
 */
function enlarge(scene, theme, guided) {
  document.body.toggleAttribute("data-guided", guided);
  if (scene) document.body.dataset["scene"] = scene;
  else delete document.body.dataset["scene"];
  document.documentElement.toggleAttribute("data-wall", scene !== "" || theme === "projector");
}
