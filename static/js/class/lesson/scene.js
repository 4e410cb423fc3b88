/** The scene of a step: where the lesson stands, what is told at this moment, the pod in question, what one may do meanwhile. */

/** @import { Input } from "../poll/ballot.js" */
/** @import { Lesson } from "../../lib/class.d.ts" */
/** @import { PodSlim, Ui, View } from "../../lib/types.d.ts" */
/** @import { Step } from "./model.js" */
import { append, element, icon, setAttribute, setText, syncList } from "../../dom/dom.js";
import { formatCpu, formatMemory } from "../../lib/quantity.js";
import { listed, number, text } from "../../lib/text.js";
import { sealedPod } from "../../state/classroom.js";
import { groupOf } from "../../state/groups.js";
import { objectAt, podRequests } from "../../state/selectors.js";
import { sayLine } from "../poll/outcome.js";
import { mountEnds } from "./ends.js";
import { guardsOf, stepOf, whereOf } from "./model.js";
import { mountPast } from "./past.js";
import { tellProse } from "./prose.js";

/**
 * @param {object} world
 * @param {(words: string) => void} world.copy one's notes
 * @param {(step: string) => void} world.look reads a step again; "": no longer
 * @param {() => void} world.play goes on in one's own copy
 * @param {() => string} world.handout its address
 */
export function mountScene({ copy, look, play, handout }) {
  const where = element("p", { class: "lesson-where" });
  const title = element("h2", { "data-testid": "lesson-title", tabindex: "-1" });
  const phases = element("ol", { class: "lesson-phases", "data-testid": "lesson-phases" });
  const prose = element("div", { class: "lesson-prose", "data-testid": "lesson-prose" });
  const hint = element("div", { class: "lesson-hint", "data-testid": "lesson-hint" });
  const so = element("div", { class: "lesson-prose" });
  const copyWords = element("span");
  const conclusion = element("div", { class: "lesson-so", "data-testid": "lesson-so" }, [
    so, element("button", { class: "link", type: "button", onclick: () => copy(so.textContent ?? "") }, [icon("copy"), copyWords]),
  ]);
  const paper = element("a", { class: "link lesson-handout", target: "_blank", rel: "noopener", "data-testid": "lesson-handout" }, [icon("file"), element("span")]);
  const about = element("p", { class: "lesson-document", "data-testid": "lesson-document" }, [icon("file"), element("span")]);
  const wait = waitCard();
  const pod = podCard();
  const meanwhile = meanwhileCard(play);
  const again = againCard(look);
  const unread = element("p", { class: "lesson-hint", role: "alert", "data-testid": "lesson-unread" });
  const live = element("p", { class: "sr-only", role: "status" });
  const root = element("section", { class: "class-scene", tabindex: "0", "data-testid": "lesson-scene" }, [
    // The line to write down comes last, and is what everybody looks for then.
    element("div", { class: "lesson-head" }, [where, title, phases]), wait.element, conclusion, prose, hint, pod.element, meanwhile.element, live,
  ]);
  const past = mountPast(look);
  const ends = mountEnds();
  root.append(ends.element, again.element, unread, paper, past.element, about);
  const over = element("h2", { class: "lesson-over" });
  const playing = element("p", { class: "lesson-hint", role: "status" });
  root.prepend(over);
  wait.element.after(playing);
  let told = "";
  return {
    element: root,
    /**
     * @param {Input} input
     * @param {boolean} strip whether the steps stand over the page
     */
    render({ view, ui, state: { lesson, poll, looked, unread: problem } }, strip) {
      root.hidden = !lesson && !problem;
      unread.hidden = !problem;
      setText(unread, problem ? text(ui.lang, "lesson.unread", { problem }) : "");
      const step = lesson && !looked ? stepOf(lesson) : null;
      over.hidden = !lesson?.id || Boolean(lesson.step || looked);
      paper.hidden = !lesson || (Boolean(lesson.step) && !looked && lesson.step?.phase !== "so");
      setAttribute(paper, "href", handout());
      setText(/** @type {Element} */ (paper.lastElementChild), text(ui.lang, "lesson.handout"));
      about.hidden = lesson?.document === undefined || lesson.document === null;
      setText(/** @type {Element} */ (about.lastElementChild), text(ui.lang, "lesson.source", { number: lesson?.document ?? "" }));
      again.render(looked, ui);
      past.render(strip || looked ? null : lesson, ui);
      for (const part of [...root.children]) if (![over, live, ends.element, again.element, unread, paper, past.element, about].includes(/** @type {any} */ (part))) part.classList.toggle("gone", !step);
      ends.render(looked ? null : lesson, ui);
      if (!lesson) return;
      setAttribute(root, "aria-label", lesson.title);
      setText(over, step ? "" : text(ui.lang, "lesson.over"));
      if (!step || !lesson.step) return;
      setText(where, sayLine(ui, whereOf(lesson)));
      setText(title, lesson.step.title);
      tellPhases(phases, step, ui);
      tellProse(prose, step.prose);
      tellProse(hint, step.hint);
      tellProse(so, step.so);
      conclusion.hidden = step.so.length === 0;
      setText(copyWords, text(ui.lang, "lesson.copy"));
      wait.render(step, ui);
      playing.hidden = !step.playing && !step.failed;
      setText(playing, step.failed || (step.playing ? text(ui.lang, "lesson.playing", step.playing) : ""));
      pod.render(lesson.step.phase === "scene" || lesson.step.phase === "ask" ? (poll?.pod ?? "") : "", view, ui);
      meanwhile.render(lesson, view, ui);
      const words = `${lesson.step.title}: ${text(ui.lang, `lesson.phase_${lesson.step.phase}`)}`;
      if (told && told !== words) setText(live, words);
      told = words;
    },
  };
}

