/** A text area with line numbers that marks the lines the server found wrong. */

import { append, element, setText } from "../dom/dom.js";
import { lineOfPath } from "../lib/yaml.js";
import { fieldNames } from "./yaml_fields.js";

/** @import { Translate } from "./dialog.js" */
/** @import { Schemas } from "./yaml_fields.js" */
/** @typedef {{field: string, message: string, line?: number}} Cause what is wrong; `line` (from 0) where somebody knows better than its field tells */

/**
 * @param {string} label for screen readers
 * @param {(line: number) => string} lineText "line 3"
 * @param {{schemas: Schemas, t: Translate}} [fields] what completes the names of fields
 */
export function createYamlEditor(label, lineText, fields) {
  const numbers = element("pre", { class: "yaml-numbers", "aria-hidden": "true" });
  const area = element("textarea", {
    class: "yaml-text mono", spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off",
    "aria-label": label, "data-testid": "yaml-editor",
  });
  const problems = element("ul", { class: "yaml-problems", role: "alert" });
  const root = element("div", { class: "yaml-editor" }, [
    element("div", { class: "yaml-pane" }, [numbers, area]), problems,
  ]);
  // Its keys are heard before those of the editor.
  if (fields) root.append(fieldNames(area, fields.schemas, fields.t));
  /** @type {Set<number>} */
  let marked = new Set();

  const draw = () => {
    const count = area.value.split("\n").length;
    numbers.replaceChildren(...Array.from({ length: count }, (_, index) =>
      element("span", { class: marked.has(index) ? "wrong" : undefined }, `${index + 1}\n`)));
    numbers.scrollTop = area.scrollTop;
  };
  area.addEventListener("input", () => {
    if (marked.size) marked = new Set();
    draw();
  });
  area.addEventListener("scroll", () => {
    numbers.scrollTop = area.scrollTop;
  });
  indenting(area, draw);

  return {
    element: root,
    area,
    get value() {
      return area.value;
    },
    /** @param {string} yaml */
    set value(yaml) {
      area.value = yaml;
      marked = new Set();
      problems.replaceChildren();
      draw();
    },
    /** @param {boolean} readOnly */
    setReadOnly(readOnly) {
      area.readOnly = readOnly;
    },
    clear() {
      marked = new Set();
      problems.replaceChildren();
      draw();
    },
    /**
     * Show what is wrong, each with the line it stands on.
     * @param {readonly Cause[]} causes
     * @param {string} message shown when there are no causes
     */
    showProblems(causes, message) {
      const list = causes.length ? causes : [{ field: "", message }];
      marked = new Set();
      problems.replaceChildren();
      for (const cause of list) {
        const line = cause.line ?? (cause.field ? lineOfPath(area.value, cause.field) : lineInMessage(cause.message));
        const item = element("li");
        if (line >= 0) {
          marked.add(line);
          const go = element("button", { class: "link", type: "button" }, lineText(line + 1));
          go.addEventListener("click", () => goTo(line));
          append(item, [go, " "]);
        }
        if (cause.field) append(item, element("code", {}, cause.field));
        const words = element("span");
        setText(words, cause.field ? ` ${cause.message}` : cause.message);
        item.append(words);
        problems.append(item);
      }
      draw();
    },
  };

  /** @param {number} line */
  function goTo(line) {
    const rows = area.value.split("\n");
    const start = rows.slice(0, line).reduce((sum, row) => sum + row.length + 1, 0);
    area.focus();
    area.setSelectionRange(start, start + (rows[line]?.length ?? 0));
  }
}

/**
 * Ctrl+] indents, and a new line begins as deep as the one before it.
 * @param {HTMLTextAreaElement} area
 * @param {() => void} draw
 */
function indenting(area, draw) {
  area.addEventListener("keydown", (event) => {
    // Tab leaves the editor, as everywhere; Ctrl+] indents, so that no keyboard is trapped here.
    if (event.key === "]" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      area.setRangeText("  ", area.selectionStart, area.selectionEnd, "end");
      draw();
    }
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
    const start = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
    const indent = /^ */.exec(area.value.slice(start, area.selectionStart))?.[0] ?? "";
    if (!indent) return;
    event.preventDefault();
    area.setRangeText(`\n${indent}`, area.selectionStart, area.selectionEnd, "end");
    area.dispatchEvent(new Event("input"));
  });
}

/**
 * The 0-based line that a parser's sentence names ("line 3, column 5"); -1 when it names none.
 * @param {string} message
 */
export function lineInMessage(message) {
  const match = /line (\d+)/.exec(message);
  return match ? Number(match[1]) - 1 : -1;
}
