/** The steps of a lesson, over everything: done, current, ahead. */

/** @import { Lesson } from "../../lib/class.d.ts" */
/** @import { Ui } from "../../lib/types.d.ts" */
import { element, icon, setAttribute, setText, syncList } from "../../dom/dom.js";
import { text } from "../../lib/text.js";
import { stepsOf } from "./model.js";

/** @param {(step: string) => void} look reads a step again; "": no longer */
export function mountStrip(look) {
  const list = element("ol", { class: "class-steps-list" });
  const root = element("nav", { class: "class-steps", "data-testid": "lesson-steps" }, list);
  return {
    element: root,
    /**
     * @param {Lesson | null} lesson
     * @param {Ui} ui
     * @param {string} looked the step that is read again
     */
    render(lesson, ui, looked) {
      root.hidden = !lesson;
      if (!lesson) return;
      setAttribute(root, "aria-label", text(ui.lang, "lesson.steps"));
      syncList(list, stepsOf(lesson), ({ id }) => id, ({ id, n }) => element("li", {}, element("button", {
        type: "button", class: "class-step", "data-testid": `lesson-step-${id}`,
        onclick: (/** @type {MouseEvent} */ { currentTarget }) => {
          const button = /** @type {HTMLElement} */ (currentTarget);
          if (!button.hasAttribute("aria-disabled")) look(button.closest("[data-reach=current]") || button.getAttribute("aria-pressed") === "true" ? "" : id);
        },
      }, [
        element("span", { class: "class-step-n", "aria-hidden": "true" }, [element("span", {}, String(n)), icon("check")]),
        element("span", { class: "class-step-title" }), element("span", { class: "sr-only" }),
      ])), (row, { id, title, reach }) => {
        row.dataset["reach"] = reach;
        setAttribute(row, "aria-current", reach === "current" ? "step" : null);
        const button = /** @type {Element} */ (row.firstElementChild);
        setAttribute(button, "aria-disabled", reach === "ahead" ? "true" : null);
        setAttribute(button, "aria-pressed", reach === "done" ? String(looked === id) : null);
        setAttribute(button, "title", reach === "done" ? text(ui.lang, "lesson.read_again") : null);
        setText(/** @type {Element} */ (button.children[1]), title);
        setText(/** @type {Element} */ (button.children[2]), text(ui.lang, `lesson.${reach}`));
      });
    },
  };
}
