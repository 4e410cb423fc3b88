/** The palette: what a click creates, the search box above it, the command line below. */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
/** @import { Item } from "../lib/items.js" */
import { append, element, icon, setAttribute, setText } from "../dom/dom.js";
import { fullName, ITEMS } from "../lib/items.js";
import { text } from "../lib/text.js";
import { refusedCluster, refusedItem, refusedWrite } from "../state/roles.js";
import { leader, objectAt, replicas } from "../state/selectors.js";
import { mountSearch } from "./search.js";
import { undoButton } from "./undo.js";

const GROUPS = /** @type {const} */ (["nodes", "pods", "workloads", "storage", "policies"]);

/**
 * What else the palette does; `run` says what a click means now, `reason` why it cannot.
 * @typedef {object} Tool
 * @property {string} id
 * @property {"policies" | "faults" | "files"} group
 * @property {string} icon
 * @property {(view: View, ui: Ui) => string} label
 * @property {(view: View, ui: Ui) => string} reason "" when it may be used
 * @property {(view: View, ui: Ui, dispatch: Dispatch) => void} run
 */

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 */
export function mount(root, dispatch) {
  const searchRoot = element("div", { class: "search" });
  const scroller = element("div", { class: "palette-items" });
  const { prompt, command } = commandLine(dispatch);
  const undo = undoButton(dispatch);
  append(root, [searchRoot, scroller, element("div", { class: "palette-foot" }, undo.element), prompt]);

  const search = mountSearch(searchRoot, dispatch);
  /** @type {Newest} */
  const newest = { view: null, ui: null };
  /** @type {Cell[]} */
  let cells = [];
  let shownLang = "";

  /** @param {Ui["lang"]} lang */
  const build = (lang) => {
    const groups = [...GROUPS, /** @type {const} */ ("faults"), /** @type {const} */ ("files")].map((group) => ({
      group,
      cells: [
        ...ITEMS.filter((item) => item.group === group).map((item) => itemCell(item, dispatch)),
        ...TOOLS.filter((tool) => tool.group === group).map((tool) => toolCell(tool, newest, dispatch)),
      ],
    }));
    cells = groups.flatMap((one) => one.cells);
    scroller.replaceChildren(...groups.map(({ group, cells }) =>
      element("section", { class: `palette-group group-${group}` }, [
        element("h2", {}, text(lang, `group_${group}`)),
        element("div", { class: "palette-grid" }, cells.map((cell) => cell.element)),
      ])));
  };

  return {
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      newest.view = view;
      newest.ui = ui;
      if (shownLang !== ui.lang) {
        shownLang = ui.lang;
        build(ui.lang);
        setAttribute(command, "aria-label", text(ui.lang, "command_label"));
        setAttribute(command, "placeholder", text(ui.lang, "command_hint"));
        setAttribute(root, "aria-label", text(ui.lang, "palette"));
      }
      for (const cell of cells) cell.update(view, ui);
      undo.update(ui);
      search.render(view, ui);
    },
    focusSearch: search.focus,
  };
}

/**
 * What was rendered last: a click means what it means now.
 * @typedef {{view: View | null, ui: Ui | null}} Newest
 */

/**
 * A place of the palette, and how it follows what the session holds.
 * @typedef {{element: HTMLElement, update: (view: View, ui: Ui) => void}} Cell
 */

/**
 * The line below the palette; the arrows bring back what was entered before.
 * @param {Dispatch} dispatch
 */
function commandLine(dispatch) {
  const prompt = element("form", { class: "command" }, element("span", { class: "prompt", "aria-hidden": "true" }, "❯"));
  const command = element("input", {
    class: "mono", name: "command", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    "data-testid": "command-line",
  });
  prompt.append(command);
  /** @type {string[]} */
  const history = [];
  let at = 0;
  prompt.addEventListener("submit", (event) => {
    event.preventDefault();
    const line = command.value.trim();
    if (!line) return;
    history.push(line);
    at = history.length;
    command.value = "";
    dispatch({ type: "command", line });
  });
  command.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    event.preventDefault();
    at = Math.max(0, Math.min(history.length, at + (event.key === "ArrowUp" ? -1 : 1)));
    command.value = history[at] ?? "";
  });
  return { prompt, command };
}

