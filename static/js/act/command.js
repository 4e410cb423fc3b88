/** What a typed command does: reads are answered below the line, writes as a click would do them, errors stay beside it. */

/** @import { Command } from "../lib/commands.js" */
/** @import { Output } from "../lib/types.d.ts" */
/** @import { Table, World } from "./world.js" */
import { EXAMPLES, readCommand } from "../lib/commands.js";
import { consequence } from "../state/consequence.js";
import { refusedWrite } from "../state/roles.js";
import { speak } from "./world.js";

/** Rows of a list that are shown; a longer one says how many there are. */
export const ROWS_MAX = 200;

/**
 * @param {Extract<import("../lib/types.d.ts").Intent, {type: "command"}>} intent
 * @param {World} world
 * @param {Pick<Table, "delete" | "undo" | "redo" | "openImport">} does what the command line can have done by other intents
 */
export async function command({ line, typed }, world, does) {
  const { actions, view, ui, setUi, inspector } = world;
  const { t, say, sayDone, refused } = speak(world);

  /**
   * @param {Command} command
   * @returns {Promise<Output | null>} what it answers; null: nothing to read
   */
  const perform = async (command) => {
    switch (command.verb) {
      case "help": {
        const verbs = command.about ? [command.about] : Object.keys(EXAMPLES);
        return { kind: "help", rows: verbs.map((verb) => ({ example: EXAMPLES[verb] ?? "", about: t(`help.${verb}`) })) };
      }
      case "list": {
        const table = await actions.api.table(command.kind, command.namespace);
        return listed(command.kind, table, command.namespace === null);
      }
      case "apply":
        does.openImport({ type: "openImport", kind: "yaml" });
        return null;
      case "undo":
        await does.undo({ type: "undo" });
        return null;
      case "redo":
        await does.redo({ type: "redo" });
        return null;
      case "get":
      case "describe":
      case "edit": {
        const { kind, namespace, name } = command.target;
        await actions.api.get(kind, namespace, name);
        const tab = command.verb === "edit" || command.output === "yaml" ? "yaml" : command.verb === "describe" ? "summary" : "";
        setUi({ selected: { resource: kind.resource, key: keyOf(command.target) } });
        if (tab) inspector.openTab(tab);
        return null;
      }
      case "delete": {
        const { kind, namespace, name } = command.target;
        const key = keyOf(command.target);
        // What takes others along is asked about, as in the inspector; the rest can be undone. Who may not is told so at once.
        const { values } = consequence(view(), kind.resource, key);
        const asks = Number(values["count"] ?? 0) > 0 && !refusedWrite(view().me, namespace);
        if (asks) await does.delete({ type: "delete", resource: kind.resource, key });
        else {
          await actions.remove(kind.resource, key);
          sayDone(t("done_delete", { kind: kind.kind, name }));
        }
        return null;
      }
      default: {
        const { key, values } = await actions.run(command);
        sayDone(t(key, values));
        return null;
      }
    }
  };

  let error = "";
  /** @type {Output | null} */
  let output = null;
  const refusal = await refused(async () => {
    const read = readCommand(line, actions.namespace);
    if ("error" in read) error = t(read.error, read.values);
    else output = await perform(read);
  });
  error = refusal?.message ?? error;
  if (typed) setUi({ command: { id: (ui().command?.id ?? 0) + 1, line, error, output } });
  else if (error) say(error, "bad");
}

/** @param {{namespace: string, name: string}} target */
function keyOf({ namespace, name }) {
  return namespace ? `${namespace}/${name}` : name;
}

/**
 * The server's table of a list as the page shows it: kubectl's columns, a row an object.
 * @param {import("../lib/kinds.js").Kind} kind
 * @param {any} table meta.k8s.io/v1 Table
 * @param {boolean} everywhere of all namespaces: each row says its own
 * @returns {Output}
 */
export function listed(kind, table, everywhere) {
  /** @type {{name: string, priority?: number}[]} */
  const columns = table.columnDefinitions ?? [];
  const shown = columns.flatMap(({ priority }, index) => (priority ? [] : [index]));
  const named = everywhere && kind.namespaced;
  const rows = (table.rows ?? []).map((/** @type {any} */ row) => {
    const { namespace = "", name = "" } = row.object?.metadata ?? {};
    const cells = shown.map((index) => String(row.cells[index] ?? ""));
    return { key: keyOf({ namespace: kind.namespaced ? namespace : "", name }), cells: named ? [namespace, ...cells] : cells };
  });
  return {
    kind: "table", resource: kind.resource, total: rows.length, rows: rows.slice(0, ROWS_MAX),
    columns: [...(named ? ["Namespace"] : []), ...shown.map((index) => columns[index]?.name ?? "")],
    name: named ? 1 : 0,
  };
}
