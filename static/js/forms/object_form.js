/** Create one object by form or by YAML: two pages of one dialog, the same validation by the server. */

/** @import { Item, Values } from "../lib/items.js" */
/** @import { Translate } from "./dialog.js" */
import { setText } from "../dom/dom.js";
import { toYaml } from "../lib/yaml.js";
import { element } from "../dom/dom.js";
import { openDialog, pageSwitch } from "./dialog.js";
import { createFields } from "./fields.js";
import { createYamlEditor } from "./yaml_editor.js";

/** @typedef {{message: string, causes: {field: string, message: string}[]} | null} Refusal null: accepted */

/**
 * @param {object} options
 * @param {Item} options.item
 * @param {string} options.label
 * @param {Values} options.values
 * @param {Translate} options.t
 * @param {(document: Record<string, any>) => Promise<Refusal>} options.create
 * @param {(yaml: string) => Promise<Refusal>} options.createYaml
 * @param {import("./yaml_fields.js").Schemas} options.schemas
 */
export function openObjectForm({ item, label, values, t, create, createYaml, schemas }) {
  const fields = createFields(item.fields, values, t);
  const editor = createYamlEditor(t("yaml"), (line) => t("line", { line }), { schemas, t });
  editor.element.hidden = true;
  let page = "form";
  const { control, turn } = pageSwitch(
    [{ id: "form", label: t("form"), page: fields.element }, { id: "yaml", label: t("yaml"), page: editor.element }],
    t("create_title", { item: label }),
    (id) => {
      if (id === "yaml" && page === "form") editor.value = toYaml(item.build(fields.read()));
      page = id;
      shell.error.textContent = "";
    },
  );
  const shell = openDialog({
    title: t("create_title", { item: label }),
    action: t("create"),
    cancel: t("cancel"),
    closeLabel: t("close"),
    testId: "object-form",
    async onSubmit({ error }) {
      fields.clear();
      editor.clear();
      if (page === "yaml") {
        const refusal = await createYaml(editor.value);
        if (refusal) editor.showProblems(refusal.causes, refusal.message);
        return !refusal;
      }
      const refusal = await create(item.build(fields.read()));
      if (!refusal) return true;
      const rest = fields.showProblems(refusal.causes);
      if (refusal.causes.length === 0) setText(error, refusal.message);
      else setText(error, rest.map((cause) => `${cause.field}: ${cause.message}`).join("; "));
      return false;
    },
  });
  shell.body.append(element("div", { class: "dialog-pages" }, control), fields.element, editor.element);
  turn("form");
  fields.focus();
}

/**
 * A small form about one node: a taint, or labels.
 * @param {object} options
 * @param {"taint" | "label"} options.kind
 * @param {string} options.node
 * @param {Translate} options.t
 * @param {(values: Values) => Promise<Refusal>} options.apply
 */
export function openNodeForm({ kind, node, t, apply }) {
  const list = kind === "taint"
    ? /** @type {const} */ ([
      { name: "key", label: "field_key", path: "spec.taints", type: "text" },
      { name: "value", label: "field_labelValue", path: "spec.taints", type: "text" },
      { name: "effect", label: "field_effect", path: "spec.taints", type: "select",
        options: ["NoSchedule", "PreferNoSchedule", "NoExecute"] },
    ])
    : /** @type {const} */ ([
      { name: "key", label: "field_key", path: "metadata.labels", type: "text" },
      { name: "value", label: "field_labelValue", path: "metadata.labels", type: "text" },
    ]);
  /** @type {Values} */
  const values = kind === "taint"
    ? { key: "dedicated", value: "demo", effect: "NoSchedule" } : { key: "disktype", value: "ssd" };
  const fields = createFields(list, values, t);
  const shell = openDialog({
    title: `${t(`item_${kind}`)} · ${node}`,
    action: t(`apply_${kind}`, { name: node }),
    cancel: t("cancel"),
    closeLabel: t("close"),
    testId: `${kind}-form`,
    async onSubmit({ error }) {
      fields.clear();
      const refusal = await apply(fields.read());
      if (!refusal) return true;
      const rest = fields.showProblems(refusal.causes);
      if (rest.length || refusal.causes.length === 0) setText(error, refusal.message);
      return false;
    },
  });
  shell.body.append(fields.element);
  fields.focus();
}
