/** Apply manifests pasted or from a file, with a result for each object; and the replay of a recorded trace. */

/** @import { Translate } from "./dialog.js" */
/** @import { Refusal } from "./object_form.js" */
import { append, element, setText } from "../dom/dom.js";
import { lineInDocument } from "../lib/yaml.js";
import { openDialog } from "./dialog.js";
import { createYamlEditor } from "./yaml_editor.js";

/**
 * @typedef {{index: number, kind: string, namespace?: string, name: string,
 *   action: "created" | "configured" | "unchanged" | "failed", warnings?: string[],
 *   error?: {message: string, details?: {causes?: {field?: string, message: string}[]}}}} Result
 * @typedef {{results: Result[], created: number, configured: number, unchanged: number, failed: number}} Outcome
 */

/**
 * @param {object} options
 * @param {Translate} options.t
 * @param {string} options.namespace
 * @param {import("./yaml_fields.js").Schemas} options.schemas
 * @param {string} [options.written] what the editor begins with
 * @param {(text: string, type: string) => Promise<{outcome: Outcome} | {refusal: NonNullable<Refusal>}>} options.apply
 */
export function openImport({ t, namespace, schemas, written = "", apply }) {
  const editor = createYamlEditor(t("import_title"), (line) => t("line", { line }), { schemas, t });
  const file = element("input", { type: "file", accept: ".yaml,.yml,.json", class: "sr-only", "data-testid": "import-file" });
  const choose = element("label", { class: "button file-button" }, [t("choose_file"), file]);
  const results = element("div", { class: "import-results", "aria-live": "polite" });
  file.addEventListener("change", async () => {
    const picked = file.files?.[0];
    if (picked) editor.value = await picked.text();
  });
  const shell = openDialog({
    title: t("import_title"), action: t("import_apply"), cancel: t("close"), closeLabel: t("close"),
    className: "wide", testId: "import-dialog",
    async onSubmit() {
      editor.clear();
      results.replaceChildren();
      const body = editor.value;
      const type = /^\s*[{[]/.test(body) ? "application/json" : "application/yaml";
      const answer = await apply(body, type);
      if ("refusal" in answer) editor.showProblems(answer.refusal.causes, answer.refusal.message);
      else showOutcome(answer.outcome);
      return false;
    },
  });
  append(shell.body, [
    element("p", { class: "hint" }, t("import_hint")),
    element("div", { class: "import-bar" }, [choose, element("span", { class: "hint" }, t("import_into", { namespace }))]),
    editor.element, results,
  ]);
  editor.value = written;
  editor.area.focus();

  /** @param {Outcome} outcome */
  function showOutcome(outcome) {
    const { created, configured, unchanged, failed } = outcome;
    const count = outcome.results.length;
    const wrong = outcome.results.flatMap(({ index, error }) => (error?.details?.causes ?? []).map(({ field = "", message }) => ({
      field, message, line: lineInDocument(editor.value, count, index, field),
    })));
    if (wrong.length > 0) editor.showProblems(wrong, "");
    const rows = [...outcome.results].sort((a, b) => Number(b.action === "failed") - Number(a.action === "failed"));
    results.replaceChildren(
      element("p", { "data-testid": "import-summary" }, t("import_summary", { created, configured, unchanged, failed })),
      element("ul", {}, rows.map((row) => element("li", {}, [
        element("span", { class: `chip ${row.action === "failed" ? "bad" : row.action === "created" ? "good" : ""}` },
          t(`action_${row.action}`)),
        element("b", {}, ` ${row.kind} `), row.namespace ? `${row.namespace}/${row.name}` : row.name,
        row.error ? element("p", { class: "field-error" }, row.error.message) : null,
        ...(row.warnings ?? []).map((warning) => element("p", { class: "hint" }, warning)),
      ]))),
    );
  }
}

/**
 * @param {object} options
 * @param {Translate} options.t
 * @param {(body: FormData) => Promise<{refusal: NonNullable<Refusal>} | {started: unknown}>} options.start
 */
export function openOpenb({ t, start }) {
  const nodes = element("input", { class: "input", type: "file", accept: ".csv", id: "openb-nodes" });
  const pods = element("input", { class: "input", type: "file", accept: ".csv", id: "openb-pods" });
  const seconds = element("input", { class: "input", type: "number", min: 1, id: "openb-seconds" });
  seconds.value = "600";
  const shell = openDialog({
    title: t("openb_title"), action: t("openb_start"), cancel: t("close"), closeLabel: t("close"), testId: "openb-dialog",
    async onSubmit({ error }) {
      const body = new FormData();
      const [nodeFile, podFile] = [nodes.files?.[0], pods.files?.[0]];
      if (nodeFile) body.set("nodes", nodeFile);
      if (podFile) body.set("pods", podFile);
      body.set("seconds", seconds.value);
      const answer = await start(body);
      if ("refusal" in answer) setText(error, answer.refusal.message);
      return !("refusal" in answer);
    },
  });
  append(shell.body, [
    element("p", { class: "hint" }, t("openb_hint")),
    labelled("openb-nodes", t("openb_nodes"), nodes),
    labelled("openb-pods", t("openb_pods"), pods),
    labelled("openb-seconds", t("openb_seconds"), seconds),
    element("p", { class: "note" }, t("openb_note")),
  ]);
  nodes.focus();
}

/**
 * @param {string} id
 * @param {string} label
 * @param {HTMLElement} input
 */
function labelled(id, label, input) {
  return element("div", { class: "form-field" }, [element("label", { for: id }, label), input]);
}