/**
 * @param {HTMLElement} list
 * @param {Step} step
 * @param {Ui} ui
 */
function tellPhases(list, step, ui) {
  syncList(list, step.phases, ({ phase }) => phase, () => element("li"), (row, { phase, reach }) => {
    row.dataset["reach"] = reach;
    setAttribute(row, "aria-current", reach === "current" ? "step" : null);
    setText(row, text(ui.lang, `lesson.phase_${phase}`));
  });
}

/** How far the wait has come; it fills as fast as it may at most take. */
function waitCard() {
  const words = element("b");
  const bar = element("i");
  const root = element("div", { class: "lesson-wait", "data-testid": "lesson-wait" }, [words, element("span", { "aria-hidden": "true" }, bar)]);
  return {
    element: root,
    /**
     * @param {Step} step
     * @param {Ui} ui
     */
    render({ wait }, ui) {
      root.hidden = !wait;
      if (!wait) return;
      root.dataset["state"] = wait.state;
      bar.style.animationDuration = `${wait.seconds}s`;
      setText(words, text(ui.lang, `lesson.wait_${wait.state}`, { seconds: wait.seconds }));
    },
  };
}

function podCard() {
  const name = element("b");
  const hand = element("small");
  const glyph = element("span", { class: "lesson-pod-glyph", "aria-hidden": "true" });
  const facts = element("dl");
  const root = element("div", { class: "lesson-pod" }, [
    element("div", { class: "lesson-pod-head" }, [glyph, element("span", {}, [name, hand])]), facts,
  ]);
  let drawn = "";
  return {
    element: root,
    /**
     * @param {string} key
     * @param {View} view
     * @param {Ui} ui
     */
    render(key, view, ui) {
      const pod = /** @type {PodSlim | null} */ (key ? objectAt(view, "pods", key) : null);
      root.hidden = !pod;
      if (!pod) return;
      const inHand = view.clock?.held?.pod === key;
      setText(name, pod.metadata.name);
      setText(hand, inHand ? text(ui.lang, "lesson.in_hand", { replica: view.clock?.held?.replica ?? "" }) : "");
      // As it is drawn on the stage.
      glyph.style.setProperty("--hue", `var(--owner-${groupOf(view, pod, ui.colourBy).hue + 1})`);
      const guards = guardsOf(view, pod.metadata.namespace ?? "");
      const look = `${pod.metadata.uid} ${pod.metadata.resourceVersion} ${ui.lang} ${guards.map(({ name, allowed }) => `${name} ${allowed}`).join()}`;
      if (look === drawn) return;
      drawn = look;
      const { cpuMilli, memoryBytes, extended } = podRequests(pod);
      const requests = listed(ui.lang, [cpuMilli ? `${formatCpu(cpuMilli)} CPU` : "", memoryBytes ? formatMemory(memoryBytes) : "",
        ...Object.entries(extended).map(([resource, amount]) => `${amount} ${resource}`)].filter(Boolean));
      facts.replaceChildren();
      for (const [label, value] of [
        ["lesson.priority", number(ui.lang, pod.spec?.priority ?? 0)], ["lesson.requests", requests],
        ["lesson.policy", pod.spec?.["preemptionPolicy"] ?? ""],
      ]) if (label && value) append(facts, [element("dt", {}, text(ui.lang, label)), element("dd", {}, String(value))]);
      for (const { name, allowed } of guards) append(facts, [element("dt", {}, name), element("dd", {}, text(ui.lang, "lesson.allows", { n: allowed }))]);
    },
  };
}

