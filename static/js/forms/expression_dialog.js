/** Try an expression on the cluster: what it says of a pod and every node, or where it is wrong. */

/** @import { Translate } from "./dialog.js" */
/** @import { Refusal } from "./object_form.js" */
import { append, element, setAttribute } from "../dom/dom.js";
import { openDialog } from "./dialog.js";

/** @typedef {{name: string, value?: boolean | number, error?: string}} Said */
/** @typedef {{reads: string[], dependsOn: "node" | "pods" | "cluster", nodes: Said[]}} Tried */
/** @typedef {{line: number, column: number, message: string}} Place */

const KINDS = /** @type {const} */ (["filter", "score"]);

/** The pod that is tried where the cluster has none. */
const ANY_POD = { metadata: { name: "any", labels: { app: "any" } }, spec: { containers: [{ name: "c", image: "any" }] } };

/**
 * @param {object} options
 * @param {Translate} options.t
 * @param {readonly string[]} options.pods namespace/name
 * @param {Record<"filter" | "score", string>} options.running expressions of the scheduler that runs; "" where it has none
 * @param {(body: object) => Promise<{tried?: Tried, refusal?: Exclude<Refusal, null>}>} options.ask
 */
export function openExpression({ t, pods, running, ask }) {
  const kind = element("select", { class: "input", id: "expression-kind", "data-testid": "expression-kind" },
    KINDS.map((name) => element("option", { value: name }, t(`expression_${name}`))));
  const pod = element("select", { class: "input", id: "expression-pod", "data-testid": "expression-pod" }, [
    ...pods.map((key) => element("option", { value: key }, key)),
    element("option", { value: "" }, t("expression_any_pod")),
  ]);
  const area = element("textarea", {
    class: "input mono", id: "expression-text", rows: "4", spellcheck: "false", autocapitalize: "off",
    autocomplete: "off", "aria-describedby": "expression-hint", "data-testid": "expression-text",
  });
  const begin = () => {
    const mine = Object.values(running).every((one) => one !== area.value) && area.value;
    if (!mine) area.value = running[kind.value === "score" ? "score" : "filter"];
  };
  kind.addEventListener("change", begin);
  begin();
  const problems = element("ul", { class: "expression-problems", "data-testid": "expression-problems" });
  const result = element("div", { class: "expression-result", role: "status", "data-testid": "expression-result" });
  const shell = openDialog({
    title: t("expression_title"), action: t("expression_try"), cancel: t("close"), closeLabel: t("close"),
    className: "wide", testId: "expression-dialog",
    async onSubmit() {
      problems.replaceChildren();
      result.replaceChildren();
      setAttribute(area, "aria-invalid", null);
      const { tried, refusal } = await ask({
        expression: area.value, kind: kind.value, pod: pod.value || ANY_POD,
      });
      if (refusal) {
        const causes = refusal.causes.length ? refusal.causes.map(({ message }) => message) : [refusal.message];
        append(problems, causes.map((message) => problemRow(message)));
        setAttribute(area, "aria-invalid", "true");
      }
      if (tried) append(result, resultRows(tried, t));
      return false;
    },
  });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      shell.form.requestSubmit();
    }
  });

  /** @param {string} message */
  function problemRow(message) {
    const place = placeOf(message);
    if (!place) return element("li", {}, message);
    const go = element("button", { class: "link", type: "button" },
      t("expression_place", { line: place.line, column: place.column }));
    go.addEventListener("click", () => {
      const at = offsetOf(area.value, place);
      area.focus();
      area.setSelectionRange(at, at + 1);
    });
    return element("li", {}, [go, ` ${place.message}`]);
  }

  append(shell.body, [
    element("div", { class: "expression-choices" }, [
      element("div", { class: "form-field" }, [element("label", { for: "expression-kind" }, t("expression_kind")), kind]),
      element("div", { class: "form-field" }, [element("label", { for: "expression-pod" }, t("expression_pod")), pod]),
    ]),
    element("div", { class: "form-field" }, [element("label", { for: "expression-text" }, t("expression_text")), area]),
    element("p", { class: "hint", id: "expression-hint" }, t("expression_hint")),
    element("div", { role: "alert" }, problems), result,
  ]);
  area.focus();
}

/**
 * The first filter and the first score among the expressions that a scheduler runs.
 * @param {{configuration: Record<string, any> | null}} scheduler
 */
export function expressionsOf({ configuration }) {
  /** @type {any[]} */
  const profiles = configuration?.["profiles"] ?? [];
  const plugins = profiles.flatMap((profile) => profile.pluginConfig ?? []).filter(({ name }) => name === "CEL");
  const first = (/** @type {"filters" | "scores"} */ field) =>
    String(plugins.flatMap(({ args }) => args?.[field] ?? [])[0]?.expression ?? "");
  return { filter: first("filters"), score: first("scores") };
}

/**
 * @param {Tried} tried
 * @param {Translate} t
 */
function resultRows({ dependsOn, nodes }, t) {
  return [
    element("p", { class: "hint" }, t(`expression_depends_${dependsOn}`)),
    element("ul", { class: "expression-nodes" }, nodes.map(({ name, value, error }) => {
      const kind = error !== undefined ? "error" : value === true ? "yes" : value === false ? "no" : "number";
      const said = error ?? (typeof value === "number" ? String(value) : t(value ? "expression_yes" : "expression_no"));
      return element("li", { class: kind }, [element("b", {}, name), element("span", {}, said)]);
    })),
  ];
}

/**
 * The place that a refusal names ("Invalid value: line 2, column 3: …"); null where it names none.
 * @param {string} message
 * @returns {Place | null}
 */
export function placeOf(message) {
  const match = /line (\d+), column (\d+): (.*)$/s.exec(message);
  return match ? { line: Number(match[1]), column: Number(match[2]), message: match[3] ?? "" } : null;
}

/**
 * Where a place stands in the text; the server counts characters, the browser UTF-16 units.
 * @param {string} text
 * @param {Place} place
 */
export function offsetOf(text, { line, column }) {
  const rows = text.split("\n");
  const before = rows.slice(0, line - 1).reduce((sum, row) => sum + row.length + 1, 0);
  return before + [...(rows[line - 1] ?? "")].slice(0, column - 1).join("").length;
}
