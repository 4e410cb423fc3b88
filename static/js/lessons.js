/** The lessons on Home: a card each, alone or with a class. */

/** @import { Lang } from "./lib/types.d.ts" */
/** @import { Card } from "./class/home/model.js" */
import { artOf } from "./class/home/art.js";
import { askForCheck } from "./state/before.js";
import { cardsOf, primaryOf } from "./class/home/model.js";
import { element, icon, keepFocus } from "./dom/dom.js";
import { said } from "./lib/said.js";
import { forgetProgress, lastClass, lessonProgress, listLessons, openLesson, rememberClass } from "./net/lessons.js";
import { ApiError } from "./net/rest.js";

/**
 * @param {object} page
 * @param {HTMLElement} page.root
 * @param {(key: string, values?: Record<string, string>) => string} page.t
 * @param {Lang} page.lang
 * @param {() => string} page.phrase the pass phrase, "" where none is asked for
 * @param {(problem: unknown) => string} page.sentence
 */
export async function showLessons({ root, t, lang, phrase, sentence }) {
  const list = /** @type {HTMLElement} */ (root.querySelector("#lesson-cards"));
  const error = /** @type {HTMLElement} */ (root.querySelector("#lesson-error"));
  const again = askedAgain(root, t, lang);
  const short = /** @type {HTMLInputElement} */ (root.querySelector("#lesson-short"));

  /** @param {string} id @param {boolean} alone */
  const open = async (id, alone) => {
    error.textContent = "";
    for (const button of list.querySelectorAll("button")) button.disabled = true;
    try {
      const { code } = await openLesson({
        lesson: id, alone, minimum: short.checked, ...(alone ? {} : again.of(id)), ...(phrase() ? { passPhrase: phrase() } : {}),
      });
      if (!alone) {
        rememberClass(id);
        askForCheck(code);
      }
      location.assign(`/s/${code}`);
    } catch (problem) {
      for (const button of list.querySelectorAll("button")) button.disabled = false;
      error.textContent = sentence(problem);
      if (problem instanceof ApiError && problem.status.code === 401) document.getElementById("pass-phrase")?.focus();
    }
  };
  const draw = (/** @type {readonly import("./class/home/model.js").LessonLine[]} */ lessons) => {
    const cards = cardsOf(lessons, lessonProgress(), lang);
    const primary = primaryOf(cards);
    keepFocus(list, () => list.replaceChildren(...(cards.length
      ? cards.map((card) => cardOf(card, { t, open, primary: card.id === primary, forget: () => {
        forgetProgress(card.id);
        draw(lessons);
      } }))
      : [element("li", { class: "none" }, t("lessons_none"))])));
  };
  try {
    const lessons = await listLessons();
    again.offer(lessons);
    draw(lessons);
  } catch (problem) {
    list.replaceChildren();
    // A recording and an older server have no lessons, and need not say so.
    root.hidden = problem instanceof ApiError && problem.status.code === 404;
    error.textContent = sentence(problem);
  }
  list.removeAttribute("aria-busy");
}

/**
 * The lesson whose exit ticket a class is asked before the lesson that is opened: the one that a class had here last, unless
 * something else is chosen.
 * @param {HTMLElement} root
 * @param {(key: string) => string} t
 * @param {Lang} lang
 */
function askedAgain(root, t, lang) {
  const row = /** @type {HTMLElement} */ (root.querySelector("#lesson-again-row"));
  const select = /** @type {HTMLSelectElement} */ (root.querySelector("#lesson-again"));
  return {
    /** @param {readonly import("./class/home/model.js").LessonLine[]} lessons */
    offer(lessons) {
      const offered = lessons.filter(({ hasTicket }) => hasTicket);
      row.hidden = offered.length === 0;
      const last = lastClass();
      select.replaceChildren(element("option", { value: "" }, t("lessons_again_none")),
        ...offered.map(({ id, title }) => element("option", { value: id }, said(lang, title))));
      select.value = offered.some(({ id }) => id === last) ? last : "";
    },
    /** @param {string} lesson @returns {{again?: string}} nothing is asked again of the lesson itself */
    of: (lesson) => (select.value && select.value !== lesson ? { again: select.value } : {}),
  };
}

/**
 * @param {Card} card
 * @param {{t: (key: string, values?: Record<string, string>) => string, open: (id: string, alone: boolean) => void, primary: boolean,
 *   forget: () => void}} how
 */
function cardOf(card, { t, open, primary, forget }) {
  const { progress, whole, short } = card;
  const count = (/** @type {{minutes: number, steps: number}} */ { minutes, steps }) => ({ minutes: String(minutes), steps: String(steps) });
  const on = progress && !progress.done;
  return element("li", { class: `lesson-card${on ? " under" : ""}`, "data-testid": `lesson-card-${card.id}` }, [
    element("div", { class: "lesson-picture" }, [
      artOf(card.art),
      card.segments.length ? element("div", { class: "lesson-segments", "aria-hidden": "true" }, card.segments.map((one) => element("i", { class: one }))) : null,
    ]),
    element("h3", {}, card.title),
    element("p", { class: "lesson-idea" }, card.idea),
    element("p", { class: "lesson-minutes" }, element("b", {}, t("lesson_whole", count(whole)))),
    element("p", { class: "lesson-short" }, t("lesson_short", count(short))),
    element("p", { class: "lesson-from" }, [
      card.document === null ? null : element("span", {}, [icon("file", 14), t("lesson_document", { number: String(card.document) })]),
      element("span", { class: "lesson-languages" }, card.languages.map(({ name, now }) => element("span", { class: now ? "now" : "" }, name))),
    ]),
    progress?.done ? element("p", { class: "lesson-finished" }, [icon("check", 14), t("lesson_finished"), " ",
      element("button", { class: "link", type: "button", onclick: forget }, t("lesson_forget"))]) : null,
    element("div", { class: "lesson-buttons" }, [
      on ? element("a", { class: primary ? "primary" : "button", href: `/s/${progress.code}` }, t("lesson_go_on", { step: String(progress.step) }))
        : element("button", { class: "button", type: "button", "data-testid": `lesson-alone-${card.id}`, "aria-label": `${t("lesson_alone")}: ${card.title}`,
          onclick: () => open(card.id, true) }, t("lesson_alone")),
      element("button", { class: "button", type: "button", "data-testid": `lesson-class-${card.id}`, "aria-label": `${t("lesson_class")}: ${card.title}`,
        onclick: () => open(card.id, false) }, t("lesson_class")),
    ]),
  ]);
}
