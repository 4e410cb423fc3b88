/** The typed command line: kubectl's verbs read into plain values. Pure; what they do is decided by act/command.js. */

/** @import { Kind } from "./kinds.js" */
import { ITEMS, readPairs, readTaints } from "./items.js";
import { kindNamed, kindTyped } from "./kinds.js";

/**
 * @typedef {{kind: Kind, namespace: string, name: string}} Target
 * @typedef {{verb: "create", item: string, values: Record<string, string>}
 *   | {verb: "get" | "describe" | "edit" | "delete", target: Target, output?: string}
 *   | {verb: "list", kind: Kind, namespace: string | null}
 *   | {verb: "help", about: string}
 *   | {verb: "apply" | "undo" | "redo"}
 *   | {verb: "scale", target: Target, replicas: number}
 *   | {verb: "cordon", target: Target, unschedulable: boolean}
 *   | {verb: "label" | "annotate", target: Target, entries: Record<string, string | null>}
 *   | {verb: "taint", target: Target, add: ReturnType<typeof readTaints>, remove: {key: string, effect: string}[]}
 * } Command `namespace` null: all of them
 * @typedef {{error: string, values?: Record<string, string>}} Misread
 */

/** The verbs, each with an example that a learner can change. */
/** @type {Readonly<Record<string, string>>} */
export const EXAMPLES = {
  get: "get pods -A",
  describe: "describe pod web",
  create: "create deployment web --replicas=3",
  run: "run web --image=nginx",
  apply: "apply -f FILE",
  edit: "edit deployment web",
  scale: "scale deployment web --replicas=5",
  delete: "delete pod web",
  label: "label node n1 disk=ssd gpu-",
  annotate: "annotate node n1 clustersim.io/kubelet=off",
  taint: "taint node n1 dedicated=demo:NoSchedule",
  cordon: "cordon n1",
  uncordon: "uncordon n1",
  undo: "undo",
  redo: "redo",
  help: "help scale",
};
export const VERBS = Object.keys(EXAMPLES);
/** Verbs whose first word is a node, whatever stands before its name. */
export const NODE_VERBS = ["cordon", "uncordon"];
/** Options that take no value. */
const FLAGS = new Set(["A", "all-namespaces", "w", "watch", "overwrite", "f"]);

/**
 * @param {string} line
 * @param {string} namespace where namespaced objects are looked for unless `-n` says otherwise
 * @returns {Command | Misread}
 */
export function readCommand(line, namespace) {
  const { words, options } = split(line);
  if (words[0] === "kubectl" || words[0] === "k") words.shift();
  const verb = words.shift() ?? "";
  if (!VERBS.includes(verb)) return { error: "command_verb", values: { verb, verbs: VERBS.join(", ") } };
  const scope = options["n"] ?? options["namespace"] ?? namespace;
  if (verb === "create") return readCreate(words, options, scope);
  if (verb === "run") return create("pod-medium", words[0], { ...options, cpu: options["cpu"] ?? "" }, scope);
  if (verb === "help") return { verb, about: VERBS.includes(words[0] ?? "") ? words[0] ?? "" : "" };
  if (verb === "apply" || verb === "undo" || verb === "redo") return { verb };
  if (verb === "get" && words.length === 1 && !words[0]?.includes("/"))
    return readList(words[0] ?? "", "A" in options || "all-namespaces" in options ? null : scope);
  const target = NODE_VERBS.includes(verb) && !(words[0] ?? "").includes("/")
    ? named(kindNamed("Node"), words.shift(), scope)
    : readTarget(words, scope);
  if ("error" in target) return target;
  return readRest(verb, target, words, options);
}

/**
 * What stands after the object.
 * @param {string} verb
 * @param {Target} target
 * @param {string[]} words
 * @param {Record<string, string>} options
 * @returns {Command | Misread}
 */
function readRest(verb, target, words, options) {
  if (verb === "scale") return readScale(target, options["replicas"] ?? words.shift(), words);
  if (verb === "label" || verb === "annotate")
    return words.length ? { verb, target, entries: readEntries(words) } : { error: `command_${verb === "label" ? "labels" : "annotations"}` };
  if (verb === "taint") return words.length ? readTaint(target, words) : { error: "command_taints" };
  if (words.length) return { error: "command_extra", values: { word: words.join(" ") } };
  if (verb === "get") return { verb, target, ...(options["o"] ? { output: options["o"] } : {}) };
  if (verb === "describe" || verb === "edit" || verb === "delete") return { verb, target };
  return { verb: "cordon", target, unschedulable: verb === "cordon" };
}

