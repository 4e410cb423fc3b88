/** What the Summary tab says about an object: rows of label and value, by kind. Pure but for the links it makes. */

/** @import { Dispatch, NodeSlim, PodSlim, Slim, Ui, View } from "../lib/types.d.ts" */
/** @import { Content, Fact, Scope } from "./fact-parts.js" */
import { element } from "../dom/dom.js";
import { kindNamed, kindOfResource } from "../lib/kinds.js";
import { formatCpu, formatMemory } from "../lib/quantity.js";
import { age, clockTime, counted, text } from "../lib/text.js";
import { saidKey, saidName } from "../state/people.js";
import { isTerminal, nodes, objectsOf, ownerOf, podRequests, podsByNode } from "../state/selectors.js";
import { whyUndecided } from "../state/undecided.js";
import { cpuWith, loadsOf } from "../state/load.js";
import { usageOf } from "../state/usage.js";
import { keyOf } from "../state/view.js";
import { UNMOUNTED, waitIn, waitWords } from "../state/waits.js";
import { link, LINKS_MAX, pairs } from "./fact-parts.js";
import { serviceFacts } from "./service-facts.js";

/**
 * @param {Slim} object
 * @param {View} view
 * @param {Ui} ui
 * @param {Dispatch} dispatch
 * @returns {readonly Fact[]}
 */
export function factsOf(object, view, ui, dispatch) {
  /** @type {Scope} */
  const scope = { view, ui, dispatch, t: (key, values) => text(ui.lang, key, values) };
  const own = FACTS[object.resource]?.(object, scope) ?? [];
  return [...own, ...common(object, scope)];
}

/** @type {Record<string, (object: any, scope: Scope) => Fact[]>} */
const FACTS = {
  pods: podFacts,
  nodes: nodeFacts,
  "deployments.apps": workloadFacts,
  "replicasets.apps": workloadFacts,
  services: serviceFacts,
  "priorityclasses.scheduling.k8s.io": (object, { t }) => [
    [t("f_value"), String(object.value ?? 0)],
    [t("f_policy"), object.preemptionPolicy ?? "PreemptLowerPriority"],
    [t("f_default"), t(object.globalDefault ? "yes" : "no")],
    ...(object.description ? [/** @type {Fact} */ ([t("f_description"), object.description])] : []),
  ],
  persistentvolumeclaims: claimFacts,
  persistentvolumes: volumeFacts,
  "storageclasses.storage.k8s.io": (object, { t }) => [
    [t("f_provisioner"), object.provisioner ?? ""],
    [t("f_binding"), object.volumeBindingMode ?? ""],
    [t("f_reclaim"), object.reclaimPolicy ?? ""],
  ],
  "poddisruptionbudgets.policy": (object, { t }) => [
    [t("f_least"), String(object.spec?.minAvailable ?? "–")],
    [t("f_most"), String(object.spec?.maxUnavailable ?? "–")],
    [t("f_allowed"), String(object.status?.disruptionsAllowed ?? 0)],
    [t("f_healthy"), t("of", { used: object.status?.currentHealthy ?? 0, total: object.status?.expectedPods ?? 0 })],
    [t("f_selector"), pairs(object.spec?.selector?.matchLabels)],
  ],
  "leases.coordination.k8s.io": (object, { t }) => [
    [t("f_holder"), object.spec?.holderIdentity ?? ""],
    [t("f_renewed"), String(object.spec?.renewTime ?? "")],
    [t("f_duration"), `${object.spec?.leaseDurationSeconds ?? 0} s`],
    [t("f_transitions"), String(object.spec?.leaseTransitions ?? 0)],
  ],
  "replicas.clustersim.io": (object, { t }) => [
    [t("f_component"), object.spec?.component ?? ""],
    [t("f_holder"), object.status?.lease?.holder ?? ""],
    [t("f_seen"), String(object.status?.seenRevision ?? "")],
  ],
};

/**
 * @param {PodSlim} pod that runs
 * @param {Scope} scope
 */
function usageLine(pod, { t, view }) {
  const loads = loadsOf(view);
  const cpu = cpuWith(pod, loads);
  const usual = t("f_usual", { cpu: formatCpu(cpu), memory: formatMemory(pod.usage?.memory ?? 0) });
  const load = Math.min(Math.round(loads.get(pod.metadata.uid ?? "") ?? 0), cpu);
  return load ? `${usual} · ${t("f_load", { cpu: formatCpu(load) })}` : usual;
}

/**
 * @param {PodSlim} pod
 * @param {Scope} scope
 * @returns {Fact[]}
 */