/**
 * While time stands: what one does now is taken, and tried when time runs; one's own copy opens at the reveal.
 * @param {() => void} play
 */
function meanwhileCard(play) {
  const first = element("b");
  const rest = element("span");
  const words = element("span");
  const can = element("p", {}, [first, " ", rest]);
  const locked = element("p", { class: "lesson-locked" }, [icon("lock"), words]);
  const opens = element("button", { class: "button", type: "button", "data-testid": "lesson-copy", onclick: play }, [icon("copy"), element("span")]);
  const root = element("div", { class: "lesson-meanwhile" }, [can, locked, opens]);
  return {
    element: root,
    /**
     * @param {Lesson} lesson
     * @param {View} view
     * @param {Ui} ui
     */
    render(lesson, view, ui) {
      const sealed = Boolean(sealedPod(view));
      const told = lesson.step?.phase === "reveal" || lesson.step?.phase === "so";
      root.hidden = lesson.alone || view.me?.role !== "student" || !(sealed || told);
      can.hidden = locked.hidden = !sealed;
      opens.hidden = sealed || !told;
      setText(/** @type {Element} */ (opens.lastElementChild), text(ui.lang, "lesson.play_on"));
      setText(first, text(ui.lang, "lesson.can_act"));
      setText(rest, text(ui.lang, "lesson.can_act_hint"));
      setText(words, text(ui.lang, "lesson.copy_later"));
    },
  };
}

/**
 * A step that is done, to be read again: what was asked and told, and nothing to be done there.
 * @param {(step: string) => void} look
 */
function againCard(look) {
  const title = element("h2", { "data-testid": "lesson-again" });
  const prose = element("div", { class: "lesson-prose" });
  const so = element("div", { class: "lesson-prose" });
  const conclusion = element("div", { class: "lesson-so" }, so);
  const back = element("button", { class: "button", type: "button", "data-testid": "lesson-again-back", onclick: () => look("") });
  const root = element("div", { class: "lesson-again" }, [element("div", { class: "lesson-head" }, title), prose, conclusion, back]);
  return {
    element: root,
    /**
     * @param {import("../../lib/class.d.ts").Looked | null} looked
     * @param {Ui} ui
     */
    render(looked, ui) {
      root.hidden = !looked;
      if (!looked) return;
      setText(title, looked.title);
      tellProse(prose, [...(looked.scene ?? []), ...(looked.ask ?? []), ...(looked.reveal ?? [])]);
      tellProse(so, looked.so ?? []);
      conclusion.hidden = !looked.so?.length;
      setText(back, text(ui.lang, "lesson.again_back"));
    },
  };
}
