/** A lesson on the page: its steps over everything, its scene beside the stage or above the ask, the learner's own way on. */

/** @import { Input } from "../poll/ballot.js" */
import { addStyles } from "../../dom/styles.js";
import { goesOn } from "./model.js";
import { mountNav } from "./nav.js";
import { mountScene } from "./scene.js";
import { mountStrip } from "./strip.js";

/**
 * @param {object} world
 * @param {(id: string) => void} world.act
 * @param {(words: string) => void} world.copy
 * @param {(step: string) => void} world.look reads a step again; "": no longer
 * @param {() => void} world.play goes on in one's own copy
 * @param {() => string} world.handout its address
 * @param {import("../../lib/types.d.ts").Dispatch} world.dispatch
 * @param {() => void} world.redraw
 */
export function mountLesson({ act, copy, look, play, handout, dispatch, redraw }) {
  const strip = mountStrip(look);
  const scene = mountScene({ copy, look, play, handout });
  const nav = mountNav(act);
  /** What only a desk shows. @type {ReturnType<typeof import("./bars.js").mountBars> | null} */
  let bars = null;
  const fetched = once(async () => {
    const [{ mountBars }] = await Promise.all([import("./bars.js"), addStyles("class-bars")]);
    bars = mountBars(dispatch);
    redraw();
  });
  /** As wide as the look has room for three columns. */
  const wide = window.matchMedia("(min-width: 1366px)");
  return {
    /**
     * @param {Input} input
     * @returns {{above: HTMLElement[], below: HTMLElement[]}} what stands above the ask and below it, where it is not beside
     */
    render(input) {
      const { lesson, looked, unread } = input.state;
      const desk = !input.ui.phone && wide.matches;
      strip.render(desk ? lesson : null, input.ui, looked?.id ?? "");
      scene.render(input, desk);
      nav.render(input);
      // Whoever leads keeps the stage on which the class's cluster is acted upon.
      const votes = desk && (lesson?.alone || input.view.me?.role === "student") && !input.view.me?.past;
      if (votes) fetched();
      bars?.render(votes ? input : null);
      const stands = Boolean(lesson || unread);
      document.body.classList.toggle("has-lesson", stands && desk);
      if (!strip.element.isConnected) document.getElementById("top-bar")?.after(strip.element);
      if (!stands) scene.element.remove();
      else if (desk && scene.element.nextElementSibling?.id !== "stage") document.getElementById("stage")?.before(scene.element);
      return { above: stands && !desk ? [scene.element] : [], below: lesson && goesOn(lesson, input.view.me) ? [nav.element] : [] };
    },
  };
}

/**
 * Work that is begun once; where it fails, at the next question for it.
 * @param {() => Promise<void>} work
 */
function once(work) {
  let begun = false;
  return () => {
    if (begun) return;
    begun = true;
    work().catch(() => {
      begun = false;
    });
  };
}
