/** The steps that are done, where the page has no strip of them: each is read again by a tap. */

/** @import { Lesson } from "../../lib/class.d.ts" */
/** @import { Ui } from "../../lib/types.d.ts" */
import { element, icon, setText, syncList } from "../../dom/dom.js";
import { text } from "../../lib/text.js";
import { stepsOf } from "./model.js";

/** @param {(step: string) => void} look reads a step again */
export function mountPast(look) {
  const words = element("summary");
  const list = element("ol");
  const root = element("details", { class: "lesson-past", "data-testid": "lesson-past" }, [words, list]);
  return {
    element: root,
    /**
     * @param {Lesson | null} lesson null: the strip has them
     * @param {Ui} ui
     */
    render(lesson, ui) {
      const done = lesson ? stepsOf(lesson).filter(({ reach }) => reach === "done") : [];
      root.hidden = done.length === 0;
      setText(words, text(ui.lang, "lesson.past"));
      syncList(list, done, ({ id }) => id, ({ id }) => element("li", {}, element("button", {
        class: "link", type: "button", "data-testid": `lesson-past-${id}`, onclick: () => {
          root.open = false;
          look(id);
        },
      }, [icon("check"), element("span")])), (row, { title }) => setText(/** @type {Element} */ (row.firstElementChild?.lastElementChild), title));
    },
  };
}
