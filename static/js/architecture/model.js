/**
 * Who talks to the API server, and what is said: components of the session, requests that it answered, and who watches what
 * was written. Pure: no DOM, clock or network.
 */

/** @import { ApiRequest, LogRow, ReplicaSlim, Slim } from "../lib/types.d.ts" */
import { faceOf } from "../lib/faces.js";

/**
 * @typedef {object} Part a component of the picture
 * @property {string} id as in the log's actors: `kube-scheduler-0`, `kubelet/n1`, `user:mei`, `session`; and `kube-apiserver`,
 *   `store`, `cloud`, `kube-proxy/n1`, `more` (the nodes that have no place of their own)
 * @property {"server" | "store" | "scheduler" | "manager" | "kubelet" | "proxy" | "person" | "session" | "cloud" | "more"} kind
 * @property {string} name
 * @property {boolean} leads
 * @property {boolean} down
 * @property {readonly string[]} watches resources
 * @property {string} node where it runs; ""
 * @property {number} hue of a person, 0 else
 */

/** What a kubelet and a proxy watch: `controllers/kubelet/lives.py` and `controllers/proxy/network.py`. */
const KUBELET_WATCHES = ["nodes", "pods"];
const PROXY_WATCHES = ["services", "endpointslices.discovery.k8s.io", "nodes"];

/**
 * @typedef {object} Told what the session API said of the components
 * @property {Readonly<Record<string, readonly string[]>>} watches resources, by replica
 * @property {readonly string[]} proxies nodes whose proxy is used
 */

/**
 * @param {object} session
 * @param {readonly ReplicaSlim[]} session.replicas
 * @param {readonly string[]} session.nodes names
 * @param {readonly {slug: string, name: string, color: number, online: boolean}[]} session.people
 * @param {readonly LogRow[]} session.rows
 * @param {Told} told
 * @param {number} nodesMax places for nodes
 * @returns {Part[]}
 */
export function partsOf({ replicas, nodes, people, rows }, told, nodesMax) {
  const plain = { leads: false, down: false, watches: /** @type {readonly string[]} */ ([]), node: "", hue: 0 };
  const acted = new Set(rows.map(({ actor }) => actor));
  const shown = nodes.length > nodesMax ? nodes.slice(0, Math.max(0, nodesMax - 1)) : nodes;
  return [
    { ...plain, id: "kube-apiserver", kind: "server", name: "kube-apiserver" },
    { ...plain, id: "store", kind: "store", name: "etcd" },
    ...replicas.map((one) => /** @type {Part} */ ({
      ...plain, id: one.metadata.name, name: one.metadata.name, leads: Boolean(one.status?.leading), down: one.status?.state === "Crashed",
      kind: one.spec?.component === "kube-scheduler" ? "scheduler" : "manager", watches: told.watches[one.metadata.name] ?? [],
    })),
    ...people.filter(({ slug, online }) => online || acted.has(`user:${slug}`)).map(({ slug, name, color }) => /** @type {Part} */ ({
      ...plain, id: `user:${slug}`, kind: "person", name, hue: faceOf({ color }).hue,
    })),
    ...(acted.has("session") ? [/** @type {Part} */ ({ ...plain, id: "session", kind: "session", name: "Clustersim" })] : []),
    ...shown.flatMap((node) => [
      /** @type {Part} */ ({ ...plain, id: `kubelet/${node}`, kind: "kubelet", name: "kubelet", node, watches: KUBELET_WATCHES }),
      /** @type {Part} */ ({
        ...plain, id: `kube-proxy/${node}`, kind: "proxy", name: "kube-proxy", node,
        down: !told.proxies.includes(node), watches: told.proxies.includes(node) ? PROXY_WATCHES : [],
      }),
    ]),
    ...(shown.length < nodes.length ? [/** @type {Part} */ ({
      ...plain, id: "more", kind: "more", name: String(nodes.length - shown.length), watches: KUBELET_WATCHES,
    })] : []),
    { ...plain, id: "cloud", kind: "cloud", name: "cloud" },
  ];
}

/**
 * The part that an actor of the log is drawn as: a controller is one of its manager's.
 * @param {string} actor
 * @param {readonly Part[]} parts
 * @returns {Part | null}
 */
export function partOf(actor, parts) {
  const id = actor.startsWith("kube-") ? (actor.split("/")[0] ?? "") : actor;
  return parts.find((part) => part.id === id) ?? (actor.startsWith("kubelet/") ? parts.find(({ kind }) => kind === "more") ?? null : null);
}

/**
 * @typedef {object} Exchange something that was said to the API server, and who heard of it
 * @property {string} id
 * @property {number} revision 0 where nothing was stored
 * @property {number} simTimeMs
 * @property {string} actor
 * @property {"create" | "write" | "delete" | "get" | "list" | "watch"} verb
 * @property {string} resource without its group
 * @property {string} name
 * @property {number} count so many alike at once
 * @property {number} code 0 where the log tells of it: it was stored
 * @property {boolean} breath a renewal: nobody asked for anything
 * @property {boolean} aside an Event: told about something else
 * @property {string[]} heard ids of the parts that watch it
 */

