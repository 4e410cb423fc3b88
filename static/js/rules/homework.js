/** Homework: a student's tasks, each on a cluster of their own, marked at once; a teacher sets it and sees how far a class is. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Line, Own, Progress, Shown } from "./homework_model.js" */
/** @import { Finding } from "./finder.js" */
/** @import { Speak } from "./frame.js" */
/** @import { Rule } from "./model.js" */
import { element, keepFocus, setText } from "../dom/dom.js";
import { said } from "../lib/said.js";
import { text } from "../lib/text.js";
import { doneOf, NONE, progressOf, shownOf, taskRules, TOPICS, wishOf } from "./homework_model.js";
import { mountFinder } from "./finder.js";
import { findable } from "./finder_model.js";
import { openFrame } from "./frame.js";
import { player } from "./player.js";
import { barRow, worldCard } from "./worlds.js";

/** @typedef {(key: string, values?: Record<string, string>) => string} Translate */
/**
 * @typedef {object} Given
 * @property {Speak} speak
 * @property {Finding} finding
 * @property {boolean} leads who sets homework and sees everybody's
 * @property {readonly Rule[]} rules
 * @property {string} first what the address names; "" nothing
 * @property {string} sheet address of the results
 * @property {readonly {id: string, name: string}[]} students
 * @property {() => Promise<(Line | Progress)[]>} list
 * @property {(id: string) => Promise<Own>} read
 * @property {(id: string, task: number, choice: string[]) => Promise<Own>} answer
 * @property {(id: string, task: number) => Promise<{code: string, url: string}>} play opens a task's cluster as a session
 * @property {(wish: object) => Promise<unknown>} set
 * @property {(id: string) => Promise<unknown>} remove
 * @property {(id: string) => void} share copies its link
 */

/** @param {Given} given */
export function openHomework(given) {
  const { dialog } = openFrame({
    name: "hw", testId: "homework", speak: given.speak,
    build(lang) {
      /** @type {Translate} */
      const t = (key, values = {}) => text(lang, key, values);
      const problem = element("p", { class: "field-error", role: "alert" });
      const body = element("div", { class: "hw-body" });
      /** @param {() => Promise<unknown>} work */
      const attempt = async (work) => {
        setText(problem, "");
        try {
          await work();
        } catch (refusal) {
          if (!(refusal instanceof Error)) throw refusal;
          setText(problem, refusal.message);
        }
      };
      const here = { ...given, lang };
      /** @type {() => Promise<void>} */
      const show = given.leads ? () => teach(here, { t, body, attempt, show }) : () => learn(here, { t, body, attempt });
      void attempt(show);
      return { head: [element("h2", { id: "rw-title" }, t("rules.homework"))], body: [problem, body] };
    },
  });
  return dialog;
}

/** @typedef {Given & {lang: Lang}} Here */
/** @typedef {{t: Translate, body: HTMLElement, attempt: (work: () => Promise<unknown>) => Promise<void>}} Place */

/**
 * A student's tasks, those of the newest homework first.
 * @param {Here} given
 * @param {Place} place
 */
async function learn(given, { t, body, attempt }) {
  const lines = await given.list();
  const wanted = lines.find(({ id }) => id === given.first) ?? lines.at(-1);
  if (!wanted) return body.replaceChildren(element("p", { class: "hint" }, t("rules.homework_none")));
  const pick = element("select", { class: "input", "data-testid": "homework-pick", "aria-label": t("rules.homework"), onchange: () => void attempt(() => open(pick.value)) },
    lines.map(({ id, title }) => element("option", { value: id, selected: id === wanted.id }, title)));
  const done = element("b", { "data-testid": "homework-done" });
  const tasks = element("div", { class: "hw-tasks" });
  body.replaceChildren(element("div", { class: "rw-head" }, [lines.length > 1 ? pick : element("h3", {}, wanted.title), done]), tasks);
  await open(wanted.id);

  /** @param {string} id */
  async function open(id) {
    tasks.replaceChildren(element("p", { class: "hint", role: "status" }, t("rules.finding")));
    draw(await given.read(id));
  }

  /** @param {Own} own */
  function draw(own) {
    setText(done, doneOf(own, given.lang));
    tasks.replaceChildren(...own.tasks.map((task) => {
      const card = taskCard(shownOf(task, own.tasks.length, given.rules, given.lang), String(task.task), t,
        (choice) => void attempt(async () => {
          draw(await given.answer(own.id, task.task, choice));
          /** @type {HTMLElement | null} */ (tasks.querySelector(`[data-task="${task.task}"] .hw-said`))?.focus();
        }));
      // Before it is over the engine would tell there what is asked here.
      if (task.over) card.append(player(t, "rules.play_on", `homework-${task.task}-play`, () => given.play(own.id, task.task), attempt));
      return card;
    }));
  }
}

