/** The end of a lesson: what was to be written down at each step, together. */

/** @import { Lesson } from "../../lib/class.d.ts" */
import { element, setText, syncList } from "../../dom/dom.js";
import { text } from "../../lib/text.js";
import { endsOf } from "./model.js";
import { tellProse } from "./prose.js";

export function mountEnds() {
  const words = element("h3");
  const list = element("ol");
  const root = element("div", { class: "lesson-ends", "data-testid": "lesson-ends" }, [words, list]);
  return {
    element: root,
    /**
     * @param {Lesson | null} lesson null: something else is shown
     * @param {import("../../lib/types.d.ts").Ui} ui
     */
    render(lesson, ui) {
      const ends = lesson ? endsOf(lesson) : [];
      root.hidden = ends.length === 0;
      setText(words, text(ui.lang, "lesson.ends"));
      syncList(list, ends, ({ id }) => id, () => element("li", {}, [element("b"), element("div", { class: "lesson-prose" })]), (row, { title, so }) => {
        setText(/** @type {Element} */ (row.firstElementChild), title);
        tellProse(/** @type {HTMLElement} */ (row.lastElementChild), so);
      });
    },
  };
}
