/** The dialogs, each fetched when it is first opened: a phone opens few of them. */

import { ApiError } from "../net/rest.js";

/**
 * @template T
 * @template {any[]} A
 * @param {(...rest: A) => Promise<T>} load
 * @returns {(...rest: A) => Promise<T>} refused as unreachable where the file cannot be had
 */
export function fetched(load) {
  return async (...rest) => {
    try {
      return await load(...rest);
    } catch (problem) {
      const message = problem instanceof Error ? problem.message : String(problem);
      throw new ApiError({ kind: "Status", code: 0, reason: "Unreachable", message });
    }
  };
}

export const forms = {
  code: fetched(() => import("../forms/code_dialog.js")),
  expression: fetched(() => import("../forms/expression_dialog.js")),
  fault: fetched(() => import("../forms/fault_dialog.js")),
  files: fetched(() => import("../forms/import_dialog.js")),
  save: fetched(() => import("../forms/save_dialog.js")),
  keys: fetched(() => import("../forms/keys_dialog.js")),
  object: fetched(() => import("../forms/object_form.js")),
  remove: fetched(() => import("../forms/delete_dialog.js")),
  scheduler: fetched(() => import("../forms/scheduler_dialog.js")),
  yaml: fetched(() => import("../forms/yaml_tab.js")),
};
