/** Pieces of a component's panel. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Answer, Lister, Step } from "./component.js" */
import { element } from "../dom/dom.js";
import { clockTime, counted, number, text } from "../lib/text.js";
import { table } from "../control/parts.js";

/** @type {Record<string, string>} */
const STEPS = {
  flags: "arch.step.flags", configuration: "arch.step.configuration", plugins: "arch.step.plugins", serve: "arch.step.serve",
  caches: "arch.step.caches", lead: "arch.step.lead",
};

/** What a step came to and what is done at the moment, by its key. @type {Readonly<Record<string, string>>} */
const SAID = {
  flagsDefault: "arch.said.flagsDefault", flagsSet: "arch.said.flagsSet", log: "arch.said.log",
  stages: "arch.said.stages", profiles: "arch.said.profiles", periods: "arch.said.periods", ways: "arch.said.ways",
  runtime: "arch.said.runtime", profilePlugins: "arch.said.profilePlugins", controllers: "arch.said.controllers",
  https: "arch.said.https", httpsOfNodes: "arch.said.httpsOfNodes", httpsPaths: "arch.said.httpsPaths",
  watchCache: "arch.said.watchCache", ownPods: "arch.said.ownPods", caches: "arch.said.caches",
  noCaches: "arch.said.noCaches", allActive: "arch.said.allActive", oneEach: "arch.said.oneEach",
  atOnce: "arch.said.atOnce", follows: "arch.said.follows", leads: "arch.said.leads",
  workers: "arch.said.workers", cycleWaits: "arch.said.cycleWaits", cycleHolds: "arch.said.cycleHolds", bindings: "arch.said.bindings",
};

/** What a replica's own server answers. */
const ENDPOINTS = [
  "healthz?verbose", "livez?verbose", "readyz?verbose", "configz", "metrics", "debug/pprof/goroutine", "debug/pprof/heap",
  "debug/pprof/profile",
];

/**
 * @param {readonly Lister[]} listers
 * @param {Lang} lang
 */
export function listersTable(listers, lang) {
  const sorted = [...listers].sort((a, b) => Number(Boolean(b.name)) - Number(Boolean(a.name)) || b.rows - a.rows);
  const filled = (/** @type {Lister} */ { mode, watchEvents }) => (mode === undefined ? text(lang, "arch.own")
    : mode === "watch" ? text(lang, "arch.watch", { n: number(lang, watchEvents ?? 0) }) : text(lang, "arch.poll"));
  return table([
    text(lang, "arch.lister"), text(lang, "control.objects"), text(lang, "control.revision"), text(lang, "control.lag"), text(lang, "arch.mode"),
  ], sorted.map((one) => [
    one.name ? element("span", {}, element("b", {}, one.name), ` ${one.resource}`) : one.resource, number(lang, one.rows),
    one.revision === undefined ? "–" : String(one.revision),
    one.lag === undefined ? "–" : one.lag === null ? "?" : number(lang, one.lag), filled(one),
  ]));
}

/**
 * @param {readonly Step[]} steps
 * @param {number} epochMs
 * @param {Lang} lang
 */
export function startList(steps, epochMs, lang) {
  return element("ol", { class: "arch-start" }, steps.map(({ step, atMs, text: said, key, values }) => element("li", { class: atMs === null ? "not-yet" : "" },
    element("time", {}, atMs === null ? text(lang, "arch.notYet") : clockTime(epochMs + atMs)),
    element("b", {}, text(lang, STEPS[step] ?? step)), saidOf(key, values, said, lang))));
}

/**
 * What a step came to, in the page's language where it has the words.
 * @param {string} key
 * @param {Step["values"]} values
 * @param {string} said in English
 * @param {Lang} lang
 */
export function saidOf(key, values, said, lang) {
  const known = SAID[key];
  return known ? element("span", {}, counted(lang, known, values)) : element("span", { lang: "en" }, said);
}

/** @param {Readonly<Record<string, string>>} flags */
export function flagList(flags) {
  return element("dl", { class: "arch-flags" }, Object.entries(flags).flatMap(([flag, value]) => [
    element("dt", {}, element("code", {}, `--${flag}`)), element("dd", {}, element("code", {}, value === "" ? '""' : value)),
  ]));
}

/**
 * @param {NonNullable<Answer["rules"]>} rules
 * @param {Lang} lang
 */
export function rulesTable(rules, lang) {
  if (rules.length === 0) return element("p", { class: "hint" }, text(lang, "arch.noRules"));
  return table(["Service", text(lang, "arch.address"), "Endpoints"], rules.map((rule) => [rule.service, rule.address, rule.cluster.join(", ")]));
}

/**
 * @param {NonNullable<Answer["server"]>} server
 * @param {{path: string, said: string}} served
 * @param {Lang} lang
 * @param {(path: string) => void} serve
 */
export function endpoints(server, served, lang, serve) {
  return element("div", {},
    element("p", {}, text(lang, "arch.serverNow", { port: String(server.now["securePort"]) }), " ",
      text(lang, "arch.serverThen", { port: String(server.then["Port"]) })),
    element("div", { class: "arch-ends" }, ENDPOINTS.map((path) => element("button", {
      class: "button", type: "button", "aria-pressed": String(served.path === path), "data-testid": `endpoint-${path.split("?")[0]}`,
      onclick: () => serve(path),
    }, `/${path.split("?")[0]}`))),
    served.path ? element("pre", {
      class: "ct-json", tabindex: "0", "aria-label": `/${served.path}`, "data-testid": "endpoint-answer", lang: "en",
    }, served.said) : null);
}
