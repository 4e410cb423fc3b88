/** What Tab completes on the command line: verbs, kinds, names, options. Pure: the names come in from the view. */

/** @import { Kind } from "./kinds.js" */
import { NODE_VERBS, VERBS } from "./commands.js";
import { ITEMS } from "./items.js";
import { kindNamed, KINDS, kindTyped } from "./kinds.js";

/** Kinds that a person works with; those of the simulation itself are left to the panels. */
const TYPED = KINDS.filter(({ apiVersion }) => !apiVersion.startsWith("clustersim.io/"));
/** Verbs that are followed by a kind and a name. */
const OBJECT_VERBS = ["get", "describe", "edit", "delete", "scale", "label", "annotate", "taint"];
/** @type {Readonly<Record<string, readonly string[]>>} */
const OPTIONS = { get: ["-A", "-n", "-o"], scale: ["--replicas="], run: ["--image=", "-n"], apply: ["-f"] };
const CREATED = [...new Set(ITEMS.map(({ kind }) => kind.toLowerCase()))];

/**
 * @typedef {object} Completion
 * @property {string} line the line with as much written as every choice begins with
 * @property {readonly string[]} choices what the last word could be; one: it was that
 */

/**
 * @param {string} line up to the caret
 * @param {(kind: Kind, namespace: string) => readonly string[]} namesOf of the objects of a kind; "" of a kind without namespaces
 * @param {string} namespace where objects are looked for unless the line says otherwise
 * @returns {Completion}
 */
export function complete(line, namesOf, namespace) {
  const words = line.split(/\s+/);
  const last = words.pop() ?? "";
  const before = words.filter(Boolean);
  if (before[0] === "kubectl" || before[0] === "k") before.shift();
  const at = before.indexOf("-n");
  const scope = at >= 0 ? before[at + 1] ?? namespace : namespace;
  const fit = candidates(before, last, namesOf, scope).filter((choice) => choice.startsWith(last)).sort();
  const choices = [...new Set(fit)];
  if (choices.length === 0) return { line, choices };
  const written = commonStart(choices);
  // What is whole is followed by a space, so that the next word can be typed at once.
  const space = choices.length === 1 && !/[=/]$/.test(written) ? " " : "";
  return { line: line.slice(0, line.length - last.length) + written + space, choices };
}

/**
 * @param {readonly string[]} before whole words
 * @param {string} last the word that is being typed
 * @param {(kind: Kind, namespace: string) => readonly string[]} namesOf
 * @param {string} namespace
 * @returns {readonly string[]}
 */
function candidates(before, last, namesOf, namespace) {
  const [verb = "", ...rest] = before;
  if (before.length === 0) return [...VERBS, ...("kubectl".startsWith(last) && last ? ["kubectl"] : [])];
  if (before.at(-1) === "-n") return namesOf(kindNamed("Namespace"), "");
  if (last.startsWith("-")) return verb === "create" ? createOptions(rest[0] ?? "") : [...(OPTIONS[verb] ?? []), "-n"];
  if (verb === "help") return rest.length ? [] : VERBS;
  if (NODE_VERBS.includes(verb)) return rest.length ? [] : namesOf(kindNamed("Node"), "");
  if (verb === "create") return rest.length ? [] : CREATED;
  if (!OBJECT_VERBS.includes(verb)) return [];
  const words = rest.filter((word, index) => !word.startsWith("-") && rest[index - 1] !== "-n");
  if (words.length === 0) return last.includes("/") ? joined(last, namesOf, namespace) : kindsFor(verb, last);
  const kind = words.length === 1 ? kindTyped(words[0] ?? "") : null;
  return kind ? namesOf(kind, kind.namespaced ? namespace : "") : [];
}

/**
 * `pods` where one reads many, `pod` where one means one; short names are known and not offered.
 * @param {string} verb
 * @param {string} last
 */
function kindsFor(verb, last) {
  const kinds = verb === "scale" ? TYPED.filter(({ kind }) => SCALED.has(kind)) : TYPED;
  const singular = kinds.map(({ kind }) => kind.toLowerCase());
  const plural = kinds.map((kind) => kind.plural);
  if (verb !== "get") return singular;
  // A singular that was typed already stays one.
  return singular.includes(last) ? [last] : plural;
}

const SCALED = new Set(["Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"]);

/**
 * @param {string} last `pod/na`
 * @param {(kind: Kind, namespace: string) => readonly string[]} namesOf
 * @param {string} namespace
 */
function joined(last, namesOf, namespace) {
  const typed = last.slice(0, last.indexOf("/"));
  const kind = kindTyped(typed);
  return kind ? namesOf(kind, kind.namespaced ? namespace : "").map((name) => `${typed}/${name}`) : [];
}

/** @param {string} typed */
function createOptions(typed) {
  const kind = kindTyped(typed)?.kind;
  const items = ITEMS.filter((item) => item.kind === kind);
  const sized = items.some(({ id }) => id === `${typed}-small`);
  const fields = new Set(items.flatMap((item) => item.fields.map(({ name }) => name)));
  for (const said of ["name", "namespace"]) fields.delete(said);
  return [...[...fields].map((name) => `--${name}=`), ...(sized ? ["--size="] : []), "-n"];
}

/** @param {readonly string[]} texts at least one */
function commonStart(texts) {
  const [first = "", ...others] = texts;
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}
