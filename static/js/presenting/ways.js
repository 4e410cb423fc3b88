/** Ways between a class and its copies, in the top bar: to one's own copy, to what is on the wall, back to the class. */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
import { element, icon, setAttribute, setText } from "../dom/dom.js";
import { counted, listed, text } from "../lib/text.js";
import { opensLater } from "../state/classroom.js";
import { onlookers } from "../state/people.js";

/**
 * @param {HTMLElement} bar
 * @param {Dispatch} dispatch
 */
export function mountWays(bar, dispatch) {
  const home = element("a", { class: "button way", "data-testid": "to-class" }, [icon("undo"), element("span")]);
  const wall = element("button", { class: "button way", type: "button", "data-testid": "to-wall" }, [icon("screen"), element("span")]);
  const mine = element("button", { class: "button way", type: "button", "data-testid": "my-copy" }, [icon("copy"), element("span")]);
  const looks = element("span", { class: "chip way way-looks", role: "img", "data-testid": "onlookers" }, [icon("eye"), element("span")]);
  let onWall = "";
  let goingTo = "";
  /** Whether it hangs there that this person came to. */
  let yours = false;
  /** Whether it was told how the class stands. */
  let told = false;
  /** Who looks into this copy, in words. */
  let looked = "";
  /** @type {number | null} null: nothing was told yet */
  let handed = null;
  wall.addEventListener("click", () => onWall && dispatch({ type: "goToWall", code: onWall }));
  mine.addEventListener("click", () => dispatch({ type: "myCopy" }));
  bar.append(home, wall, mine, looks);

  return {
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      const { lang, parent } = ui;
      const role = view.me?.role;
      // Nobody touches what hangs on the wall: it goes there and back by itself.
      if (role === "viewer" && view.home && view.home !== goingTo) {
        // Once: asked for again with every frame, a page would begin anew to load.
        goingTo = view.home;
        location.assign(`/s/${goingTo}`);
      }
      home.hidden = !parent || role === "viewer";
      if (parent) setAttribute(home, "href", `/s/${parent.code}`);
      for (const [one, key] of /** @type {const} */ ([[home, "seats.to_class"], [wall, "seats.to_wall"]])) {
        setText(/** @type {Element} */ (one.lastElementChild), text(lang, key));
        setAttribute(one, "aria-label", text(lang, key));
        setAttribute(one, "title", text(lang, key));
      }
      const lookers = onlookers(view, ui);
      const words = lookers.length ? counted(lang, "seats.looks", { names: listed(lang, lookers), count: lookers.length }) : "";
      looks.hidden = !words;
      setText(/** @type {Element} */ (looks.lastElementChild), words);
      setAttribute(looks, "aria-label", words);
      setAttribute(looks, "title", words);
      if (words && !looked) dispatch({ type: "lookedInto", words });
      looked = words;
      wall.hidden = !view.onWall || role === "viewer";
      mine.hidden = role !== "student" || Boolean(parent);
      setText(/** @type {Element} */ (mine.lastElementChild), text(lang, "seats.my_copy"));
      mine.disabled = opensLater(view);
      setAttribute(mine, "title", text(lang, mine.disabled ? "copy_later" : "seats.my_copy_title"));
      if (role === "viewer" && view.onWall && view.onWall !== onWall) dispatch({ type: "goToWall", code: view.onWall });
      const hung = told && role === "student" && view.onWall !== "" && view.onWall !== onWall;
      // Whose it is is told to them wherever they are: in their own copy, too, and when they come later.
      if (hung || (view.yours && !yours)) dispatch({ type: "wallHung", code: view.onWall, yours: view.yours });
      yours = view.yours;
      told = Boolean(role);
      onWall = view.onWall;
      if (handed !== null && view.handed > handed && role === "student") dispatch({ type: "copyHanded" });
      if (role) handed = view.handed;
    },
  };
}
