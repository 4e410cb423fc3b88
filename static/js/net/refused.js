/** What the server refuses, told in the language of the page: it says each sentence in English and names it beside. */

/** @import { ApiStatus, NamedSentence } from "../lib/types.d.ts" */
import { langOf } from "../lib/languages.js";

/**
 * The same refusal with its sentences in the page's language; one that is not named stays as the server said it, such as
 * what the Kubernetes API answers in upstream's words.
 * @param {ApiStatus} status
 * @param {string} [tag] of the page's language
 * @returns {Promise<ApiStatus>}
 */
export async function inWords(status, tag = globalThis.document?.documentElement.lang ?? "en") {
  const causes = status.details?.causes ?? [];
  const named = causes.some((cause) => cause.said);
  if (langOf(tag) === "en" || !(status.said || named)) return status;
  const { ZH_HANS } = await import("../lib/text/refused.zh-hans.js");
  const told = causes.map((cause) => ({ ...cause, message: sentence(ZH_HANS, cause.said) ?? cause.message ?? "" }));
  const listed = told.map(({ field, message }) => (field ? `${field}：${message}` : message)).join("；");
  return {
    ...status,
    message: sentence(ZH_HANS, status.said) ?? (named ? listed : status.message),
    ...(told.length ? { details: { ...status.details, causes: told } } : {}),
  };
}

/**
 * A sentence that the server named, in the page's language; without a name, or in English, as it was said.
 * @param {string} english
 * @param {NamedSentence | undefined} said
 * @param {string} [tag] of the page's language
 */
export async function inWord(english, said, tag = globalThis.document?.documentElement.lang ?? "en") {
  return (await inWords({ kind: "Status", code: 0, reason: "", message: english, ...(said ? { said } : {}) }, tag)).message;
}

/**
 * @param {Record<string, string>} words
 * @param {NamedSentence | undefined} said
 * @returns {string | undefined} none for a sentence that this page does not know, as an older one does not
 */
function sentence(words, said) {
  return said && words[said.key]?.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = said.values[name];
    return typeof value === "object" ? (sentence(words, value) ?? whole) : String(value ?? whole);
  });
}
