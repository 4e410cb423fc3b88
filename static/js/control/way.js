/** One request to the API server, step by step: what each step said and changed, and what became of the object. */

/** @import { ApiRequest, Dispatch, Lang, LogRow, RequestStep, View } from "../lib/types.d.ts" */
/** @import { Stage } from "./requests-model.js" */
import { element, icon } from "../dom/dom.js";
import { clockTime, number, text } from "../lib/text.js";
import { AFTER_MAX, conflictOf, afterwards, changesOf, durationOf, markedPiece, objectOf, quotaOf, saidBy, toneOf, wayOf } from "./requests-model.js";
import { conflictCard } from "./conflict.js";
import { actorChip, objectLink } from "./parts.js";

/** @type {Record<Stage["name"], string>} */
const NAMES = {
  authentication: "control.authentication", authorization: "control.authorization", decode: "control.decode",
  mutating: "control.mutating", registry: "control.registry", validating: "control.validating", quota: "control.quota",
  store: "control.store",
};
/** As they stand in the rail. @type {Record<Stage["name"], string>} */
const SHORT = {
  authentication: "control.short.authentication", authorization: "control.short.authorization", decode: "control.short.decode",
  mutating: "control.short.mutating", registry: "control.short.registry", validating: "control.short.validating",
  quota: "control.short.quota", store: "control.short.store",
};
/** @type {Record<Stage["name"], string>} */
const ABOUT = {
  authentication: "control.about.authentication", authorization: "control.about.authorization", decode: "control.about.decode",
  mutating: "control.about.mutating", registry: "control.about.registry", validating: "control.about.validating",
  quota: "control.about.quota", store: "control.about.store",
};
/** @type {Record<Stage["state"], string>} */
const STATES = {
  ok: "control.state.ok", changed: "control.state.changed", refused: "control.state.refused", skipped: "control.state.skipped",
  unreached: "control.state.unreached",
};
const MARKS = { ok: "check", changed: "check", refused: "close", skipped: "more", unreached: "ban" };

/**
 * @param {ApiRequest} request
 * @param {readonly ApiRequest[]} requests newest first
 * @param {View} view
 * @param {Lang} lang
 * @param {Dispatch} dispatch
 */
export function wayPanel(request, requests, view, lang, dispatch) {
  const way = wayOf(request);
  const lost = conflictOf(request, requests, view.rows);
  const quota = quotaOf(request.message);
  return [
    head(request, view, lang, dispatch), rail(way, lang),
    element("ol", { class: "ct-steps" }, way.filter(({ state }) => state !== "skipped" && state !== "unreached")
      .map((stage) => stepRow(stage, request, lang))),
    refusal(request, way, view, lang, quota),
    lost ? conflictCard(lost, view, lang) : null,
    afterCard(request, view, lang),
  ];
}

/**
 * @param {ApiRequest} request
 * @param {View} view
 * @param {Lang} lang
 * @param {Dispatch} dispatch
 */
function head(request, view, lang, dispatch) {
  const { resource, key, name } = objectOf(request);
  return element("header", { class: "ct-head" },
    element("h3", {}, objectLink(name, resource, key, view, dispatch)),
    element("code", {}, `${request.verb} ${request.path}`),
    element("span", { class: "ct-push" }), actorChip(`user:${request.user}`, view, lang),
    element("time", {}, clockTime(view.epochMs + request.simTime * 1000, true)), codeChip(request.code));
}

/** @param {number} code */
export function codeChip(code) {
  return element("span", { class: `chip ${toneOf(code)}` }, icon(code < 400 ? "check" : "close", 12), `${code} ${REASONS[code] ?? ""}`.trim());
}

/** HTTP's own words: they are the same in every language. @type {Record<number, string>} */
const REASONS = {
  200: "OK", 201: "Created", 202: "Accepted", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
  405: "Method Not Allowed", 409: "Conflict", 410: "Gone", 413: "Too Large", 415: "Unsupported Media Type",
  422: "Unprocessable", 429: "Too Many Requests", 500: "Internal Error", 503: "Unavailable",
};

/**
 * @param {readonly Stage[]} way
 * @param {Lang} lang
 */
function rail(way, lang) {
  return element("ol", { class: "ct-rail", "aria-label": text(lang, "control.rail"), "data-testid": "request-rail" },
    way.map(({ name, state, ms }) => element("li", { class: `ct-stage is-${state}`, "data-stage": name, "data-state": state },
      element("b", {}, text(lang, SHORT[name])),
      element("small", {}, state === "ok" || state === "changed" ? text(lang, "control.ms", { ms: number(lang, ms, 2) }) : text(lang, STATES[state])))));
}

/**
 * @param {Stage} stage
 * @param {ApiRequest} request
 * @param {Lang} lang
 */
function stepRow({ name, state, steps }, request, lang) {
  // A step that says something stands for those of its stage that only let it pass.
  const telling = steps.some((step) => step.message) ? steps.filter((step) => step.message || step.plugin) : steps;
  return element("li", { class: `ct-step is-${state}` },
    element("span", { class: "ct-mark" }, icon(MARKS[state], 12)),
    element("div", { class: "ct-what" }, element("b", {}, text(lang, NAMES[name])), element("small", {}, text(lang, ABOUT[name]))),
    element("div", { class: "ct-said" }, ...telling.map((step) => saidRow(step, telling.length, lang)),
      name === "store" && state !== "refused" ? stored(request, lang) : null));
}

