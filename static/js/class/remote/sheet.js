/** The run sheet: where the lesson stands, what it has still to take, and the way to any step; steps as dots above it. */

/** @import { Lesson } from "../../lib/class.d.ts" */
/** @import { Ui } from "../../lib/types.d.ts" */
import { element, icon, setAttribute, setText, syncList } from "../../dom/dom.js";
import { text } from "../../lib/text.js";
import { minutesOf, stepsOf } from "../lesson/model.js";

/**
 * @param {(id: string) => void} act
 */
export function mountSheet(act) {
  const minutes = element("b", { "data-testid": "lead-minutes" });
  const title = element("b");
  const dots = element("ol", { class: "lead-dots", "aria-hidden": "true" });
  const sheet = element("summary");
  const list = element("ol", { class: "lead-sheet", "data-testid": "lead-sheet" });
  const fold = element("details", {}, [sheet, list]);
  const next = element("span", { class: "hint lead-ahead", "data-testid": "lead-ahead" });
  const root = element("div", { class: "lead-lesson" }, [
    element("div", { class: "vote-head" }, [title, minutes]), dots,
    element("div", { class: "lead-way" }, [fold, next]),
  ]);
  return {
    element: root,
    /**
     * @param {Lesson | null} lesson
     * @param {Ui} ui
     */
    render(lesson, ui) {
      root.hidden = !lesson;
      if (!lesson) return;
      const steps = stepsOf(lesson);
      const at = steps.findIndex(({ reach }) => reach === "current");
      setText(title, lesson.step?.title ?? text(ui.lang, "lesson.over"));
      minutes.hidden = at < 0;
      setText(minutes, text(ui.lang, "lead.minutes", { minutes: minutesOf(lesson) }));
      setText(sheet, text(ui.lang, "lead.sheet"));
      const ahead = at < 0 ? undefined : steps[at + 1];
      setText(next, ahead ? text(ui.lang, "lead.ahead", { title: ahead.title }) : "");
      syncList(dots, steps, ({ id }) => id, ({ n }) => element("li", {}, element("span", { class: "class-step-n" }, [element("span", {}, String(n)), icon("check")])),
        (row, { reach }) => void (row.dataset["reach"] = reach));
      syncList(list, steps, ({ id }) => id, ({ id, n }) => element("li", {}, [
        element("span", { class: "class-step-n", "aria-hidden": "true" }, [element("span", {}, String(n)), icon("check")]),
        element("b"), element("small"), element("button", { class: "link", type: "button", onclick: () => {
          fold.open = false;
          act(`start:${id}`);
        } }),
      ]), (row, one) => {
        row.dataset["reach"] = one.reach;
        setAttribute(row, "aria-current", one.reach === "current" ? "step" : null);
        setText(/** @type {Element} */ (row.children[1]), one.title);
        setText(/** @type {Element} */ (row.children[2]), text(ui.lang, one.minimum ? "lead.step_minutes" : "lead.step_if_time", { minutes: one.minutes }));
        const start = /** @type {HTMLElement} */ (row.children[3]);
        setText(start, text(ui.lang, "lead.start_here"));
        setAttribute(start, "aria-label", `${text(ui.lang, "lead.start_here")}: ${one.title}`);
        start.hidden = one.reach === "current";
      });
    },
  };
}
