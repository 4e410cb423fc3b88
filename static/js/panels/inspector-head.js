/** The head of the inspector: what is selected, in which state, whose it is, and the way to delete or to leave it. */

/** @import { Dispatch, PodSlim, Slim, Ui, View } from "../lib/types.d.ts" */
import { element, icon } from "../dom/dom.js";
import { face } from "../dom/face.js";
import { text } from "../lib/text.js";
import { groupOf } from "../state/groups.js";
import { isWall, lookersAt } from "../state/looks.js";
import { refusedWrite } from "../state/roles.js";
import { conditionOf, cycleInHand, podState } from "../state/selectors.js";
import { keyOf } from "../state/view.js";
import { kindName, ownerLink } from "./facts.js";

/**
 * @param {Slim} object
 * @param {object} scope
 * @param {View} scope.view
 * @param {Ui} scope.ui
 * @param {Dispatch} scope.dispatch
 * @param {{key: string, tone: string}} scope.state
 * @param {{name: string, color: number} | null | undefined} scope.author
 */
export function headOf(object, { view, ui, dispatch, state, author }) {
  const t = (/** @type {string} */ name) => text(ui.lang, name);
  const { namespace, name } = object.metadata;
  /** @type {(Node | string)[]} */
  const line = [kindName(object)];
  if (namespace) line.push(` · ${t("namespace_is")} `, element("b", {}, namespace));
  const owner = ownerLink(object, { view, dispatch });
  if (owner) line.push(` · ${t("owner_is")} `, owner);
  if (author) line.push(` · ${t("by")} `, face(author, "small"), element("b", {}, author.name));
  const refused = refusedWrite(view.me, namespace ?? "");
  const label = text(ui.lang, "delete_named", { name });
  const remove = element("button", {
    class: "ghost", type: "button", "aria-label": label, "data-testid": "inspector-delete",
    title: refused ? text(ui.lang, refused, { namespace: view.me?.namespace ?? "" }) : label,
    "aria-disabled": refused ? "true" : undefined,
  }, icon("trash"));
  remove.addEventListener("click", () => dispatch({ type: "delete", resource: object.resource, key: keyOf(object) }));
  const copy = element("button", {
    class: "ghost", type: "button", "aria-label": t("copy_address"), title: t("copy_address"), "data-testid": "inspector-copy",
  }, icon("copy"));
  copy.addEventListener("click", () => dispatch({ type: "copyAddress" }));
  const size = t(ui.enlarged ? "enlarged_back" : "enlarge");
  const enlarge = element("button", {
    class: "ghost inspector-enlarge", type: "button", "aria-label": size, title: size, "aria-pressed": String(ui.enlarged),
    "data-testid": "inspector-enlarge", onclick: () => dispatch({ type: "enlarge", on: !ui.enlarged }),
  }, icon("expand"));
  const teacher = view.me?.role === "teacher" && !view.me.past;
  const points = (teacher || view.me?.role === "student") && !view.me?.past;
  const point = points && element("button", {
    class: "ghost", type: "button", "aria-label": t("point_at"), title: t("point_at"), "data-testid": "inspector-point",
    onclick: () => dispatch({ type: "pointAt", resource: object.resource, key: keyOf(object) }),
  }, icon("eye"));
  const waits = object.resource === "pods" && !object.spec?.["nodeName"] && !object.metadata.deletionTimestamp;
  const ask = teacher && waits && element("button", {
    class: "button inspector-ask", type: "button", "data-testid": "inspector-ask",
    onclick: () => dispatch({ type: "askClass", pod: keyOf(object) }),
  }, [icon("users"), t("ask_class")]);
  const others = isWall(view, ui) ? [] : lookersAt(view, object.resource, keyOf(object));
  if (others.length) line.push(" · ", ...others.map((person) => face(person, "small")), t("looks_here"));
  const close = element("button", { class: "ghost inspector-close", type: "button", "aria-label": t("close") }, icon("close"));
  close.addEventListener("click", () => dispatch({ type: "deselect" }));
  return [
    element("div", { class: "inspector-title" }, [
      element("span", { class: `glyph ${state.key}${hueOf(object, view, ui)}`, "aria-hidden": "true" },
        object.resource === "nodes" ? icon("node") : object.resource === "pods" ? null : icon("layers")),
      element("h2", { "data-testid": "inspector-name" }, name),
      element("span", { class: `chip ${state.tone}`, "data-testid": "inspector-state" }, t(state.key)),
      element("span", { class: "inspector-acts" }, [point, copy, enlarge, remove, close].filter((one) => one !== null && one !== undefined && one !== false)),
    ]),
    element("p", { class: "inspector-line" }, line),
    ask || null,
  ];
}

/**
 * A pod has the hue that it has on the stage.
 * @param {Slim} object
 * @param {View} view
 * @param {Ui} ui
 */
export function hueOf(object, view, ui) {
  return object.resource === "pods" ? ` hue-${groupOf(view, /** @type {PodSlim} */ (object), ui.colourBy).hue + 1}` : "";
}

/**
 * The chip beside the name: what state the object is in and in which tone to say it.
 * @param {Slim} object
 * @param {View} view
 * @returns {{key: string, tone: string}}
 */
export function stateOf(object, view) {
  if (object.resource === "pods") {
    const pod = /** @type {PodSlim} */ (object);
    const inHand = cycleInHand(view)?.cycle.uid === pod.metadata.uid;
    const state = podState(pod);
    const tone = { running: "good", failed: "bad", terminating: "bad", nominated: "ghostly" }[/** @type {string} */ (state)];
    return inHand ? { key: "state_cycle", tone: "accent" } : { key: `state_${state}`, tone: tone ?? "" };
  }
  if (object.metadata.deletionTimestamp) return { key: "state_terminating", tone: "bad" };
  if (object.resource === "nodes") {
    const ready = conditionOf(object.status?.["conditions"], "Ready")?.status === "True";
    if (!ready) return { key: "state_notready", tone: "bad" };
    return object.spec?.["unschedulable"] ? { key: "state_cordoned", tone: "" } : { key: "state_ready", tone: "good" };
  }
  if (object.resource === "replicas.clustersim.io") {
    if (object.status?.["state"] === "Crashed") return { key: "state_crashed", tone: "bad" };
    return object.status?.["leading"] ? { key: "state_leading", tone: "accent" } : { key: "state_standby", tone: "" };
  }
  return { key: "", tone: "none" };
}
