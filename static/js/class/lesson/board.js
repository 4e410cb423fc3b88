/** A lesson on the projector: what is told at this moment, in letters that the last row reads. */

/** @import { Input } from "../poll/ballot.js" */
import { element, setAttribute, setText } from "../../dom/dom.js";
import { text } from "../../lib/text.js";
import { sayLine } from "../poll/outcome.js";
import { mountEnds } from "./ends.js";
import { stepOf, whereOf } from "./model.js";
import { tellProse } from "./prose.js";

export function mountBoard() {
  const where = element("p", { class: "wall-pod" });
  const title = element("h2", { "data-testid": "board-title" });
  const prose = element("div", { class: "lesson-prose" });
  const hint = element("div", { class: "lesson-prose board-hint" });
  const so = element("div", { class: "lesson-prose board-so", "data-testid": "board-so" });
  const ends = mountEnds();
  const root = element("section", { class: "wall board", "data-testid": "wall-lesson" },
    element("div", { class: "wall-page" }, [element("header", {}, [where, title]), prose, hint, so, ends.element]));
  root.hidden = true;
  return {
    element: root,
    /** @param {Input | null} input null: something else is shown */
    render(input) {
      const lesson = input?.state.lesson ?? null;
      root.hidden = !lesson;
      if (!input || !lesson) return;
      const { lang } = input.ui;
      const step = stepOf(lesson);
      setAttribute(root, "aria-label", lesson.title);
      setText(where, lesson.step ? `${lesson.title} · ${sayLine(input.ui, whereOf(lesson))}` : lesson.title);
      setText(title, lesson.step?.title ?? text(lang, "lesson.over"));
      // The line to write down stands alone: everybody writes.
      const told = step?.so.length ?? 0;
      tellProse(prose, told ? [] : (step?.prose ?? []));
      tellProse(hint, told ? [] : (step?.hint ?? []));
      tellProse(so, step?.so ?? []);
      for (const part of [prose, hint, so]) part.hidden = !part.childElementCount;
      ends.render(lesson, input.ui);
    },
  };
}
