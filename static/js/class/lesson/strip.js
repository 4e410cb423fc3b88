/** The steps of a lesson, over everything: done, current, ahead. */

/** @import { Lesson } from "../../lib/class.d.ts" */
/** @import { Ui } from "../../lib/types.d.ts" */
import { element, icon, setAttribute, setText, syncList } from "../../dom/dom.js";
import { text } from "../../lib/text.js";
import { stepsOf } from "./model.js";

export function mountStrip() {
  const list = element("ol", { class: "class-steps-list" });
  const root = element("nav", { class: "class-steps", "data-testid": "lesson-steps" }, list);
  return {
    element: root,
    /**
     * @param {Lesson | null} lesson
     * @param {Ui} ui
     */
    render(lesson, ui) {
      root.hidden = !lesson;
      if (!lesson) return;
      setAttribute(root, "aria-label", text(ui.lang, "lesson.steps"));
      syncList(list, stepsOf(lesson), ({ id }) => id, ({ n }) => element("li", {}, [
        element("span", { class: "class-step-n", "aria-hidden": "true" }, [element("span", {}, String(n)), icon("check")]),
        element("span", { class: "class-step-title" }), element("span", { class: "sr-only" }),
      ]), (row, { title, reach }) => {
        row.dataset["reach"] = reach;
        setAttribute(row, "aria-current", reach === "current" ? "step" : null);
        setText(/** @type {Element} */ (row.children[1]), title);
        setText(/** @type {Element} */ (row.children[2]), text(ui.lang, `lesson.${reach}`));
      });
    },
  };
}
