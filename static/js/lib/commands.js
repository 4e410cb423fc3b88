/**
 * The typed command line: kubectl's verbs read into plain values. Pure; what they do is decided by main.js.
 * Forms: create, run, get, delete, scale, taint, cordon, uncordon, label.
 */

/** @import { Kind } from "./kinds.js" */
import { ITEMS, readPairs, readTaints } from "./items.js";
import { kindNamed, kindTyped } from "./kinds.js";

/**
 * @typedef {{kind: Kind, namespace: string, name: string}} Target
 * @typedef {{verb: "create", item: string, values: Record<string, string>}
 *   | {verb: "get" | "delete", target: Target}
 *   | {verb: "scale", target: Target, replicas: number}
 *   | {verb: "cordon", target: Target, unschedulable: boolean}
 *   | {verb: "label", target: Target, labels: Record<string, string | null>}
 *   | {verb: "taint", target: Target, add: ReturnType<typeof readTaints>, remove: {key: string, effect: string}[]}
 * } Command
 * @typedef {{error: string, values?: Record<string, string>}} Misread
 */

export const VERBS = ["create", "run", "get", "delete", "scale", "taint", "label", "cordon", "uncordon"];

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
  const isNodeVerb = verb === "cordon" || verb === "uncordon";
  const target = isNodeVerb && !(words[0] ?? "").includes("/")
    ? named(kindNamed("Node"), words.shift(), scope)
    : readTarget(words, scope);
  if ("error" in target) return target;
  switch (verb) {
    case "get":
    case "delete":
      return { verb, target };
    case "scale":
      return readScale(target, options["replicas"] ?? words[0]);
    case "label":
      return words.length ? { verb, target, labels: readLabels(words) } : { error: "command_labels" };
    case "taint":
      return words.length ? readTaint(target, words) : { error: "command_taints" };
    default:
      return { verb: "cordon", target, unschedulable: verb === "cordon" };
  }
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
  if (!kind) return { error: "command_kind", values: { kind: typed } };
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
 * @returns {Command | Misread}
 */
function readScale(target, count) {
  if (!count || !/^\d+$/.test(count)) return { error: "command_replicas" };
  return { verb: "scale", target, replicas: Number(count) };
}

/** @param {string[]} words `key=value` sets, `key-` removes */
function readLabels(words) {
  /** @type {Record<string, string | null>} */
  const labels = {};
  for (const word of words)
    if (word.endsWith("-")) labels[word.slice(0, -1)] = null;
    else Object.assign(labels, readPairs(word));
  return labels;
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
