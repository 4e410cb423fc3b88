/** What the palette does besides creating: taints and labels of a node, faults, files. */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
import { text } from "../lib/text.js";
import { refusedCluster, refusedWrite } from "../state/roles.js";
import { leader, objectAt, replicas } from "../state/selectors.js";

/** The annotation of a node by which its machine falls silent (docs/scenarios.md). */
const KUBELET = "clustersim.io/kubelet";

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

/**
 * A fault whose details are asked for: of the selected replica, else of the scheduler that leads.
 * @param {string} kind "" asks which
 * @param {string} iconName
 * @returns {Tool}
 */
function chosenFault(kind, iconName) {
  return {
    id: kind, group: "faults", icon: iconName,
    label: (_view, ui) => text(ui.lang, `fault.name.${kind}`),
    reason: (view, ui) => {
      const refused = refusedCluster(view.me);
      return refused ? text(ui.lang, refused) : "";
    },
    run: (view, ui, dispatch) => {
      const replica = replicaFor(view, ui, "crash") ?? replicas(view)[0];
      if (replica) dispatch({ type: "openFault", identity: replica.metadata.name, ...(kind ? { kind } : {}) });
    },
  };
}

/** @param {import("../lib/types.d.ts").Slim | null | undefined} node */
function isSilenced(node) {
  return node?.metadata.annotations?.[KUBELET] === "off";
}

/** @type {readonly Tool[]} */
export const TOOLS = [
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
  {
    id: "kill", group: "faults", icon: "close",
    label: (view, ui) => text(ui.lang, isSilenced(selectedNode(view, ui)) ? "item_revive" : "item_kill"),
    reason: nodeReason,
    run: (view, ui, dispatch) => {
      const node = selectedNode(view, ui);
      const word = isSilenced(node) ? `${KUBELET}-` : `${KUBELET}=off`;
      if (node) dispatch({ type: "command", line: `annotate node ${node.metadata.name} ${word}` });
    },
  },
  fault("crash", "bolt"),
  fault("recover", "heart"),
  chosenFault("partition", "ban"),
  chosenFault("skew", "clock"),
  chosenFault("drop-watch", "eye"),
  { ...chosenFault("", "more"), id: "fault", label: (_view, ui) => text(ui.lang, "fault.open") },
  {
    id: "by-hand", group: "files", icon: "users", label: (_view, ui) => text(ui.lang, "item_by_hand"),
    reason: () => "",
    run: (_view, _ui, dispatch) => dispatch({ type: "openByHand" }),
  },
  {
    id: "ask", group: "files", icon: "eye", label: (_view, ui) => text(ui.lang, "item_ask"),
    reason: (view, ui) => {
      const refused = refusedCluster(view.me);
      return refused ? text(ui.lang, refused) : "";
    },
    run: (view, ui, dispatch) => {
      const key = ui.selected?.resource === "pods" ? ui.selected.key : "";
      const pod = key ? view.objects.get("pods")?.get(key) : null;
      // What has its node already is asked nothing.
      dispatch({ type: "askClass", pod: pod && !pod.spec?.["nodeName"] ? key : "" });
    },
  },
  {
    id: "homework", group: "files", icon: "tag", label: (_view, ui) => text(ui.lang, "item_homework"),
    reason: () => "",
    run: (_view, _ui, dispatch) => dispatch({ type: "openHomework", id: "" }),
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
  {
    id: "save", group: "files", icon: "download", label: (_view, ui) => text(ui.lang, "item_save"), reason: () => "",
    run: (_view, _ui, dispatch) => dispatch({ type: "openSave" }),
  },
];
