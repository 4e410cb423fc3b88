/** What the palette's items share: form fields, and reading what is typed into them. Pure. */

/** @import { Field, Values } from "./items.js" */

export const GPU = "nvidia.com/gpu";
export const IMAGE = "nginx:1.27";

/**
 * @param {string} name
 * @param {string} path
 * @param {Field["type"]} [type]
 * @param {Partial<Field>} [more]
 * @returns {Field}
 */
export function field(name, path, type = "text", more = {}) {
  return { name, label: `field_${name}`, path, type, ...more };
}

/**
 * `a=b, c=d` as an object; entries without a value get "".
 * @param {string | undefined} text
 * @returns {Record<string, string>}
 */
export function readPairs(text) {
  const entries = (text ?? "").split(/[,\n]/).map((part) => part.trim()).filter(Boolean);
  return Object.fromEntries(entries.map((part) => {
    const at = part.indexOf("=");
    return at < 0 ? [part, ""] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
  }));
}

/**
 * Only the entries with something in them: an empty field of the form stands for "not said".
 * @param {Record<string, string | undefined>} entries
 * @returns {Record<string, string>}
 */
export function given(entries) {
  return /** @type {Record<string, string>} */ (
    Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined && value !== ""))
  );
}

/**
 * `key=value:Effect` entries as taints; the effect is NoSchedule unless said.
 * @param {string | undefined} text
 * @returns {{key: string, value?: string, effect: string}[]}
 */
export function readTaints(text) {
  return (text ?? "").split(/[,\n]/).map((part) => part.trim()).filter(Boolean).map((part) => {
    const [pair = "", effect = "NoSchedule"] = part.split(":");
    const [key = "", value] = pair.split("=");
    return value === undefined ? { key, effect } : { key, value, effect };
  });
}

/**
 * The spec of a pod, or of a template's pods.
 * @param {Values} values
 */
export function podSpec(values) {
  const gpu = given({ [GPU]: values["gpu"] });
  const requests = { ...given({ cpu: values["cpu"], memory: values["memory"] }), ...gpu };
  const selector = readPairs(values["nodeSelector"]);
  const tolerations = readTaints(values["tolerations"]).map(({ key, value, effect }) =>
    value === undefined ? { key, operator: "Exists", effect } : { key, operator: "Equal", value, effect });
  const resources = {
    ...(Object.keys(requests).length ? { requests } : {}),
    ...(Object.keys(gpu).length ? { limits: gpu } : {}),
  };
  return {
    containers: [{
      name: "main",
      image: values["image"] || IMAGE,
      ...(Object.keys(resources).length ? { resources } : {}),
    }],
    ...given({ priorityClassName: values["priorityClass"] }),
    ...(Object.keys(selector).length ? { nodeSelector: selector } : {}),
    ...(tolerations.length ? { tolerations } : {}),
  };
}