function podFacts(pod, scope) {
  const { t, view } = scope;
  const { spec, status } = pod;
  const owner = ownerOf(view, pod);
  /** @type {Fact[]} */
  const facts = [
    [t("f_node"), spec?.nodeName ? link(scope, "nodes", spec.nodeName, spec.nodeName) : "–"],
    [t("f_phase"), status?.reason ? `${status.phase}: ${status.reason}` : (status?.phase ?? "Pending")],
    [t("f_requests"), requestsText(pod, t)],
    ...(pod.usage ? [/** @type {Fact} */ ([t("f_uses"), usageLine(pod, scope)])] : []),
    [t("f_priority"), spec?.priorityClassName ? `${spec.priority ?? 0} (${spec.priorityClassName})` : String(spec?.priority ?? 0)],
  ];
  const why = spec?.nodeName || isTerminal(pod) ? null : whyUndecided(view, pod, scope.ui.lang);
  if (why) facts.splice(2, 0, [t("f_waits"), counted(scope.ui.lang, why.key, why.values)]);
  if (status?.nominatedNodeName)
    facts.splice(1, 0, [t("f_nominated"), link(scope, "nodes", status.nominatedNodeName, status.nominatedNodeName)]);
  if (owner.kind !== "Pod") facts.push([t("owner_is"), ownerLink(pod, scope)]);
  if (spec?.schedulingGates?.length) facts.push([t("f_gates"), spec.schedulingGates.map((gate) => gate.name).join(", ")]);
  if (spec?.schedulerName && spec.schedulerName !== "default-scheduler") facts.push([t("f_scheduler"), spec.schedulerName]);
  const claims = claimsOf(pod);
  if (claims.length) facts.push([t("f_volumes"), claims.map((name) => claimLine(pod, name, scope))]);
  const waits = waitIn(view, pod);
  if (waits?.reason === UNMOUNTED) facts.splice(2, 0, [t("f_waits"), waitWords(waits)]);
  if (spec?.initContainers?.length) facts.push([t("f_inits"), spec.initContainers.map((one) => containerLine(pod, one, t))]);
  facts.push([t("f_containers"), (spec?.containers ?? []).map((container) => containerLine(pod, container, t))]);
  facts.push(...conditions(pod, t));
  return facts;
}

/**
 * Names of the claims that a pod uses, those of its ephemeral volumes too.
 * @param {Slim} pod
 * @returns {string[]}
 */
function claimsOf(pod) {
  /** @type {any[]} */
  const volumes = pod.spec?.["volumes"] ?? [];
  return volumes.flatMap((volume) => {
    const claim = volume.persistentVolumeClaim?.claimName;
    return claim ? [claim] : volume.ephemeral ? [`${pod.metadata.name}-${volume.name}`] : [];
  });
}

/**
 * A claim of a pod with its volume: `data → disk-1 · Bound`.
 * @param {PodSlim} pod
 * @param {string} name
 * @param {Scope} scope
 */
function claimLine(pod, name, scope) {
  const key = `${pod.metadata.namespace}/${name}`;
  const claim = objectsOf(scope.view, "persistentvolumeclaims").get(key);
  if (!claim) return element("div", { class: "line" }, [name, ` · ${scope.t("f_missing")}`]);
  const volume = claim.spec?.["volumeName"];
  return element("div", { class: "line" }, [
    link(scope, "persistentvolumeclaims", key, name),
    ...(volume ? [" → ", volumeLink(volume, scope)] : []),
    ` · ${claim.status?.["phase"] ?? ""}`,
  ]);
}

/**
 * @param {string} name
 * @param {Scope} scope
 */
function volumeLink(name, scope) {
  return objectsOf(scope.view, "persistentvolumes").has(name) ? link(scope, "persistentvolumes", name, name) : name;
}

/**
 * @param {Slim} claim
 * @param {Scope} scope
 * @returns {Fact[]}
 */
function claimFacts(claim, scope) {
  const { t, view } = scope;
  const volume = claim.spec?.["volumeName"];
  const users = [...objectsOf(view, "pods")].filter(([, pod]) =>
    pod.metadata.namespace === claim.metadata.namespace && claimsOf(pod).includes(claim.metadata.name));
  return [
    [t("f_phase"), claim.status?.["phase"] ?? ""],
    [t("f_volume"), volume ? volumeLink(volume, scope) : "–"],
    [t("f_size"), `${claim.spec?.["resources"]?.requests?.storage ?? ""}`],
    [t("f_access"), (claim.spec?.["accessModes"] ?? []).join(", ")],
    [t("f_class"), classLink(claim.spec?.["storageClassName"], scope)],
    [t("f_usedBy"), users.length ? users.slice(0, LINKS_MAX).map(([key]) => link(scope, "pods", key, saidKey(view, key))) : "–"],
  ];
}