/**
 * @param {Shown} shown
 * @param {string} task
 * @param {Translate} t
 * @param {(choice: string[]) => void} answer
 */
function taskCard(shown, task, t, answer) {
  const rows = shown.options.map(({ id, label, picked }) => {
    const input = element("input", { type: shown.several ? "checkbox" : "radio", name: `task-${task}`, value: id, checked: picked, disabled: shown.over });
    return { input, row: element("label", { class: "hw-option", "data-testid": `homework-${task}-${id}` }, [input, element("span", {}, label)]) };
  });
  const send = element("button", { class: "primary", type: "submit", "data-testid": `homework-${task}-send` }, t("rules.answer"));
  const form = element("form", {}, [element("fieldset", {}, [element("legend", {}, shown.question), ...rows.map(({ row }) => row)]), shown.over ? null : send]);
  form.addEventListener("change", (event) => {
    // Nobody, or these: not both.
    const { value } = /** @type {HTMLInputElement} */ (event.target);
    for (const { input } of rows) if (shown.several && (value === NONE) !== (input.value === NONE)) input.checked = false;
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    answer(rows.filter(({ input }) => input.checked).map(({ input }) => input.value));
  });
  return element("section", { class: "rw-card hw-task", "data-task": task, "aria-label": shown.title }, [
    element("div", { class: "rw-head" }, [element("h3", {}, shown.title), element("span", {}, shown.pod)]),
    element("ul", { class: "rw-bars" }, shown.bars.map(({ bar, facts }) => {
      const row = barRow(bar, t);
      row.append(element("small", { class: "hw-facts" }, facts));
      return row;
    })), form,
    shown.said ? element("p", { class: shown.right ? "hw-said right" : "hw-said", tabindex: "-1", role: "status", "data-testid": `homework-${task}-said` }, shown.said) : null,
    shown.worlds.length ? element("div", { class: "rw-worlds" }, shown.worlds.map((world, at) => worldCard({ t, play: null }, world, at === shown.worlds.length - 1))) : null,
  ]);
}

/**
 * What is set, and how far everybody is; and setting more.
 * @param {Here} given
 * @param {Place & {show: () => unknown}} place
 */
async function teach(given, { t, body, attempt, show }) {
  const list = /** @type {Progress[]} */ (await given.list());
  const cards = list.toReversed().map((one) => {
    const { begun, rows } = progressOf(one, given.rules, given.lang);
    const head = ["rules.about", "rules.answered", "rules.at_once", "rules.in_the_end", "rules.led_astray", "rules.cluster"].map((key) => element("th", { scope: "col" }, t(key)));
    return element("section", { class: "rw-card", "data-testid": `homework-${one.id}` }, [
      element("div", { class: "rw-head" }, [
        element("h3", {}, one.title), element("span", {}, begun),
        element("button", { class: "button", type: "button", "data-testid": `homework-${one.id}-link`, onclick: () => given.share(one.id) }, t("rules.copy_link")),
        element("button", { class: "button", type: "button", "data-testid": `homework-${one.id}-remove`, onclick: remover(t, () => attempt(async () => {
          await given.remove(one.id);
          await show();
        })) }, t("rules.take_back")),
      ]),
      element("table", {}, [element("thead", {}, element("tr", {}, head)), element("tbody", {}, rows.map(({ rule, cells }, task) => element("tr", {}, [
        element("th", { scope: "row" }, rule), ...cells.map((cell) => element("td", {}, cell)),
        element("td", {}, player(t, "rules.play_like", `homework-${one.id}-${task}-play`, () => given.play(one.id, task), attempt)),
      ])))]),
    ]);
  });
  keepFocus(body, () => body.replaceChildren(
    setForm(given, t, (wish) => attempt(async () => {
      await given.set(wish);
      await show();
    })),
    ...(list.length ? [element("p", {}, element("a", { class: "link", href: given.sheet, download: true, "data-testid": "homework-sheet" }, t("rules.sheet")))] : []),
    ...cards,
  ));
}

