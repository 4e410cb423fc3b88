/** Writing a lesson: its three files, what is wrong with them, and how a class would read it. */

/** @import { Block } from "./lib/class.d.ts" */
import { tellProse } from "./class/lesson/prose.js";
import { element } from "./dom/dom.js";
import { checkLesson, keepDraft, keptDraft } from "./net/lessons.js";
import { inWord } from "./net/refused.js";
import { ApiError } from "./net/rest.js";

/** @type {Record<string, string>} */
const TEXTS = JSON.parse(document.getElementById("texts")?.textContent ?? "{}");
const LANG = document.documentElement.lang.startsWith("zh") ? "zh" : "en";
/** The parts of a step, in the order in which a class reads them. */
const PARTS = /** @type {const} */ (["scene", "ask", "hint", "reveal", "so"]);

/**
 * @param {string} key
 * @param {Record<string, string>} [values]
 */
function t(key, values = {}) {
  return (TEXTS[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

const form = /** @type {HTMLFormElement} */ (document.getElementById("write"));
const files = /** @type {HTMLTextAreaElement[]} */ ([...form.querySelectorAll("textarea")]);
const error = /** @type {HTMLElement} */ (document.getElementById("write-error"));
const told = /** @type {HTMLElement} */ (document.getElementById("write-state"));
const problems = /** @type {HTMLElement} */ (document.getElementById("write-problems"));
const preview = /** @type {HTMLElement} */ (document.getElementById("write-preview"));

/** @returns {Record<string, string>} */
function written() {
  return Object.fromEntries(files.map((file) => [file.id.replace("write-", ""), file.value]));
}

/** @param {boolean} play */
async function check(play) {
  error.textContent = "";
  told.textContent = t(play ? "write_playing" : "write_checking");
  const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (form.querySelectorAll("button"));
  for (const button of buttons) button.disabled = true;
  const phrase = /** @type {HTMLInputElement | null} */ (document.getElementById("pass-phrase"))?.value ?? "";
  try {
    const checked = await checkLesson({ ...written(), play, ...(phrase ? { passPhrase: phrase } : {}) }, LANG);
    const problems = checked.problems.map(async (one) => ({ ...one, found: await inWord(one.found, one.said) }));
    show({ ...checked, problems: await Promise.all(problems) });
  } catch (problem) {
    told.textContent = "";
    error.textContent = problem instanceof ApiError ? (problem.status.code === 0 ? t("unreachable") : problem.message) : String(problem);
  }
  for (const button of buttons) button.disabled = false;
}

/** @param {import("./net/lessons.js").Checked} checked */
function show(checked) {
  const count = String(checked.problems.length);
  told.textContent = checked.problems.length ? t("write_problems", { count }) : t(checked.played ? "write_holds" : "write_readable");
  problems.replaceChildren(...checked.problems.map(({ step, field, expected, found }) => element("li", {}, [
    element("b", {}, [step, field].filter(Boolean).join(" · ")),
    expected ? element("span", {}, t("write_expected", { expected, found })) : element("span", {}, found),
  ])));
  preview.replaceChildren(...(checked.preview?.parts ?? []).map(partOf));
}

/** @param {import("./net/lessons.js").Part} part */
function partOf(part) {
  return element("article", { class: "write-step" }, [
    element("h3", {}, part.title),
    ...PARTS.map((name) => {
      const blocks = /** @type {Block[]} */ (part[name] ?? []);
      const place = element("div", { class: `write-part ${name}` });
      tellProse(place, blocks);
      const asked = name === "ask" && part.question
        ? [element("p", { class: "write-question" }, part.question), element("ul", {}, part.options.map((one) => element("li", {}, one)))] : [];
      return blocks.length || asked.length ? element("section", {}, [element("h4", {}, t(name === "hint" ? "write_hint_part" : `write_${name}`)), ...asked, place]) : null;
    }),
  ]);
}

/** Hand each file to the browser's downloads. */
function save() {
  for (const file of files) {
    const address = URL.createObjectURL(new Blob([file.value], { type: "text/plain" }));
    element("a", { href: address, download: file.dataset["file"] ?? file.id }).click();
    URL.revokeObjectURL(address);
  }
}

const draft = keptDraft();
for (const file of files) {
  file.value = draft[file.id] ?? file.value;
  file.addEventListener("input", () => keepDraft(Object.fromEntries(files.map((one) => [one.id, one.value]))));
}
form.addEventListener("submit", (event) => {
  event.preventDefault();
  void check(true);
});
document.getElementById("write-check")?.addEventListener("click", () => void check(false));
document.getElementById("write-save")?.addEventListener("click", save);