/**
 * @param {Slim} volume
 * @param {Scope} scope
 * @returns {Fact[]}
 */
function volumeFacts(volume, scope) {
  const { t } = scope;
  const claim = volume.spec?.["claimRef"];
  const key = claim ? `${claim.namespace}/${claim.name}` : "";
  const known = objectsOf(scope.view, "persistentvolumeclaims").has(key);
  /** @type {any[]} */
  const terms = volume.spec?.["nodeAffinity"]?.required?.nodeSelectorTerms ?? [];
  const reach = terms.flatMap((term) => term.matchExpressions ?? []).map((/** @type {any} */ wanted) =>
    element("div", { class: "line" }, element("code", {}, `${wanted.key} ${wanted.operator} ${(wanted.values ?? []).join(", ")}`)));
  return [
    [t("f_phase"), volume.status?.["phase"] ?? ""],
    [t("f_claim"), known ? link(scope, "persistentvolumeclaims", key, key) : key || "–"],
    [t("f_size"), volume.spec?.["capacity"]?.storage ?? ""],
    [t("f_access"), (volume.spec?.["accessModes"] ?? []).join(", ")],
    [t("f_class"), classLink(volume.spec?.["storageClassName"], scope)],
    [t("f_reclaim"), volume.spec?.["persistentVolumeReclaimPolicy"] ?? ""],
    ...(reach.length ? [/** @type {Fact} */ ([t("f_reachedFrom"), reach])] : []),
  ];
}

/**
 * @param {string | undefined} name
 * @param {Scope} scope
 */
function classLink(name, scope) {
  if (!name) return "–";
  const resource = "storageclasses.storage.k8s.io";
  return objectsOf(scope.view, resource).has(name) ? link(scope, resource, name, name) : name;
}

/**
 * @param {PodSlim} pod
 * @param {{name: string, image?: string}} container
 * @param {Scope["t"]} t
 */
function containerLine(pod, container, t) {
  const statuses = [...pod.status?.initContainerStatuses ?? [], ...pod.status?.containerStatuses ?? []];
  const status = statuses.find((candidate) => candidate.name === container.name);
  const waiting = waitWords(status?.state?.waiting) || status?.state?.terminated?.reason;
  const restarts = status?.restartCount ? ` · ${t("f_restarts", { count: status.restartCount })}` : "";
  return element("div", { class: "line" }, [
    element("code", {}, container.image ?? container.name), waiting ? ` ${waiting}` : "", restarts,
  ]);
}

/**
 * @param {PodSlim} pod
 * @param {Scope["t"]} t
 */
export function requestsText(pod, t) {
  const { cpuMilli, memoryBytes, extended } = podRequests(pod);
  const parts = [];
  if (cpuMilli) parts.push(`${formatCpu(cpuMilli)} cpu`);
  if (memoryBytes) parts.push(formatMemory(memoryBytes));
  for (const [name, amount] of Object.entries(extended)) parts.push(`${amount} ${name}`);
  return parts.join(" · ") || t("f_requests_none");
}

/**
 * @param {NodeSlim} node
 * @param {Scope} scope
 * @returns {Fact[]}
 */
function nodeFacts(node, scope) {
  const { t, view } = scope;
  const summary = nodes(view).find((candidate) => candidate.name === node.metadata.name);
  if (!summary) return [];
  const { requested, allocatable } = summary;
  const usage = usageOf(node, summary.pods, loadsOf(view));
  /** @type {Content[]} */
  const bars = [
    bar(t("f_cpu"), requested.cpuMilli, allocatable.cpuMilli, formatCpu, usage?.cpu),
    bar(t("f_memory"), requested.memoryBytes, allocatable.memoryBytes, formatMemory, usage?.memory),
    bar(t("f_pods"), requested.pods, allocatable.pods, String),
    ...Object.keys(allocatable.extended).map((name) =>
      bar(name, requested.extended[name] ?? 0, allocatable.extended[name] ?? 0, String)),
  ];
  const pods = (podsByNode(view).get(node.metadata.name) ?? []).slice(0, LINKS_MAX);
  return [
    [t("f_resources"), bars],
    ...(usage ? [/** @type {Fact} */ ([t("f_uses"), t("f_usual", { cpu: formatCpu(usage.cpu), memory: formatMemory(usage.memory) })])] : []),
    ...(summary.zone ? [/** @type {Fact} */ ([t("f_zone"), summary.zone])] : []),
    [t("f_taints"), summary.taints.length ? summary.taints.map((taint) => element("div", { class: "line" },
      element("code", {}, `${taint.key}${taint.value ? `=${taint.value}` : ""}:${taint.effect}`))) : "–"],
    ...conditions(node, t),
    [`${t("f_podsOn")} (${summary.pods.length})`, pods.map((pod) => link(scope, "pods", keyOf(pod), saidName(view, pod.metadata.namespace, pod.metadata.name)))],
  ];
}

