/** Two writers of one object, in one click: both write on what they have read, and the second has to read again. */

/** @import { SessionApi } from "../net/rest.js" */
import { kindNamed } from "../lib/kinds.js";
import { ApiError, request } from "../net/rest.js";

/** The object that they write; it stays, as any other would. */
const NAME = "two-writers";

/**
 * Both writers are this person: what decides is what each has read, not who writes. None of it is a deed to undo.
 * @param {SessionApi} api
 * @param {string} namespace
 * @returns {Promise<void>}
 */
export async function showConflict(api, namespace) {
  const kind = kindNamed("ConfigMap");
  const path = api.path(kind, namespace, NAME);
  const document = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name: NAME, namespace } };
  await request("POST", api.path(kind, namespace), { ...document, data: { by: "nobody" } }).catch(passOver);
  const read = await request("GET", path);
  await request("PUT", path, { ...read, data: { by: "first" } });
  await request("PUT", path, { ...read, data: { by: "second" } }).catch(passOver);
  const again = await request("GET", path);
  await request("PUT", path, { ...again, data: { by: "second, after reading again" } });
}

/**
 * A conflict is what is to be seen, and so is that the object is there already.
 * @param {unknown} problem
 */
function passOver(problem) {
  if (!(problem instanceof ApiError) || problem.status.code !== 409) throw problem;
}