/**
 * Takes answers away with it: asked twice.
 * @param {Translate} t
 * @param {() => void} act
 */
function remover(t, act) {
  return (/** @type {MouseEvent} */ { currentTarget }) => {
    const button = /** @type {HTMLElement} */ (currentTarget);
    if (button.dataset["sure"]) return act();
    button.dataset["sure"] = "yes";
    setText(button, t("rules.take_back_sure"));
  };
}

/**
 * @param {Here} given
 * @param {Translate} t
 * @param {(wish: object) => Promise<void>} set
 */
function setForm({ rules, students, lang, finding }, t, set) {
  const about = element("select", { class: "input", id: "hw-about", "data-testid": "homework-about" }, [
    element("optgroup", { label: t("rules.topics") }, TOPICS.map((topic) => element("option", { value: topic }, t(`rules.topic_${topic}`)))),
    element("optgroup", { label: t("rules.one_rule") }, taskRules(rules).map(({ id, title }) => element("option", { value: id }, said(lang, title)))),
  ]);
  const title = element("input", { class: "input", id: "hw-name", maxlength: "120", "data-testid": "homework-title" });
  const number = (/** @type {string} */ id, /** @type {string} */ min, /** @type {string} */ max, /** @type {string} */ value) =>
    element("input", { class: "input", id, type: "number", min, max, value });
  const [nodes, pods, seed] = [number("hw-nodes", "2", "4", "3"), number("hw-pods", "2", "8", "4"), number("hw-seed", "0", "", "")];
  const who = students.map(({ id, name }) => {
    const input = element("input", { type: "checkbox", value: id, checked: true });
    return { input, row: element("label", { class: "hw-option" }, [input, element("span", {}, name)]) };
  });
  const field = (/** @type {HTMLElement} */ input, /** @type {string} */ key) => element("div", {}, [element("label", { for: input.id }, t(key)), input]);
  // What a task about the rule would look like, before a class gets one.
  const example = element("details", { "data-testid": "homework-example" }, element("summary", {}, t("rules.example")));
  const finder = mountFinder(lang, rules, finding, about.value, { answer: null });
  example.append(finder.element);
  about.addEventListener("change", () => {
    example.hidden = !findable(rules).some(({ id }) => id === about.value);
    finder.about(about.value);
  });
  example.hidden = true;
  const form = element("form", { class: "rw-card hw-set" }, [
    element("h3", {}, t("rules.set_homework")),
    element("div", { class: "hw-fields" }, [field(about, "rules.about"), field(title, "rules.its_title"), field(nodes, "rules.nodes"), field(pods, "rules.pods"), field(seed, "rules.seed")]),
    who.length ? element("details", {}, [element("summary", {}, t("rules.for_whom")), element("fieldset", {}, [element("legend", { class: "sr-only" }, t("rules.for_whom")), ...who.map(({ row }) => row)])]) : null,
    element("p", { class: "hint" }, t("rules.set_hint")),
    element("button", { class: "primary", type: "submit", "data-testid": "homework-set" }, t("rules.set")), example,
  ]);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = who.filter(({ input }) => input.checked).map(({ input }) => input.value);
    void set(wishOf({ about: about.value, title: title.value, people: chosen.length === who.length ? "all" : chosen, nodes: nodes.value, pods: pods.value, seed: seed.value }));
  });
  return form;
}
