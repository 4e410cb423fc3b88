/** Requests to the session API and the Kubernetes API. Every refusal is thrown as ApiError with its Status, in the page's language. */

/** @import { ApiStatus, Slim } from "../lib/types.d.ts" */
import { kindNamed } from "../lib/kinds.js";
import { inWords } from "./refused.js";

/** Milliseconds after which a request counts as lost; the owner answers commands within 5 s. */
export const REQUEST_TIMEOUT_MS = 15_000;

/** A refusal by the server, or the lack of any answer (code 0). */
export class ApiError extends Error {
  /** @param {ApiStatus} status */
  constructor(status) {
    super(status.message);
    this.name = "ApiError";
    this.status = status;
  }

  /** @returns {{field: string, message: string}[]} */
  get causes() {
    return (this.status.details?.causes ?? []).map((cause) => ({
      field: cause.field ?? "",
      message: cause.message ?? this.status.message,
    }));
  }
}

/**
 * One request with JSON (or given text) in the body; answers with the decoded body, or null when there is none.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body] an object is sent as JSON, a string or a form as it is
 * @param {{type?: string, accept?: string, timeoutMs?: number, headers?: Record<string, string>}} [options]
 * @returns {Promise<any>}
 */
export async function request(method, path, body, options = {}) {
  /** @type {Record<string, string>} */
  const headers = { Accept: options.accept ?? "application/json", ...options.headers };
  // A form names its own boundary, so the browser writes that header.
  const ready = typeof body === "string" || body instanceof FormData;
  if (body !== undefined && !(body instanceof FormData)) headers["Content-Type"] = options.type ?? "application/json";
  let response;
  let text;
  try {
    response = await fetch(path, {
      method,
      headers,
      credentials: "same-origin",
      body: body === undefined ? null : ready ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(options.timeoutMs ?? REQUEST_TIMEOUT_MS),
    });
    text = await response.text();
  } catch (problem) {
    const message = problem instanceof Error ? problem.message : String(problem);
    throw new ApiError({ kind: "Status", code: 0, reason: "Unreachable", message });
  }
  const decoded = decode(text, response.headers.get("Content-Type") ?? "");
  if (response.ok) return decoded;
  if (decoded?.kind === "Status") throw new ApiError(await inWords(decoded));
  throw new ApiError({
    kind: "Status",
    code: response.status,
    reason: response.statusText || "Error",
    message: `${method} ${path}: ${response.status}`,
  });
}

/**
 * @param {string} text
 * @param {string} type
 * @returns {any}
 */
