/**
 * The line below the palette: kubectl's verbs, completed by Tab, with the answer above it. What was wrong stays in the field
 * with the reason beside it; the arrows bring back what was entered before.
 */

/** @import { Commanded, Dispatch, Output, Ui, View } from "../lib/types.d.ts" */
import { append, element, icon, setAttribute, setText } from "../dom/dom.js";
import { complete } from "../lib/complete.js";
import { text } from "../lib/text.js";
import { namesIn } from "../state/names.js";

/** Ways to go on that are named; of more, the first. */
const CHOICES_MAX = 24;

/** @param {Dispatch} dispatch */
export function commandLine(dispatch) {
  const input = element("input", {
    class: "mono", name: "command", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    "aria-describedby": "command-error command-choices", "data-testid": "command-line",
  });
  const error = element("p", { class: "command-error", id: "command-error", role: "alert", "data-testid": "command-error" });
  const choices = element("p", { class: "command-choices mono", id: "command-choices", role: "status", "data-testid": "command-choices" });
  const answer = element("section", { class: "command-answer", tabindex: "-1", "data-testid": "command-answer" });
  const prompt = element("form", { class: "command" }, [element("span", { class: "prompt", "aria-hidden": "true" }, "❯"), input]);
  // After the line, so that Tab goes on into the answer.
  const root = element("div", { class: "command-line" }, [prompt, element("div", { class: "command-notes" }, [error, choices, answer])]);
  /** @type {string[]} */
  const history = [];
  let at = 0;
  let seen = 0;
  /** @type {View | null} */
  let view = null;
  /** @type {Ui["lang"]} */
  let lang = "en";

  const forget = () => {
    setText(error, "");
    setText(choices, "");
    answer.replaceChildren();
    setAttribute(input, "aria-invalid", null);
  };
  const extend = () => {
    const caret = input.selectionStart ?? 0;
    if (!view || !input.value.trim() || caret !== input.value.length) return false;
    const known = view;
    const found = complete(input.value, (kind, namespace) => [...namesIn(known, kind.resource, namespace)], view.me?.namespace || "default");
    const shown = found.choices.length > 1
      ? text(lang, "command.choices", { count: found.choices.length, choices: found.choices.slice(0, CHOICES_MAX).join("  ") }) : "";
    // A Tab that has nothing to add goes on as everywhere: no keyboard is trapped here.
    if (found.line === input.value && choices.textContent === shown) return false;
    input.value = found.line;
    setText(choices, shown);
    return true;
  };

  prompt.addEventListener("submit", (event) => {
    event.preventDefault();
    const line = input.value.trim();
    if (!line) return;
    if (history.at(-1) !== line) history.push(line);
    at = history.length;
    dispatch({ type: "command", line, typed: true });
  });
  input.addEventListener("input", forget);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Tab" && !event.shiftKey && extend()) event.preventDefault();
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    event.preventDefault();
    at = Math.max(0, Math.min(history.length, at + (event.key === "ArrowUp" ? -1 : 1)));
    input.value = history[at] ?? "";
  });
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !(error.textContent || choices.textContent || answer.firstChild)) return;
    event.stopPropagation();
    forget();
    input.focus();
  });

  /** @param {Commanded} done */
  const show = (done) => {
    forget();
    setText(error, done.error);
    setAttribute(input, "aria-invalid", done.error ? "true" : null);
    // Another line may have been begun meanwhile.
    if (!done.error && input.value.trim() === done.line) input.value = "";
    if (done.output) answer.append(answered(done.output, lang, dispatch, forget));
  };

  return {
    element: root,
    /**
     * @param {View} newest
     * @param {Ui} ui
     */
    update(newest, ui) {
      view = newest;
      if (lang !== ui.lang || !input.placeholder) {
        lang = ui.lang;
        setAttribute(input, "aria-label", text(lang, "command_label"));
        setAttribute(input, "placeholder", text(lang, "command_hint"));
        setAttribute(answer, "aria-label", text(lang, "command.answer"));
      }
      if (!ui.command || ui.command.id === seen) return;
      seen = ui.command.id;
      show(ui.command);
    },
  };
}

/**
 * @param {Output} output
 * @param {Ui["lang"]} lang
 * @param {Dispatch} dispatch
 * @param {() => void} onClose
 */
function answered(output, lang, dispatch, onClose) {
  const close = element("button", { class: "ghost", type: "button", "aria-label": text(lang, "close"), onclick: onClose }, icon("close"));
  const box = element("div", { class: "command-box" });
  if (output.kind === "help") {
    append(box, [close, element("dl", {}, output.rows.flatMap(({ example, about }) => [
      element("dt", { class: "mono" }, example), element("dd", {}, about),
    ]))]);
    return box;
  }
  const { rows, total, columns, name, resource } = output;
  const said = total === 0 ? text(lang, "command.none")
    : text(lang, rows.length < total ? "command.rows_of" : "command.rows", { count: rows.length, total });
  append(box, [close, element("p", { class: "hint", role: "status" }, said)]);
  if (rows.length === 0) return box;
  const cell = (/** @type {string} */ value, /** @type {number} */ index, /** @type {string} */ key) => {
    if (index !== name) return element("td", {}, value);
    const go = element("button", { class: "link", type: "button" }, value);
    go.addEventListener("click", () => {
      onClose();
      dispatch({ type: "select", resource, key, focus: true });
    });
    return element("th", { scope: "row" }, go);
  };
  box.append(element("div", { class: "command-scroll", tabindex: "0", role: "group", "aria-label": text(lang, "command.answer") },
    element("table", {}, [
      element("thead", {}, element("tr", {}, columns.map((column) => element("th", { scope: "col" }, column)))),
      element("tbody", {}, rows.map(({ key, cells }) => element("tr", {}, cells.map((value, index) => cell(value, index, key))))),
    ])));
  return box;
}
