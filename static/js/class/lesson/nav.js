/** What a learner alone does with a lesson: on, to its exit ticket, back, from the start of the step, make it so, skip. */

/** @import { Input } from "../poll/ballot.js" */
import { element, setAttribute, setText, syncList } from "../../dom/dom.js";
import { text } from "../../lib/text.js";
import { onKeys } from "../place.js";
import { sayLine } from "../poll/outcome.js";
import { aloneNext, goesOn, otherDeeds } from "./model.js";

/** @param {(id: string) => void} act */
export function mountNav(act) {
  const missing = element("p", { class: "hint", "data-testid": "lesson-missing" });
  const refusal = element("p", { class: "field-error", role: "alert" });
  const others = element("div", { class: "lead-others" });
  const main = element("button", { class: "primary", type: "button", "data-testid": "lesson-next" });
  const root = element("div", { class: "lesson-nav" }, [refusal, missing, main, others]);
  let doing = "";
  main.addEventListener("click", () => act(doing));
  onKeys(root, { ArrowRight: () => main.hidden || act(doing) });
  return {
    element: root,
    /** @param {Input} input */
    render({ view, ui, state }) {
      const { lesson } = state;
      root.hidden = !lesson || !goesOn(lesson, view.me);
      if (!lesson || root.hidden) return;
      const next = aloneNext(state);
      main.hidden = !next.main;
      doing = next.main?.id ?? "";
      if (next.main) setText(main, sayLine(ui, next.main.label));
      setAttribute(main, "aria-busy", state.busy ? "true" : null);
      setText(missing, next.missing ? text(ui.lang, next.missing) : "");
      setText(refusal, state.problem === "unreachable" ? text(ui.lang, "unreachable") : state.problem);
      syncList(others, otherDeeds(lesson), ({ id }) => id, ({ id }) =>
        element("button", { class: "button", type: "button", "data-testid": `lesson-${id}`, onclick: () => act(id) }),
      (button, one) => setText(button, sayLine(ui, one.label)));
    },
  };
}
