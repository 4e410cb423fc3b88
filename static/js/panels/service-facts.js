/** What the Summary tab says about a Service: where it is reached, and who answers. */

/** @import { Slim } from "../lib/types.d.ts" */
/** @import { Fact, Scope } from "./fact-parts.js" */
import { element } from "../dom/dom.js";
import { saidName } from "../state/people.js";
import { isPending, outsideOf, podsBehind } from "../state/services.js";
import { keyOf } from "../state/view.js";
import { link, LINKS_MAX, pairs } from "./fact-parts.js";

/**
 * @param {Slim} service
 * @param {Scope} scope
 * @returns {Fact[]}
 */
export function serviceFacts(service, scope) {
  const { t, view } = scope;
  const { type = "ClusterIP", clusterIP, ports = [], selector } = service.spec ?? {};
  const outside = isPending(service) ? [t("f_pending")] : outsideOf(service);
  const behind = podsBehind(view, service);
  const ready = behind.filter((one) => one.ready).length;
  const lines = behind.slice(0, LINKS_MAX).map(({ pod, ready: takes }) => element("div", { class: "line" }, [
    link(scope, "pods", keyOf(pod), saidName(view, pod.metadata.namespace, pod.metadata.name)), takes ? "" : ` · ${t("f_unready")}`,
  ]));
  return [
    [t("f_type"), type],
    ...(clusterIP ? [/** @type {Fact} */ ([t("f_inside"), clusterIP === "None" ? t("f_headless") : element("code", {}, clusterIP)])] : []),
    ...(outside.length ? [/** @type {Fact} */ ([t("f_outside"), outside.map((one) => element("div", { class: "line" }, element("code", {}, one)))])] : []),
    [t("field_port"), ports.map((/** @type {any} */ port) => portLine(port, t))],
    [t("f_selector"), selector ? pairs(selector) : "–"],
    ...(selector ? [/** @type {Fact} */ ([t("f_behind"), [t("f_takes", { ready, total: behind.length }), ...lines]])] : []),
  ];
}

/**
 * A port of a Service: `80/TCP → 8080 · node port 31234`.
 * @param {{port: number, protocol?: string, targetPort?: number | string, nodePort?: number}} port
 * @param {Scope["t"]} t
 */
function portLine({ port, protocol = "TCP", targetPort = port, nodePort }, t) {
  return element("div", { class: "line" }, [
    element("code", {}, `${port}/${protocol} → ${targetPort}`), nodePort ? ` · ${t("f_nodePort", { port: nodePort })}` : "",
  ]);
}