/**
 * @param {string} typed
 * @param {string | null} namespace
 * @returns {Command | Misread}
 */
function readList(typed, namespace) {
  const kind = kindTyped(typed);
  return kind ? { verb: "list", kind, namespace: kind.namespaced ? namespace : "" } : { error: "command_kind", values: { kind: typed } };
}

/**
 * Words and `--name=value`, `--name value`, `-n value` options.
 * @param {string} line
 */
function split(line) {
  const tokens = line.trim().match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  /** @type {string[]} */
  const words = [];
  /** @type {Record<string, string>} */
  const options = {};
  for (let at = 0; at < tokens.length; at += 1) {
    const token = (tokens[at] ?? "").replace(/^(["'])(.*)\1$/, "$2");
    const option = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/.exec(token);
    if (!option) words.push(token);
    else if (option[2] !== undefined) options[option[1] ?? ""] = option[2];
    else if (FLAGS.has(option[1] ?? "")) options[option[1] ?? ""] = "";
    else {
      at += 1;
      options[option[1] ?? ""] = tokens[at] ?? "";
    }
  }
  return { words, options };
}

/**
 * @param {Kind} kind
 * @param {string | undefined} name
 * @param {string} namespace
 * @returns {Target | Misread}
 */
function named(kind, name, namespace) {
  if (!name) return { error: "command_name", values: { kind: kind.kind } };
  return { kind, name, namespace: kind.namespaced ? namespace : "" };
}

/**
 * `deployment web` or `deployment/web`, taken off the front of words.
 * @param {string[]} words
 * @param {string} namespace
 * @returns {Target | Misread}
 */
function readTarget(words, namespace) {
  const first = words.shift() ?? "";
  const slash = first.indexOf("/");
  const typed = slash < 0 ? first : first.slice(0, slash);
  const kind = kindTyped(typed);
  if (!kind) return typed ? { error: "command_kind", values: { kind: typed } } : { error: "command_target" };
  return named(kind, slash < 0 ? words.shift() : first.slice(slash + 1), namespace);
}

/**
 * @param {string[]} words
 * @param {Record<string, string>} options
 * @param {string} namespace
 * @returns {Command | Misread}
 */
function readCreate(words, options, namespace) {
  const typed = words.shift() ?? "";
  const kind = kindTyped(typed);
  const size = options["size"];
  const wanted = size ? ITEMS.find((item) => item.id === `${typed}-${size}`) : undefined;
  const item = wanted
    ?? ITEMS.find((candidate) => candidate.kind === kind?.kind && !/-(small|gpu|large)$/.test(candidate.id));
  if (!item) return { error: "command_create", values: { kind: typed } };
  return create(item.id, words[0], options, namespace);
}

/**
 * @param {string} item
 * @param {string | undefined} name
 * @param {Record<string, string>} options
 * @param {string} namespace
 * @returns {Command}
 */
function create(item, name, options, namespace) {
  const { n: _n, namespace: _namespace, size: _size, ...values } = options;
  const fields = new Set(ITEMS.find((candidate) => candidate.id === item)?.fields.map((field) => field.name));
  const known = Object.entries(values).filter(([key]) => fields.has(key));
  /** @type {Record<string, string>} */
  const wanted = Object.fromEntries(known);
  if (name) wanted["name"] = name;
  if (fields.has("namespace")) wanted["namespace"] = namespace;
  return { verb: "create", item, values: wanted };
}

/**
 * @param {Target} target
 * @param {string | undefined} count
 * @param {string[]} rest
 * @returns {Command | Misread}
 */
function readScale(target, count, rest) {
  if (!count || !/^\d+$/.test(count)) return { error: "command_replicas" };
  if (rest.length) return { error: "command_extra", values: { word: rest.join(" ") } };
  return { verb: "scale", target, replicas: Number(count) };
}

/** @param {string[]} words `key=value` sets, `key-` removes */
function readEntries(words) {
  /** @type {Record<string, string | null>} */
  const entries = {};
  for (const word of words)
    if (word.endsWith("-")) entries[word.slice(0, -1)] = null;
    else Object.assign(entries, readPairs(word));
  return entries;
}

/**
 * @param {Target} target
 * @param {string[]} words
 * @returns {Command}
 */
function readTaint(target, words) {
  const add = readTaints(words.filter((word) => !word.endsWith("-")).join(","));
  const remove = words.filter((word) => word.endsWith("-")).map((word) => {
    const [pair = "", effect = ""] = word.slice(0, -1).split(":");
    return { key: pair.split("=")[0] ?? "", effect };
  });
  return { verb: "taint", target, add, remove };
}