/**
 * @param {Item} item
 * @param {Dispatch} dispatch
 * @returns {Cell}
 */
function itemCell(item, dispatch) {
  const label = element("span", { class: "label" });
  const button = element("button", { class: "palette-item", type: "button", "data-testid": `palette-${item.id}` }, [
    item.hue ? swatch(item) : icon(item.icon), label, item.note ? " " : null,
    item.note ? element("small", {}, item.note) : null,
  ]);
  const more = element("button", { class: "palette-more", type: "button", "data-testid": `palette-${item.id}-form` },
    icon("more"));
  const open = () => dispatch({ type: "openForm", item: item.id });
  button.addEventListener("click", (event) => {
    if (event.shiftKey) open();
    else dispatch({ type: "create", item: item.id });
  });
  button.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    open();
  });
  more.addEventListener("click", open);
  return {
    element: element("div", { class: "palette-cell" }, [button, more]),
    update(view, { lang }) {
      const shown = text(lang, item.label);
      const full = fullName(item, lang);
      setText(label, shown);
      setAttribute(button, "data-short", item.note || abbreviated(item.id, shown));
      const refused = refusedItem(view, item);
      const reason = refused ? text(lang, refused.key, refused.values) : "";
      setAttribute(button, "aria-disabled", reason ? "true" : null);
      setAttribute(button, "title", reason || text(lang, "create_title", { item: full }));
      // What is written on it is part of its name, so that it can be asked for by voice.
      setAttribute(button, "aria-label", text(lang, "create_title", { item: `${full} ${item.note ?? ""}`.trim() }));
      setAttribute(more, "aria-label", text(lang, "edit_first", { item: full }));
      setAttribute(more, "title", text(lang, "edit_first", { item: full }));
    },
  };
}

/**
 * @param {Tool} tool
 * @param {Newest} newest
 * @param {Dispatch} dispatch
 * @returns {Cell}
 */
function toolCell(tool, newest, dispatch) {
  const label = element("span", { class: "label" });
  const button = element("button", { class: "palette-item", type: "button", "data-testid": `palette-${tool.id}` }, [
    icon(tool.icon), label,
  ]);
  button.addEventListener("click", () => {
    const { view, ui } = newest;
    if (view && ui && !tool.reason(view, ui)) tool.run(view, ui, dispatch);
  });
  return {
    element: element("div", { class: "palette-cell" }, button),
    update(view, ui) {
      const shown = tool.label(view, ui);
      setText(label, shown);
      setAttribute(button, "data-short", abbreviated(tool.id, shown));
      const reason = tool.reason(view, ui);
      setAttribute(button, "aria-disabled", reason ? "true" : null);
      setAttribute(button, "title", reason || null);
    },
  };
}

/** @param {Item} item */
function swatch(item) {
  return element("span", { class: `swatch hue-${item.hue}${item.filled ? " filled" : ""}`, "aria-hidden": "true" });
}

/**
 * @param {View} view
 * @param {Ui} ui
 */
function nodeReason(view, ui) {
  const refused = refusedCluster(view.me);
  if (refused) return text(ui.lang, refused);
  return selectedNode(view, ui) ? "" : text(ui.lang, "reason_no_node");
}

/**
 * @param {View} view
 * @param {Ui} ui
 */
function selectedNode(view, ui) {
  return ui.selected?.resource === "nodes" ? objectAt(view, "nodes", ui.selected.key) : null;
}

/**
 * The replica a fault would hit: the selected one, else the scheduler that leads; the first crashed one to recover.
 * @param {View} view
 * @param {Ui} ui
 * @param {"crash" | "recover"} kind
 */
function replicaFor(view, ui, kind) {
  const crashed = kind === "recover";
  const fits = replicas(view).filter((replica) => (replica.status?.state === "Crashed") === crashed);
  const chosen = fits.find((replica) =>
    ui.selected?.resource === "replicas.clustersim.io" && ui.selected.key === replica.metadata.name);
  return chosen ?? (crashed ? fits[0] : leader(view, "kube-scheduler")) ?? null;
}