function decode(text, type) {
  if (!text) return null;
  if (!type.includes("json")) return text;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * A write of this person, before it is sent.
 * @typedef {{did: "created" | "deleted" | "changed", kind: import("../lib/kinds.js").Kind, namespace: string, name: string,
 *   subresource?: string} | {did: "imported"}} Write
 */

/** What main.js and the forms may ask of one session. */
export class SessionApi {
  /** @param {string} code */
  constructor(code) {
    this.code = code;
    /** Every write to the cluster passes through here: act/undo.js remembers it. */
    /** @type {(write: Write, send: () => Promise<any>) => Promise<any>} */
    this.around = (_write, send) => send();
    this.session = `/api/sessions/${encodeURIComponent(code)}`;
    this.cluster = `/clusters/${encodeURIComponent(code)}`;
  }

  /**
   * Exchange the secret of the address for the cookie.
   * @param {string} secret
   */
  enter(secret) {
    return request("POST", `${this.session}/enter`, { secret });
  }

  /** What the session is and who is asking. */
  read() {
    return request("GET", this.session);
  }

  /**
   * Open or close the session for newcomers.
   * @param {boolean} open
   * @returns {Promise<{open: boolean}>}
   */
  setDoor(open) {
    return request("PUT", `${this.session}/door`, { open });
  }

  /** @returns {Promise<{open: boolean}>} whether newcomers may join */
  door() {
    return request("GET", `${this.session}/door`);
  }

  /**
   * What a panel looks at: requests, store, controllers, components, replicas.
   * @param {string} path below the session's
   * @returns {Promise<any>}
   */
  look(path) {
    return request("GET", `${this.session}/${path}`);
  }

  /** @param {string} name */
  join(name) {
    return request("POST", `${this.session}/join`, { name });
  }

  /** @param {{paused?: boolean, rate?: number, pace?: number}} change */
  clock(change) {
    return request("PATCH", `${this.session}/clock`, change);
  }

  /**
   * @param {string} by
   * @param {number} [count]
   */
  step(by, count = 1) {
    return request("POST", `${this.session}/clock/step`, { by, count });
  }

  /** @param {string} pod namespace/name */
  decisions(pod) {
    return request("GET", `${this.session}/decisions?pod=${encodeURIComponent(pod)}`);
  }

  /** @param {string} uid of a pod that may be gone */
  decisionsOf(uid) {
    return request("GET", `${this.session}/decisions?uid=${encodeURIComponent(uid)}&limit=100`);
  }

  /**
   * An object as it was.
   * @param {import("../lib/kinds.js").Kind} kind
   * @param {string} namespace
   * @param {string} name
   * @param {number} revision
   * @returns {Promise<Slim>}
   */
  getAt(kind, namespace, name, revision) {
    return request("GET", `${this.session}/at/${revision}${this.path(kind, namespace, name).slice(this.cluster.length)}`);
  }

  /**
   * What the cluster of one revision has other than that of another.
   * @param {number} there
   * @param {number} here
   * @returns {Promise<import("../lib/types.d.ts").Changes>}
   */
  changes(there, here) {
    return request("GET", `${this.session}/changes/${there}/${here}`);
  }

  /**
   * @param {{from?: number, to?: number, limit: number, lane?: string, language?: string}} query without revisions: all that is kept
   * @returns {Promise<import("../lib/types.d.ts").Mark[]>}
   */
  timeline({ from, to, limit, lane = "", language = "en" }) {
    const within = from === undefined || to === undefined ? "" : `from=${from}&to=${to}&`;
    return request("GET", `${this.session}/timeline?${within}limit=${limit}&language=${language}${lane && `&lane=${lane}`}`);
  }

  /** @returns {Promise<import("../lib/types.d.ts").Watch[]>} */
  watches() {
    return request("GET", `${this.session}/watches`);
  }

  /**
   * @param {number} slots
   * @param {{from: number, to: number}} [range]
   * @returns {Promise<{from: number, to: number, compacted: number, fromTime: number, toTime: number, lanes: Record<string, number[]>}>}
   */
  timelineCounts(slots, range) {
    const within = range ? `&from=${range.from}&to=${range.to}` : "";
    return request("GET", `${this.session}/timeline/counts?slots=${slots}${within}`);
  }

  /**
   * @param {string} name
   * @param {number} revision
   */
  bookmark(name, revision) {
    return request("POST", `${this.session}/bookmarks`, { name, revision });
  }

  /** @param {boolean} on whether people are told at what others look */
  switchLooks(on) {
    return request("PUT", `${this.session}/looks`, { on });
  }

  /** @param {{resource: string, namespace?: string, name: string}} object that everybody is offered to look at */
  point(object) {
    return request("POST", `${this.session}/point`, object);
  }

  /** @param {string} name */
  unbookmark(name) {
    return request("DELETE", `${this.session}/bookmarks`, { name });
  }

  /**
   * @param {number} revision
   * @returns {Promise<{url: string}>} the opener's way into a session that goes on from there
   */
  fork(revision) {
    return request("POST", `${this.session}/fork`, { revision });
  }

  /**
   * @param {string} pod namespace/name
   * @param {number} revision 0: the newest
   */
  model(pod, revision) {
    const moment = revision ? `&revision=${revision}` : "";
    return request("GET", `${this.session}/model?pod=${encodeURIComponent(pod)}${moment}`);
  }

  /** @param {string} id of a trace */
  decision(id) {
    return request("GET", `${this.session}/decisions/${encodeURIComponent(id)}`);
  }

  /**
   * Every filter asked about the nodes of a decision.
   * @param {string} id of a trace
   */
  refusals(id) {
    return request("GET", `${this.session}/decisions/${encodeURIComponent(id)}/refusals`);
  }

  /**
   * @param {string} identity
   * @param {{kind: string, seconds?: number, rate?: number}} body
   */
  fault(identity, body) {
    return request("POST", `${this.session}/replicas/${encodeURIComponent(identity)}/fault`, body);
  }

  /** What the session's scheduler runs. */
  scheduler() {
    return request("GET", `${this.session}/scheduler`);
  }

  /** @param {string} yaml the new era and configuration */
  setScheduler(yaml) {
    return request("PUT", `${this.session}/scheduler`, yaml, { type: "application/yaml" });
  }

  /** @param {object} body expression, kind, pod */
  tryExpression(body) {
    return request("POST", `${this.session}/expressions`, body);
  }

  /**
   * A word on a pod that Permit holds.
   * @param {string} uid
   * @param {string} plugin
   * @param {"allow" | "reject"} verdict
   */
  judge(uid, plugin, verdict) {
    return request("POST", `${this.session}/waiting/${encodeURIComponent(uid)}`, { plugin, verdict });
  }

  /**
   * Apply a file of many objects; the answer has a result for each.
   * @param {string} text YAML or JSON
   * @param {string} type
   */
  importText(text, type) {
    return this.around({ did: "imported" },
      () => request("POST", `${this.session}/import`, text, { type, timeoutMs: 120_000 }));
  }

  /**
   * @param {import("../lib/kinds.js").Kind} kind
   * @param {string} namespace used when the kind is namespaced
   * @param {string} [name]
   * @param {string} [subresource]
   */
  path(kind, namespace, name, subresource) {
    const group = kind.apiVersion.includes("/") ? `/apis/${kind.apiVersion}` : `/api/${kind.apiVersion}`;
    const scope = kind.namespaced ? `/namespaces/${encodeURIComponent(namespace)}` : "";
    const tail = [kind.plural, name, subresource].filter(Boolean).map((part) => encodeURIComponent(String(part)));
    return `${this.cluster}${group}${scope}/${tail.join("/")}`;
  }

  /**
   * @param {import("../lib/kinds.js").Kind} kind
   * @param {Record<string, any>} document
   * @param {string} namespace where to put a document that names none
   */
  create(kind, document, namespace) {
    return this.around({ did: "created", kind, namespace, name: "" },
      () => request("POST", this.path(kind, document["metadata"]?.namespace ?? namespace), document));
  }

  /**
   * Create a document of a kind that lib/kinds.js names.
   * @param {Record<string, any>} document
   * @param {string} namespace where to put a document that names none
   */
  createDocument(document, namespace) {
    return this.create(kindNamed(document["kind"]), document, namespace);
  }

  /**
   * @param {import("../lib/kinds.js").Kind} kind
   * @param {string} namespace
   * @param {string} name
   * @returns {Promise<Slim>}
   */
  get(kind, namespace, name) {
    return request("GET", this.path(kind, namespace, name));
  }

  /**
   * The OpenAPI v3 document of a group and version.
   * @param {string} apiVersion
   */
  openapi(apiVersion) {
    return request("GET", `${this.cluster}/openapi/v3/${apiVersion.includes("/") ? "apis" : "api"}/${apiVersion}`);
  }

  /**
   * The objects of a kind as kubectl's table.
   * @param {import("../lib/kinds.js").Kind} kind
   * @param {string | null} namespace null: all of them
   */
  table(kind, namespace) {
    const path = this.path(namespace === null ? { ...kind, namespaced: false } : kind, namespace ?? "");
    return request("GET", path, undefined, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
  }

  /**
   * @param {import("../lib/kinds.js").Kind} kind
   * @param {string} namespace
   * @param {string} name
   * @param {string} yaml
   */
  putYaml(kind, namespace, name, yaml) {
    return this.around({ did: "changed", kind, namespace, name },
      () => request("PUT", `${this.path(kind, namespace, name)}?fieldValidation=Strict`, yaml, { type: "application/yaml" }));
  }

  /**
   * @param {import("../lib/kinds.js").Kind} kind
   * @param {string} namespace
   * @param {string} yaml
   * @param {boolean} dryRun
   */
  createYaml(kind, namespace, yaml, dryRun) {
    const query = `?fieldValidation=Strict${dryRun ? "&dryRun=All" : ""}`;
    const send = () => request("POST", this.path(kind, namespace) + query, yaml, { type: "application/yaml" });
    return dryRun ? send() : this.around({ did: "created", kind, namespace, name: "" }, send);
  }

  /**
   * A merge patch of one object or of its subresource.
   * @param {import("../lib/kinds.js").Kind} kind
   * @param {string} namespace
   * @param {string} name
   * @param {Record<string, any>} patch
   * @param {string} [subresource]
   */
  patch(kind, namespace, name, patch, subresource) {
    return this.around({ did: "changed", kind, namespace, name, ...(subresource ? { subresource } : {}) },
      () => request("PATCH", this.path(kind, namespace, name, subresource), patch, { type: "application/merge-patch+json" }));
  }

  /**
   * @param {import("../lib/kinds.js").Kind} kind
   * @param {string} namespace
   * @param {string} name
   * @param {string} [uid] only the object that has it
   */
  delete(kind, namespace, name, uid) {
    const options = { propagationPolicy: "Background", ...(uid ? { preconditions: { uid } } : {}) };
    return this.around({ did: "deleted", kind, namespace, name },
      () => request("DELETE", this.path(kind, namespace, name), options));
  }
}
