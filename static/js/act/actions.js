/** What intents ask of the server: each function sends the requests of one intent and answers with a refusal or null. */

/** @import { Command } from "../lib/commands.js" */
/** @import { Item, Values } from "../lib/items.js" */
/** @import { Schema } from "../lib/openapi.js" */
/** @import { Slim, View } from "../lib/types.d.ts" */
/** @import { SessionApi } from "../net/rest.js" */
import { HIGH_PRIORITY_CLASS, itemOf } from "../lib/items.js";
import { kindNamed, kindOfResource, splitKey } from "../lib/kinds.js";
import { changeTaints } from "../lib/taints.js";
import { numberedName, workloadName } from "../state/names.js";
import { objectAt, objectsOf, zones } from "../state/selectors.js";
import { ApiError } from "../net/rest.js";

/** @typedef {{message: string, causes: {field: string, message: string}[], code: number}} Refused */

/** Names tried for one click: two people who click at once ask for the same one, and the second moves on. */
const NAME_TRIES_MAX = 6;
const HIGH_PRIORITY_VALUE = 1_000_000;

export class Actions {
  /**
   * @param {SessionApi} api
   * @param {() => View} view
   */
  constructor(api, view) {
    this.api = api;
    this.view = view;
    /** @type {Map<string, Promise<Readonly<Record<string, Schema>> | null>>} by group and version */
    this.told = new Map();
    /** Names that were asked for and that the page has not heard of yet, by resource and namespace. @type {Map<string, Set<string>>} */
    this.asked = new Map();
  }

  /** The namespace of what this person creates. */
  get namespace() {
    return this.view().me?.namespace || "default";
  }

  /**
   * A palette item's values as a click would create it: a free name, the emptiest zone.
   * @param {Item} item
   * @param {Values} [wanted]
   * @returns {Values}
   */
  valuesFor(item, wanted = {}) {
    const view = this.view();
    const kind = kindNamed(item.kind);
    const namespace = kind.namespaced ? (wanted["namespace"] || this.namespace) : "";
    const asked = this.askedFor(kind.resource, namespace);
    const name = item.stem
      ? numberedName(view, kind.resource, namespace, item.stem, asked)
      : workloadName(view, kind.resource, namespace, asked);
    /** @type {Values} */
    const values = { ...item.defaults, name };
    if (kind.namespaced) values["namespace"] = namespace;
    if (item.kind === "Node") values["zone"] = emptiestZone(view);
    if (item.id === "pod-claim") values["claim"] = unusedClaim(view, namespace) || (values["claim"] ?? "");
    return { ...values, ...wanted };
  }

  /**
   * Names of this page's own requests whose objects it has not heard of: whoever clicks twice means two.
   * @param {string} resource
   * @param {string} namespace
   */
  askedFor(resource, namespace) {
    const place = `${resource} ${namespace}`;
    const asked = this.asked.get(place) ?? new Set();
    for (const name of asked) if (objectAt(this.view(), resource, namespace ? `${namespace}/${name}` : name)) asked.delete(name);
    this.asked.set(place, asked);
    return asked;
  }

  /**
   * Create a palette item; a generated name that is taken meanwhile is replaced by the next one.
   * @param {Item} item
   * @param {Values} [wanted]
   * @returns {Promise<Slim>}
   */
  async createItem(item, wanted = {}) {
    if (item.id === "pod-high-priority") await this.ensureHighPriorityClass();
    const values = this.valuesFor(item, wanted);
    const kind = kindNamed(item.kind);
    const asked = this.askedFor(kind.resource, values["namespace"] ?? "");
    for (let tries = 1; ; tries += 1) {
      const name = values["name"] ?? "";
      asked.add(name);
      try {
        return await this.api.create(kind, item.build(values), this.namespace);
      } catch (problem) {
        asked.delete(name);
        const taken = problem instanceof ApiError && problem.status.reason === "AlreadyExists";
        if (!taken || wanted["name"] || tries >= NAME_TRIES_MAX) throw problem;
        values["name"] = followingName(name);
      }
    }
  }

  /** The palette's high-priority pod needs its class; whoever may make it does. */
  async ensureHighPriorityClass() {
    const view = this.view();
    if (view.me?.role !== "teacher" || objectAt(view, "priorityclasses.scheduling.k8s.io", HIGH_PRIORITY_CLASS)) return;
    const item = itemOf("priorityclass");
    if (!item) return;
    try {
      const values = { ...item.defaults, name: HIGH_PRIORITY_CLASS, value: String(HIGH_PRIORITY_VALUE) };
      await this.api.create(kindNamed("PriorityClass"), item.build(values), "");
    } catch (problem) {
      if (!(problem instanceof ApiError && problem.status.reason === "AlreadyExists")) throw problem;
    }
  }

  /**
   * @param {string} resource
   * @param {string} key
   */
  async remove(resource, key) {
    const kind = kindOfResource(resource);
    const { namespace, name } = splitKey(key);
    if (kind) await this.api.delete(kind, namespace, name);
  }

  /**
   * @param {string} node
   * @param {ReturnType<typeof import("../lib/items.js").readTaints>} add
   * @param {{key: string, effect: string}[]} remove
   */
  async taint(node, add, remove) {
    const known = objectAt(this.view(), "nodes", node);
    // The list is replaced whole by a merge patch, so it carries the version it was read at: a 409 beats a lost taint.
    const patch = {
      metadata: { resourceVersion: known?.metadata.resourceVersion },
      spec: { taints: changeTaints(known?.spec?.["taints"] ?? [], add, remove) },
    };
    await this.api.patch(kindNamed("Node"), "", node, patch);
  }