/**
 * @param {string} label
 * @param {number} used
 * @param {number} total
 * @param {(amount: number) => string} format
 * @param {number} [happens] how much of it is really used, as a line in the bar; the row beside it says it
 */
function bar(label, used, total, format, happens) {
  const share = total ? Math.min(100, (used / total) * 100) : 0;
  const fill = element("i");
  fill.style.width = `${share}%`;
  const line = happens === undefined ? null : element("u");
  if (line) line.style.width = `${total ? Math.min(100, ((happens ?? 0) / total) * 100) : 0}%`;
  return element("div", { class: "bar-row" }, [
    element("span", {}, label),
    element("span", { class: "bar", role: "presentation" }, [fill, line]),
    element("span", {}, `${format(used)} / ${format(total)}`),
  ]);
}

/**
 * @param {Slim} object
 * @param {Scope} scope
 * @returns {Fact[]}
 */
function workloadFacts(object, scope) {
  const { t } = scope;
  const ready = object.status?.["readyReplicas"] ?? 0;
  return [
    [t("f_replicas"), `${t("of", { used: ready, total: object.spec?.["replicas"] ?? 1 })} ${t("f_ready")}`],
    [t("f_selector"), pairs(object.spec?.["selector"]?.matchLabels)],
    ...conditions(object, t),
    ...owned(object, scope),
  ];
}

/**
 * @param {Slim} object
 * @param {Scope} scope
 * @returns {Fact[]}
 */
function owned(object, scope) {
  /** @type {Content[]} */
  const links = [];
  for (const resource of ["replicasets.apps", "pods"])
    for (const [key, candidate] of objectsOf(scope.view, resource))
      if (candidate.metadata.ownerReferences?.some((reference) => reference.uid === object.metadata.uid))
        if (links.length < LINKS_MAX) links.push(link(scope, resource, key, candidate.metadata.name));
  return links.length ? [[scope.t("f_owned"), links]] : [];
}

/**
 * @param {Slim} object
 * @param {Scope["t"]} t
 * @returns {Fact[]}
 */
function conditions(object, t) {
  /** @type {{type: string, status: string, reason?: string, message?: string}[]} */
  const list = object.status?.["conditions"] ?? [];
  if (list.length === 0) return [];
  return [[t("f_conditions"), list.map((condition) => element("div", { class: "line condition" }, [
    element("span", { class: `chip ${condition.status === "True" ? "accent" : ""}` }, `${condition.type} ${condition.status}`),
    condition.reason ? ` ${condition.reason}` : "",
    condition.message ? element("q", { class: "mono" }, condition.message) : null,
  ]))]];
}

/**
 * @param {Slim} object
 * @param {Scope} scope
 * @returns {Fact[]}
 */
function common(object, { t, view, ui }) {
  const { labels, creationTimestamp, resourceVersion } = object.metadata;
  /** @type {Fact[]} */
  const facts = [];
  if (labels && Object.keys(labels).length) facts.push([t("f_labels"), pairs(labels)]);
  if (creationTimestamp) {
    const made = Date.parse(creationTimestamp);
    facts.push([t("f_age"), `${age(view.epochMs + ui.nowMs - made)} · ${clockTime(made)}`]);
  }
  facts.push(["resourceVersion", resourceVersion ?? ""]);
  return facts;
}

/**
 * The owner by name, linked when this page knows the object.
 * @param {Slim} object
 * @param {Pick<Scope, "view" | "dispatch">} scope
 */
export function ownerLink(object, scope) {
  const direct = object.metadata.ownerReferences?.find((reference) => reference.controller);
  if (!direct) return "";
  const shown = object.resource === "pods" ? ownerOf(scope.view, /** @type {PodSlim} */ (object)) : direct;
  const known = ["Deployment", "ReplicaSet", "Node"].includes(shown.kind);
  if (!known) return `${shown.kind} ${shown.name}`;
  const kind = kindNamed(shown.kind);
  const key = kind.namespaced ? `${object.metadata.namespace}/${shown.name}` : shown.name;
  return link(scope, kind.resource, key, shown.name);
}

/** @param {{resource: string}} object */
export function kindName(object) {
  return kindOfResource(object.resource)?.kind ?? object.resource;
}