/**
 * @param {"crash" | "recover"} kind
 * @param {string} iconName
 * @returns {Tool}
 */
function fault(kind, iconName) {
  return {
    id: kind, group: "faults", icon: iconName,
    label: (_view, ui) => text(ui.lang, `item_${kind}`),
    reason: (view, ui) => {
      const refused = refusedCluster(view.me);
      if (refused) return text(ui.lang, refused);
      if (replicaFor(view, ui, kind)) return "";
      return text(ui.lang, kind === "crash" ? "reason_no_leader" : "reason_none_crashed");
    },
    run: (view, ui, dispatch) => {
      const replica = replicaFor(view, ui, kind);
      if (replica) dispatch({ type: "fault", identity: replica.metadata.name, kind });
    },
  };
}

/** What stands under an icon where the palette is narrow: kubectl's short names, where a kind has one. */
/** @type {Readonly<Record<string, string>>} */
const SHORT = {
  deployment: "deploy", replicaset: "rs", service: "svc", namespace: "ns", priorityclass: "pc",
  persistentvolumeclaim: "pvc", persistentvolume: "pv", "pod-besteffort": "none", "pod-high-priority": "high", recover: "heal",
};
const SHORT_MAX = 6;

/**
 * @param {string} id
 * @param {string} shown
 */
function abbreviated(id, shown) {
  return SHORT[id] ?? [...shown].slice(0, SHORT_MAX).join("");
}

/** @type {readonly Tool[]} */
const TOOLS = [
  {
    id: "taint", group: "policies", icon: "tag", label: (_view, ui) => text(ui.lang, "item_taint"), reason: nodeReason,
    run: (_view, _ui, dispatch) => dispatch({ type: "openForm", item: "taint" }),
  },
  {
    id: "label", group: "policies", icon: "tag", label: (_view, ui) => text(ui.lang, "item_label"), reason: nodeReason,
    run: (_view, _ui, dispatch) => dispatch({ type: "openForm", item: "label" }),
  },
  {
    id: "cordon", group: "policies", icon: "ban",
    label: (view, ui) => text(ui.lang, selectedNode(view, ui)?.spec?.["unschedulable"] ? "item_uncordon" : "item_cordon"),
    reason: nodeReason,
    run: (view, ui, dispatch) => {
      const node = selectedNode(view, ui);
      const verb = node?.spec?.["unschedulable"] ? "uncordon" : "cordon";
      if (node) dispatch({ type: "command", line: `${verb} ${node.metadata.name}` });
    },
  },
  fault("crash", "bolt"),
  fault("recover", "heart"),
  {
    id: "fault", group: "faults", icon: "more", label: (_view, ui) => text(ui.lang, "fault.open"),
    reason: (view, ui) => {
      const refused = refusedCluster(view.me);
      return refused ? text(ui.lang, refused) : "";
    },
    run: (view, ui, dispatch) => {
      const replica = replicaFor(view, ui, "crash") ?? replicas(view)[0];
      if (replica) dispatch({ type: "openFault", identity: replica.metadata.name });
    },
  },
  {
    id: "yaml", group: "files", icon: "file", label: (_view, ui) => text(ui.lang, "item_yaml"),
    reason: (view, ui) => {
      const refused = refusedWrite(view.me, view.me?.namespace ?? "");
      return refused ? text(ui.lang, refused) : "";
    },
    run: (_view, _ui, dispatch) => dispatch({ type: "openImport", kind: "yaml" }),
  },
  {
    id: "openb", group: "files", icon: "upload", label: (_view, ui) => text(ui.lang, "item_openb"),
    reason: (view, ui) => {
      const refused = refusedCluster(view.me);
      return refused ? text(ui.lang, refused) : "";
    },
    run: (_view, _ui, dispatch) => dispatch({ type: "openImport", kind: "openb" }),
  },
];