  /**
   * @param {string} node
   * @param {Values} values
   */
  async label(node, values) {
    const labels = { [values["key"] ?? ""]: values["value"] ?? "" };
    await this.api.patch(kindNamed("Node"), "", node, { metadata: { labels } });
  }

  /**
   * Write what a typed command says; answers with the text key of what was done.
   * @param {Extract<Command, {verb: "create" | "scale" | "cordon" | "label" | "annotate" | "taint"}>} command
   * @returns {Promise<{key: string, values: Record<string, string | number>}>}
   */
  async run(command) {
    if (command.verb === "create") {
      const item = itemOf(command.item);
      if (!item) throw new Error(`no palette item ${command.item}`);
      const made = await this.createItem(item, command.values);
      return { key: "done_create", values: { kind: item.kind, name: made.metadata.name } };
    }
    const { kind, namespace, name } = command.target;
    switch (command.verb) {
      case "scale":
        await this.api.patch(kind, namespace, name, { spec: { replicas: command.replicas } });
        return { key: "done_scale", values: { name, replicas: command.replicas } };
      case "cordon":
        await this.api.patch(kind, namespace, name, { spec: { unschedulable: command.unschedulable || null } });
        return { key: command.unschedulable ? "done_cordon" : "done_uncordon", values: { name } };
      case "label":
        await this.api.patch(kind, namespace, name, { metadata: { labels: command.entries } });
        return { key: "done_label", values: { name } };
      case "annotate":
        await this.api.patch(kind, namespace, name, { metadata: { annotations: command.entries } });
        return { key: "done_annotate", values: { name } };
      case "taint":
        await this.taint(name, command.add, command.remove);
        return { key: "done_taint", values: { name } };
    }
  }

  /**
   * The whole object, of which the page has a part.
   * @param {string} resource
   * @param {string} key
   * @returns {Promise<Slim>}
   */
  read(resource, key) {
    const { namespace, name } = splitKey(key);
    const { me, revision } = this.view();
    if (me?.past) return this.api.getAt(served(resource), namespace, name, revision);
    return this.api.get(served(resource), namespace, name);
  }

  /**
   * What the server tells of the fields of a group and version, fetched when first asked for; null where it tells nothing.
   * @param {string} apiVersion
   */
  schemas(apiVersion) {
    const known = this.told.get(apiVersion);
    if (known) return known;
    const asked = this.api.openapi(apiVersion).then((told) => told?.components?.schemas ?? null, () => {
      this.told.delete(apiVersion);
      return null;
    });
    this.told.set(apiVersion, asked);
    return asked;
  }

  /**
   * Save an edited object; the refusal carries the field paths.
   * @param {string} resource
   * @param {string} key
   * @param {string} yaml
   */
  saveYaml(resource, key, yaml) {
    const { namespace, name } = splitKey(key);
    return this.api.putYaml(served(resource), namespace, name, yaml);
  }

  /**
   * @param {string} yaml
   * @param {Item} item its kind says where the document goes
   */
  createYaml(yaml, item) {
    const kind = kindNamed(item.kind);
    const namespace = /^ {2}namespace: *["']?([a-z0-9-]+)/m.exec(yaml)?.[1] ?? this.namespace;
    return this.api.createYaml(kind, namespace, yaml, false);
  }
}

/**
 * The kind of a resource as lib/kinds.js has it.
 * @param {string} resource
 */
function served(resource) {
  const kind = kindOfResource(resource);
  if (!kind) throw new ApiError({ kind: "Status", code: 404, reason: "NotFound", message: resource });
  return kind;
}

/**
 * A refusal in the shape that forms show; throws on what is no refusal.
 * @param {() => Promise<unknown>} work
 * @param {string} unreachable what to say when no answer came
 * @returns {Promise<Refused | null>}
 */
export async function refusalOf(work, unreachable) {
  try {
    await work();
    return null;
  } catch (problem) {
    if (!(problem instanceof ApiError)) throw problem;
    const { code } = problem.status;
    return { message: code === 0 ? unreachable : problem.message, causes: problem.causes, code };
  }
}

/**
 * The zone label for one more node: that of the zone with the fewest; "" where nodes have none.
 * @param {View} view
 */
export function emptiestZone(view) {
  const named = zones(view).filter((zone) => zone.name !== "");
  return named.sort((a, b) => a.nodes.length - b.nodes.length)[0]?.name ?? "";
}

/**
 * The first claim of a namespace that no pod uses; "" where there is none.
 * @param {View} view
 * @param {string} namespace
 */
export function unusedClaim(view, namespace) {
  const used = new Set();
  for (const pod of objectsOf(view, "pods").values())
    for (const volume of pod.spec?.["volumes"] ?? [])
      used.add(`${pod.metadata.namespace}/${volume.persistentVolumeClaim?.claimName ?? ""}`);
  const free = [...objectsOf(view, "persistentvolumeclaims")].filter(([key, claim]) =>
    claim.metadata.namespace === namespace && !used.has(key));
  return free.map(([, claim]) => claim.metadata.name).sort()[0] ?? "";
}

/**
 * The next name after one that is taken: n4 → n5, web → web-2, web-2 → web-3.
 * @param {string} name
 */
export function followingName(name) {
  const match = /^(.*?)(\d+)$/.exec(name);
  return match ? `${match[1]}${Number(match[2]) + 1}` : `${name}-2`;
}
