/** Intents that create, change and delete objects: by a click of the palette, a form, a typed command, the inspector. */

/** @import { PodSlim, Slim } from "../lib/types.d.ts" */
/** @import { Table, World } from "./world.js" */
import { fullName, itemOf } from "../lib/items.js";
import { kindNamed, kindOfResource, splitKey } from "../lib/kinds.js";
import { counted } from "../lib/text.js";
import { consequence } from "../state/consequence.js";
import { whyUndecided } from "../state/undecided.js";
import { keyOf } from "../state/view.js";
import { forms } from "./forms.js";
import { redo, speak, undo } from "./world.js";

/** Kinds whose objects are drawn. */
const ON_STAGE = new Set(["Node", "Pod"]);
/** Milliseconds that the way to something made stays. */
const OFFER_MS = 6_000;

/**
 * @param {World} world
 * @returns {Pick<Table, "create" | "openForm" | "delete" | "undo" | "redo">}
 */
export function objectIntents(world) {
  const { actions, view, ui, setUi } = world;
  const { t, say, sayDone, attempt, refused } = speak(world);

  /**
   * The way to what was made and is not seen on the stage.
   * @param {string} kind
   * @param {Slim} made
   */
  const wayTo = (kind, made) => (ON_STAGE.has(kind) ? undefined : {
    label: t("pointed_go"), stayMs: OFFER_MS,
    run: () => world.setUi({ selected: { resource: kindNamed(kind).resource, key: keyOf(made) }, lit: null }),
  });

  /** @param {"taint" | "label"} kind */
  const openNode = async (kind) => {
    const { selected } = ui();
    if (selected?.resource !== "nodes") return;
    const node = selected.key;
    (await forms.object()).openNodeForm({
      kind, node, t,
      apply: (values) => refused(() =>
        kind === "label" ? actions.label(node, values) : actions.taint(node, [taintOf(values)], [])),
    });
  };

  return {
    create({ item: id, values }) {
      const item = itemOf(id);
      if (!item) return;
      return attempt(async () => {
        const made = await actions.createItem(item, values);
        const done = t("done_create", { kind: item.kind, name: made.metadata.name });
        const why = item.kind === "Pod" ? whyUndecided(view(), /** @type {PodSlim} */ (made), ui().lang) : null;
        say(why ? t("done_why", { done, why: counted(ui().lang, why.key, why.values) }) : done, "done", wayTo(item.kind, made));
      });
    },
    openForm({ item: id }) {
      if (id === "taint" || id === "label") return attempt(() => openNode(id));
      const item = itemOf(id);
      if (!item) return;
      return attempt(async () => (await forms.object()).openObjectForm({
        item,
        label: fullName(item, ui().lang),
        values: actions.valuesFor(item),
        t,
        create: (document) => refused(() => actions.api.createDocument(document, actions.namespace)),
        schemas: (apiVersion) => actions.schemas(apiVersion),
        createYaml: (yaml) => refused(() => actions.createYaml(yaml, item)),
      }));
    },
    delete({ resource, key }) {
      const kind = kindOfResource(resource)?.kind ?? resource;
      const { name } = splitKey(key);
      const { text: effect, values } = consequence(view(), resource, key);
      return attempt(async () => (await forms.remove()).openDelete({
        kind, name, t, effect: t(effect, values),
        remove: () => refused(async () => {
          await actions.remove(resource, key);
          sayDone(t("done_delete", { kind, name }));
        }),
      }));
    },
    undo: () => undo(world),
    redo: () => redo(world),
  };
}

/** @param {Record<string, string>} values of the form */
function taintOf({ key = "", value, effect = "NoSchedule" }) {
  return value ? { key, value, effect } : { key, effect };
}
