/** Views and traces that several tests of the stage share. */

import { emptyView, applyMessage } from "../../../static/js/state/view.js";

/** @import { Cycle, Slim, TraceResult, View } from "../../../static/js/lib/types.d.ts" */

const WEIGHTS = { TaintToleration: 3, NodeResourcesFit: 1 };

/** Four nodes: n1 and n3 tie at 391, n2 is refused, n4 trails. @returns {TraceResult} */
export function trace() {
  const nodes = ["n1", "n3", "n4"];
  const normalized = { TaintToleration: [100, 100, 100], NodeResourcesFit: [91, 91, 50] };
  const plugins = Object.fromEntries(Object.entries(normalized).map(([name, column]) => [name, {
    raw: column, normalized: column,
    weighted: column.map((value) => value * WEIGHTS[/** @type {keyof typeof WEIGHTS} */ (name)]),
  }]));
  return {
    result: "scheduled",
    preFilter: { code: "Success", allNodes: true, skip: ["NodePorts"] },
    firstFail: { n2: { code: "Unschedulable", plugin: "NodeResourcesFit", reasons: ["Insufficient cpu"] } },
    filters: { n2: { NodeResourcesFit: { code: "Unschedulable", reasons: ["Insufficient cpu"] } } },
    feasible: nodes,
    scores: { nodes, skip: ["NodeAffinity"], plugins, total: [391, 391, 350] },
    best: ["n1", "n3"],
    chosen: "n3",
    lot: { draw: 1, below: 2, of: ["n1", "n3"] },
  };
}

/**
 * @param {Partial<Cycle>} change
 * @returns {Cycle}
 */
export function cycle(change = {}) {
  return {
    pod: "default/web-1", uid: "u-web-1", attempt: 1, point: "Score", startedAtMs: 0, profile: "default-scheduler",
    seenRevision: 3, traceId: "u-web-1-1", trace: trace(), ...change,
  };
}

/**
 * @param {string} name
 * @param {string} [zone]
 * @returns {Slim}
 */
export function node(name, zone = "zone-a") {
  return {
    resource: "nodes",
    metadata: { name, uid: `u-${name}`, labels: { "topology.kubernetes.io/zone": zone } },
    spec: {},
    status: {
      allocatable: { cpu: "4", memory: "8Gi", pods: "110" }, conditions: [{ type: "Ready", status: "True" }],
    },
  };
}

/**
 * @param {string} name
 * @param {Record<string, any>} [change] of spec
 * @param {Record<string, any>} [status]
 * @returns {Slim}
 */
export function pod(name, change = {}, status = { phase: "Pending" }) {
  return {
    resource: "pods",
    metadata: { name, namespace: "default", uid: `u-${name}`, creationTimestamp: "2030-01-01T00:00:00Z" },
    spec: { priority: 0, containers: [{ name: "c", resources: { requests: { cpu: "500m", memory: "1Gi" } } }], ...change },
    status,
  };
}

/**
 * @param {Record<string, any>} status
 * @param {string} [name]
 * @returns {Slim}
 */
export function scheduler(status, name = "kube-scheduler-0") {
  return {
    resource: "replicas.clustersim.io", metadata: { name }, spec: { component: "kube-scheduler" },
    status: { state: "Running", leading: true, ...status },
  };
}

/**
 * A view that was listed with these objects.
 * @param {readonly Slim[]} objects
 * @returns {View}
 */
export function viewOf(objects) {
  return applyMessage(emptyView(), { type: "list", revision: 10, objects: [...objects], last: true });
}
