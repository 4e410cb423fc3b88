/** What ifs: asked of the server, tried on a copy, and done for good through the ordinary API as whoever asks. */

/** @import { Change, Fit, WeightsAlone, WhatIfAnswer, WhatIfLast } from "../lib/types.d.ts" */
import { inverseOf, resized } from "../lib/changes.js";
import { kindNamed, splitKey } from "../lib/kinds.js";
import { ApiError, SessionApi, request } from "../net/rest.js";
import { refusalOf } from "./actions.js";

/** Milliseconds that many decisions of a large cluster may take. */
const ASK_TIMEOUT_MS = 60_000;
/** How often a copy is asked again while its owner is not there yet. */
const COPY_TRIES_MAX = 5;

/** @typedef {() => Promise<void>} Undo */

/**
 * What the tab may ask, each answered under its name or with the server's refusal.
 * @param {SessionApi} api
 * @param {() => string} unreachable what to say when no answer came
 */
export function whatIfAsks(api, unreachable) {
  const whatIfs = new WhatIfs(api);
  /**
   * @template {string} Name
   * @template Value
   * @param {Name} name
   * @param {() => Promise<Value>} work
   * @returns {Promise<{[Key in Name]?: Value} & {refusal?: import("./actions.js").Refused}>}
   */
  const answer = async (name, work) => {
    /** @type {Value | undefined} */
    let value;
    const refusal = await refusalOf(async () => {
      value = await work();
    }, unreachable());
    return /** @type {any} */ (refusal ? { refusal } : { [name]: value });
  };
  return {
    eras: () => answer("eras", async () => (await api.scheduler()).eras.map((/** @type {{name: string}} */ era) => era.name)),
    fits: (/** @type {string} */ decision, /** @type {boolean} */ then) => answer("fits", () => whatIfs.fits(decision, then)),
    ask: (/** @type {string} */ decision, /** @type {readonly Change[]} */ changes) =>
      answer("answer", () => whatIfs.ask(decision, changes)),
    last: (/** @type {readonly Change[]} */ changes, /** @type {number} */ last) =>
      answer("last", () => whatIfs.last(changes, last)),
    alone: (/** @type {number} */ last) => answer("alone", () => whatIfs.alone(last)),
    apply: (/** @type {readonly Change[]} */ changes, /** @type {string} */ pod) =>
      answer("undo", () => whatIfs.apply(changes, splitKey(pod))),
    copy: (/** @type {readonly Change[]} */ changes, /** @type {string} */ pod, /** @type {number | null} */ revision) =>
      answer("copy", () => whatIfs.copy(changes, splitKey(pod), revision)),
    undo: (/** @type {Undo} */ undo) => answer("undone", undo),
  };
}

class WhatIfs {
  /** @param {SessionApi} api */
  constructor(api) {
    this.api = api;
  }

  /**
   * @param {string} decision id of a trace
   * @param {boolean} then asked of what the attempt saw, not of the cluster as it stands
   * @returns {Promise<Fit[]>}
   */
  fits(decision, then) {
    return request("GET", `${this.api.session}/decisions/${encodeURIComponent(decision)}/fits${then ? "?input=attempt" : ""}`, undefined, {
      timeoutMs: ASK_TIMEOUT_MS,
    });
  }

  /**
   * @param {string} decision
   * @param {readonly Change[]} changes
   * @returns {Promise<WhatIfAnswer>}
   */
  ask(decision, changes) {
    return request("POST", `${this.api.session}/decisions/${encodeURIComponent(decision)}/whatif`, { changes }, {
      timeoutMs: ASK_TIMEOUT_MS,
    });
  }

  /**
   * The newest decisions of all pods under the same changes.
   * @param {readonly Change[]} changes
   * @param {number} last how many
   * @returns {Promise<WhatIfLast>}
   */
  last(changes, last) {
    return request("POST", `${this.api.session}/whatif`, { changes, last }, { timeoutMs: ASK_TIMEOUT_MS });
  }