/**
 * @param {RequestStep} step
 * @param {number} count steps of this stage
 * @param {Lang} lang
 */
function saidRow(step, count, lang) {
  const changes = changesOf(step);
  const known = step.step === "authentication" || step.step === "authorization" ? saidBy(step) : [];
  const word = step.result === "refused" ? text(lang, "control.state.refused") : text(lang, "control.unchanged");
  return element("div", { class: `ct-plugin is-${step.result}` },
    step.plugin && (count > 1 || step.plugin !== "decode") ? element("span", { class: "ct-name" }, step.plugin) : null,
    changes.length > 0 ? element("span", { class: "ct-changes" }, changes.map((one) => element("code", {}, markedPiece(one))))
      : known.length > 0 ? element("span", { class: "ct-changes" }, known.map((one) => element("code", {}, one)))
      : element("span", { class: "ct-word" }, step.step === "mutating" || step.result === "refused" ? word : text(lang, "control.passed")),
    // The rail has told the whole stage's time.
    count > 1 ? element("span", { class: "ct-ms" }, text(lang, "control.ms", { ms: number(lang, step.ms, 2) })) : null);
}

/**
 * @param {ApiRequest} request
 * @param {Lang} lang
 */
function stored(request, lang) {
  return element("div", { class: "ct-stored" },
    element("code", {}, request.key),
    element("span", { class: "chip" }, request.rvBefore ? text(lang, "control.rvBefore", { rv: request.rvBefore }) : text(lang, "control.rvNone")),
    "→",
    element("span", { class: "chip accent" }, request.rvAfter ? text(lang, "control.rvAfter", { rv: request.rvAfter }) : text(lang, "control.rvGone")),
    element("span", {}, text(lang, "control.answered", { ms: number(lang, durationOf(request), 1) })));
}

/**
 * @param {ApiRequest} request
 * @param {readonly Stage[]} way
 * @param {View} view
 * @param {Lang} lang
 * @param {ReturnType<typeof quotaOf>} quota
 */
function refusal(request, way, view, lang, quota) {
  if (request.code < 400) return null;
  const at = way.find(({ state }) => state === "refused");
  return element("section", { class: "ct-card is-bad", "data-testid": "request-refusal" },
    element("h4", {}, at ? text(lang, "control.refusedAt", { stage: text(lang, NAMES[at.name]) }) : text(lang, "control.refused")),
    ...(quota?.rows ?? []).map((row) => quotaBar(row, quota?.quota ?? "", lang)),
    element("q", { class: "ct-quote", lang: "en" }, request.message),
    element("p", {}, text(lang, "control.nothingWritten")));
}

/**
 * @param {NonNullable<ReturnType<typeof quotaOf>>["rows"][number]} row
 * @param {string} quota
 * @param {Lang} lang
 */
function quotaBar(row, quota, lang) {
  const used = element("i", { class: "used" });
  const asked = element("i", { class: "asked" });
  const limit = element("i", { class: "limit" });
  used.style.width = `${100 * row.usedShare}%`;
  asked.style.width = `${100 * (1 - row.usedShare)}%`;
  limit.style.left = `${100 * row.limitShare}%`;
  return element("div", { class: "ct-quota" },
    element("p", {}, element("b", {}, quota), ` ${row.resource}`,
      element("span", { class: "ct-push" }), element("b", { class: "bad" }, text(lang, "control.quotaNeeds", { requested: row.requested, used: row.used, limited: row.limited }))),
    element("div", { class: "ct-bar", "aria-hidden": "true" }, used, asked, limit));
}

/**
 * @param {ApiRequest} request
 * @param {View} view
 * @param {Lang} lang
 */
function afterCard(request, view, lang) {
  if (request.code >= 400) return null;
  const rows = afterwards(request, view.rows, AFTER_MAX);
  if (rows.length === 0) return null;
  return element("section", { class: "ct-card", "data-testid": "request-after" },
    element("h4", {}, text(lang, "control.after")), element("p", { class: "hint" }, text(lang, "control.afterHint")),
    element("ol", { class: "ct-after" }, rows.map((row) => afterRow(row, request, view, lang))));
}

/** @type {Record<LogRow["verb"], string>} */
const VERBS = { ADDED: "verb_ADDED", MODIFIED: "verb_MODIFIED", DELETED: "verb_DELETED" };

/**
 * @param {LogRow} row
 * @param {ApiRequest} request
 * @param {View} view
 * @param {Lang} lang
 */
function afterRow(row, request, view, lang) {
  return element("li", {},
    element("span", { class: "chip accent" }, text(lang, "control.rv", { rv: String(row.revision) })),
    element("b", {}, text(lang, VERBS[row.verb])), actorChip(row.actor, view, lang),
    element("small", {}, text(lang, "control.later", { s: number(lang, Math.max(0, row.simTimeMs / 1000 - request.simTime), 2) })));
}
