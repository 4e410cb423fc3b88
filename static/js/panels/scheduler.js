/** The scheduler tab of the dock: which era runs, its profiles' plugins in running order, and what does not run and why. */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
import { append, element, icon, keepFocus, setAttribute } from "../dom/dom.js";
import { number, text } from "../lib/text.js";
import { refusedCluster } from "../state/roles.js";
import { leader, objectAt } from "../state/selectors.js";

/** @typedef {{name: string, point: string, reason: string}} Refused */
/**
 * @typedef {object} Profile
 * @property {string} schedulerName
 * @property {{name: string, weight: number, points: string[]}[]} plugins
 * @property {{point: string, plugins: string[]}[]} [order]
 * @property {Refused[]} [refused]
 */

/** The server's reasons, and the texts that say them in the page's language. */
const REASONS = new Map([
  ["not enabled in this profile", "scheduler_not_enabled"],
  ["disabled at this point", "scheduler_disabled_here"],
  ["not enabled at this point", "scheduler_not_enabled_here"],
]);

/**
 * The configuration object that the tab shows; undefined while there is none.
 * @param {View} view
 */
export function schedulerSource(view) {
  return objectAt(view, "schedulerconfigs.clustersim.io", "default");
}

/**
 * @param {Element} list
 * @param {View} view
 * @param {Ui} ui
 * @param {Dispatch} dispatch
 */
export function schedulerPanel(list, view, ui, dispatch) {
  const t = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ values = {}) =>
    text(ui.lang, key, values);
  const source = schedulerSource(view);
  const status = source?.status;
  if (!source || !status?.["profiles"]) {
    keepFocus(list, () => list.replaceChildren(element("p", { class: "none" }, t("scheduler_none"))));
    return;
  }
  const refused = refusedCluster(view.me);
  const change = element("button", { class: "button", type: "button", "data-testid": "scheduler-change" },
    [icon("layers"), t("scheduler_change")]);
  setAttribute(change, "aria-disabled", refused ? "true" : null);
  setAttribute(change, "title", refused ? t(refused) : null);
  change.addEventListener("click", () => dispatch({ type: "openScheduler" }));
  const expression = element("button", { class: "button", type: "button", "data-testid": "expression-open" },
    [icon("search"), t("expression_open")]);
  expression.addEventListener("click", () => dispatch({ type: "openExpression" }));
  const percentage = Number(status["percentageOfNodesToScore"] ?? 100);
  const facts = [
    percentage === 0 ? t("scheduler_adaptive") : t("scheduler_percentage", { n: number(ui.lang, percentage) }),
    t("scheduler_backoff", {
      from: number(ui.lang, Number(status["podInitialBackoffSeconds"] ?? 1)),
      to: number(ui.lang, Number(status["podMaxBackoffSeconds"] ?? 10)),
    }),
  ];
  const leading = leader(view, "kube-scheduler")?.metadata.name ?? "";
  const code = view.session?.code ?? "";
  const measured = leading && code ? element("a", {
    class: "link", target: "_blank", rel: "noopener", "data-testid": "scheduler-metrics",
    href: `/api/sessions/${encodeURIComponent(code)}/replicas/${encodeURIComponent(leading)}/metrics`,
  }, t("scheduler_metrics", { replica: leading })) : null;
  const panel = element("div", { class: "scheduler-panel", "data-testid": "scheduler-panel" }, [
    element("header", {}, [
      element("h3", { "data-testid": "scheduler-era" }, String(status["title"] ?? source.spec?.["era"] ?? "")),
      element("code", {}, String(source.spec?.["era"] ?? "v1.34")),
      element("span", { class: "hint" }, facts.join(" · ")),
      measured,
      element("span", { class: "scheduler-acts" }, [expression, change]),
    ]),
  ]);
  for (const profile of /** @type {Profile[]} */ (status["profiles"])) append(panel, profileSection(profile, ui));
  keepFocus(list, () => list.replaceChildren(panel));
}

/**
 * @param {Profile} profile
 * @param {Ui} ui
 */
function profileSection(profile, ui) {
  const weights = new Map(profile.plugins.map(({ name, weight }) => [name, weight]));
  const points = (profile.order ?? []).map(({ point, plugins }) => element("li", { "data-point": point }, [
    element("h5", {}, pointName(point)),
    plugins.length === 0 ? element("p", { class: "none" }, "–")
      : element("ol", {}, plugins.map((name) => element("li", { title: name }, [
        element("span", {}, name),
        point === "score" ? element("b", {}, `×${number(ui.lang, weights.get(name) ?? 1)}`) : null,
      ]))),
  ]));
  const refused = profile.refused ?? [];
  return element("section", { "data-testid": `profile-${profile.schedulerName}` }, [
    element("h4", {}, profile.schedulerName),
    // It scrolls sideways, so the keyboard must be able to stand in it.
    element("div", { class: "scheduler-scroll", role: "region", tabindex: "0", "aria-label": text(ui.lang, "scheduler_points") },
      element("ol", { class: "scheduler-points" }, points)),
    refused.length === 0 ? null : element("details", {}, [
      element("summary", {}, text(ui.lang, "scheduler_refused", { n: number(ui.lang, refused.length) })),
      element("ul", {}, refused.map(({ name, point, reason }) => element("li", {}, [
        element("b", {}, name), point ? ` ${pointName(point)}` : "", " ", said(reason, ui),
      ]))),
    ]),
  ]);
}

/**
 * @param {string} reason
 * @param {Ui} ui
 */
function said(reason, ui) {
  const key = REASONS.get(reason);
  return key ? text(ui.lang, key) : reason;
}

/** The configuration names points as its fields (preFilter), people as upstream's documents do (PreFilter). */
function pointName(/** @type {string} */ point) {
  return point.charAt(0).toUpperCase() + point.slice(1);
}