/** The simulator's own objects: the components of a real cluster neither write nor watch them. */
const OWN = /\.clustersim\.io$/;
const VERBS = /** @type {const} */ ({ ADDED: "create", MODIFIED: "write", DELETED: "delete" });

/**
 * What a row of the log says was asked of the API server; null for the simulator's own objects.
 * @param {LogRow} row
 * @param {readonly Part[]} parts
 * @returns {Exchange | null}
 */
export function exchangeOf(row, parts) {
  if (OWN.test(row.resource)) return null;
  return {
    id: `rv${row.revision}`, revision: row.revision, simTimeMs: row.simTimeMs, actor: row.actor, verb: VERBS[row.verb],
    resource: shortOf(row.resource), name: row.object.metadata.name, count: 1, code: 0,
    breath: row.resource === "leases.coordination.k8s.io" && row.verb === "MODIFIED",
    aside: shortOf(row.resource) === "events", heard: heardOf(row.resource, row.object, parts),
  };
}

/**
 * A request that was refused: it came as far as the API server.
 * @param {ApiRequest} request
 * @param {string} resource what it was about
 * @param {string} name
 * @returns {Exchange}
 */
export function refusalOf(request, resource, name) {
  return {
    id: request.id, revision: 0, simTimeMs: request.simTime * 1000, actor: `user:${request.user}`, name, count: 1, code: request.code,
    verb: ["create", "post"].includes(request.verb) ? "create" : request.verb === "delete" ? "delete" : "write",
    resource: shortOf(resource), breath: false, aside: false, heard: [],
  };
}

/** A request that reads: the API server answers it, and nobody else hears of it. */
export const READS = /** @type {const} */ (["get", "list", "watch"]);

/**
 * @param {{id: number, user: string, verb: string}} read
 * @param {{resource: string, name: string, atMs: number}} told what it was about, and when the page heard of it
 * @returns {Exchange}
 */
export function readOf({ id, user, verb }, { resource, name, atMs }) {
  return {
    id: `read${id}`, revision: 0, simTimeMs: atMs, actor: `user:${user}`, verb: READS.find((one) => one === verb) ?? "get",
    resource: shortOf(resource), name, count: 1, code: 0, breath: false, aside: false, heard: [],
  };
}

/** @param {Exchange} exchange */
export const isRead = ({ verb }) => READS.some((one) => one === verb);

/** @param {string} resource */
function shortOf(resource) {
  return resource.split(".")[0] ?? "";
}

/**
 * Who hears of a change: replicas that watch the resource; of a pod its node's kubelet, of a Node that node's.
 * @param {string} resource
 * @param {Slim} object
 * @param {readonly Part[]} parts
 */
function heardOf(resource, object, parts) {
  const at = resource === "nodes" ? object.metadata.name : String(object["spec"]?.nodeName ?? "");
  return parts.filter(({ kind, node, watches }) => watches.includes(resource)
    && (kind === "kubelet" ? node === at : kind === "more" ? at !== "" && !parts.some((other) => other.kind === "kubelet" && other.node === at) : true))
    .map(({ id }) => id);
}

/**
 * Exchanges that came at once, alike ones together: ten pods of one controller are one arrow that says ten.
 * @param {readonly Exchange[]} exchanges
 * @returns {Exchange[]}
 */
export function gathered(exchanges) {
  /** @type {Map<string, Exchange>} */
  const found = new Map();
  for (const one of exchanges) {
    const key = [one.actor, one.verb, one.resource, one.code, one.breath].join("|");
    const before = found.get(key);
    if (!before) found.set(key, { ...one });
    else {
      before.count += 1;
      before.heard = [...new Set([...before.heard, ...one.heard])];
      before.revision = Math.max(before.revision, one.revision);
    }
  }
  return [...found.values()];
}

/**
 * What an arrow says: "create pods/web-1", "write pods ×10".
 * @param {Exchange} exchange
 * @param {string} verb in the reader's language
 */
export function saidOf({ resource, name, count }, verb) {
  return count > 1 ? `${verb} ${resource} ×${count}` : [`${verb} ${resource}`, name].filter(Boolean).join("/");
}

/**
 * What runs along arrows: what matters first, and of each actor at most so much.
 * @param {readonly Exchange[]} exchanges
 * @param {number} most of each actor
 * @returns {Exchange[]}
 */
export function inTurn(exchanges, most) {
  /** @type {Map<string, number>} */
  const before = new Map();
  const rank = (/** @type {Exchange} */ { breath, aside }) => (breath ? 2 : aside ? 1 : 0);
  return [...exchanges].sort((a, b) => rank(a) - rank(b)).filter(({ actor }) => {
    const place = before.get(actor) ?? 0;
    before.set(actor, place + 1);
    return place < most;
  });
}

/**
 * Resources that a replica watches, from what it knows (`replicas/<identity>`, `inside.listers`): polled ones are not.
 * @param {{inside: {listers: {resource: string, mode?: string}[]} | null}} answer
 */
export function watchesOf({ inside }) {
  return [...new Set((inside?.listers ?? []).filter(({ mode }) => mode === "watch").map(({ resource }) => resource))];
}