  /**
   * How many of the newest decisions each plugin's weight, changed alone, would have moved.
   * @param {number} last how many
   * @returns {Promise<WeightsAlone>}
   */
  alone(last) {
    return request("GET", `${this.api.session}/whatif/weights?last=${last}`, undefined, { timeoutMs: ASK_TIMEOUT_MS });
  }

  /**
   * Make the changes in the session; answers with the way back, null where something is gone for good.
   * @param {readonly Change[]} changes
   * @param {{namespace: string, name: string}} pod the pod in hand
   * @returns {Promise<Undo | null>}
   */
  apply(changes, pod) {
    return applied(this.api, changes, pod);
  }

  /**
   * Fork the session and make the changes there.
   * @param {readonly Change[]} changes
   * @param {{namespace: string, name: string}} pod
   * @param {number | null} revision from which the copy goes on; null: now
   * @returns {Promise<{code: string, url: string}>}
   */
  async copy(changes, pod, revision) {
    const fork = await request("POST", `${this.api.session}/fork`, revision === null ? {} : { revision });
    const copy = new SessionApi(fork.code);
    for (let tries = 1; ; tries += 1) {
      try {
        await applied(copy, changes, pod);
        return { code: fork.code, url: fork.url };
      } catch (problem) {
        // A session that has just been made may have no owner yet.
        if (!(problem instanceof ApiError) || problem.status.code !== 503 || tries >= COPY_TRIES_MAX) throw problem;
      }
    }
  }
}

/**
 * @param {SessionApi} api
 * @param {readonly Change[]} changes
 * @param {{namespace: string, name: string}} pod
 * @returns {Promise<Undo | null>}
 */
async function applied(api, changes, pod) {
  /** @type {(Undo | null)[]} */
  const back = [];
  for (const change of changes) back.push(await one(api, change, pod));
  if (back.some((undo) => undo === null)) return null;
  return async () => {
    for (const undo of back.reverse()) await undo?.();
  };
}

/**
 * @param {SessionApi} api
 * @param {Change} change
 * @param {{namespace: string, name: string}} pod
 * @returns {Promise<Undo | null>}
 */
async function one(api, change, pod) {
  if ("request" in change) {
    const kind = kindNamed("Pod");
    const before = await api.get(kind, pod.namespace, pod.name);
    await api.patch(kind, pod.namespace, pod.name, resized(before, change.request), "resize");
    const { containers } = before.spec ?? {};
    return () => api.patch(kind, pod.namespace, pod.name, { spec: { containers } }, "resize");
  }
  if ("add" in change) {
    const kind = kindNamed(change.add["kind"]);
    const made = await api.createDocument(change.add, pod.namespace);
    return () => api.delete(kind, made.metadata?.namespace ?? "", made.metadata.name);
  }
  if ("remove" in change) {
    const { kind, namespace = "", name } = change.remove;
    await api.delete(kindNamed(kind), namespace, name);
    return null;
  }
  if (!("patch" in change)) return null;
  const { kind: named, namespace = "", name, patch } = change.patch;
  const kind = kindNamed(named);
  const before = await api.get(kind, namespace, name);
  const { status, ...rest } = patch;
  /** @type {[Record<string, any>, string | undefined][]} */
  const parts = [];
  // A list is replaced whole by a merge patch, so it carries the version it was read at: a 409 beats a lost change.
  if (Object.keys(rest).length) parts.push([rest, undefined]);
  if (status) parts.push([{ status }, "status"]);
  let version = before.metadata.resourceVersion;
  for (const [part, subresource] of parts) {
    const done = await api.patch(kind, namespace, name,
      { ...part, metadata: { ...part["metadata"], resourceVersion: version } }, subresource);
    version = done.metadata.resourceVersion;
  }
  return async () => {
    for (const [part, subresource] of parts) await api.patch(kind, namespace, name, inverseOf(part, before), subresource);
  };
}
