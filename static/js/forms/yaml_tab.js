/** The inspector's YAML tab: the whole object as text, editable, saved against the version it was read at. */

/** @import { Slim, Ui } from "../lib/types.d.ts" */
/** @import { Refusal } from "./object_form.js" */
import { element, setText } from "../dom/dom.js";
import { text } from "../lib/text.js";
import { toYaml } from "../lib/yaml.js";
import { createYamlEditor } from "./yaml_editor.js";

/**
 * @param {object} options
 * @param {(object: Slim) => Promise<Record<string, any>>} options.load the whole object
 * @param {(object: Slim, yaml: string) => Promise<Refusal>} options.save
 * @param {import("./yaml_fields.js").Schemas} options.schemas
 */
export function createYamlTab({ load, save, schemas }) {
  /** @type {Ui["lang"]} */
  let lang = "en";
  const t = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ values = {}) => text(lang, key, values);
  const editor = createYamlEditor("YAML", (line) => t("line", { line }), { schemas, t });
  const note = element("p", { class: "hint yaml-note" });
  const saveButton = element("button", { class: "primary", type: "button", "data-testid": "yaml-save" });
  const revert = element("button", { class: "button", type: "button" });
  const root = element("div", { class: "yaml-tab" }, [
    editor.element, note, element("div", { class: "yaml-actions" }, [revert, saveButton]),
  ]);
  /** @type {Slim | null} */
  let current = null;
  let loadedUid = "";
  let loadedVersion = "";
  let original = "";
  let loading = false;
  let readOnly = "";

  const dirty = () => editor.value !== original;
  const refresh = () => {
    saveButton.disabled = !dirty() || Boolean(readOnly);
    revert.disabled = !dirty();
    const moved = dirty() && current && current.metadata.resourceVersion !== loadedVersion;
    const message = readOnly || (moved
      ? t("changed_meanwhile", { revision: current?.metadata.resourceVersion ?? "" }) : t("edit_hint"));
    setText(note, message);
    note.classList.toggle("warn", Boolean(moved));
  };
  const read = async () => {
    if (!current || loading) return;
    loading = true;
    const wanted = current;
    try {
      const whole = await load(wanted);
      if (whole["metadata"]) delete whole["metadata"]["managedFields"];
      if (current?.metadata.uid !== wanted.metadata.uid || (loadedUid === wanted.metadata.uid && dirty())) return;
      loadedUid = wanted.metadata.uid ?? "";
      loadedVersion = whole["metadata"]?.resourceVersion ?? "";
      original = toYaml(whole);
      const { scrollTop } = editor.area;
      editor.value = original;
      editor.area.scrollTop = scrollTop;
    } catch (problem) {
      // Nothing to edit: the object went between the click and the answer. The head says so.
      setText(note, problem instanceof Error ? problem.message : String(problem));
    } finally {
      loading = false;
      refresh();
      if (current && current.metadata.uid !== loadedUid) void read();
    }
  };
  editor.area.addEventListener("input", refresh);
  revert.addEventListener("click", () => {
    original = "";
    editor.value = "";
    loadedUid = "";
    void read();
  });
  saveButton.addEventListener("click", async () => {
    if (!current) return;
    saveButton.disabled = true;
    const refusal = await save(current, editor.value);
    if (refusal) editor.showProblems(refusal.causes, refusal.message);
    else {
      editor.clear();
      original = editor.value;
      loadedVersion = "";
      void read();
    }
    refresh();
  });

  return {
    element: root,
    /**
     * @param {Slim} object
     * @param {Ui} ui
     * @param {string} refused why this person may not save; "" when they may
     */
    show(object, ui, refused) {
      const changed = current?.metadata.uid !== object.metadata.uid;
      const moved = current?.metadata.resourceVersion !== object.metadata.resourceVersion;
      if (!changed && !moved && lang === ui.lang && readOnly === refused && loadedUid) return;
      current = object;
      lang = ui.lang;
      readOnly = refused;
      editor.setReadOnly(Boolean(refused));
      setText(saveButton, text(lang, "save"));
      setText(revert, text(lang, "revert"));
      if (changed) {
        original = "";
        editor.value = "";
        loadedUid = "";
      }
      if (changed || (!dirty() && object.metadata.resourceVersion !== loadedVersion)) void read();
      refresh();
    },
  };
}
