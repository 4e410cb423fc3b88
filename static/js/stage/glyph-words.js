/** What the sign of a pod says, in words: for who points at it and for who hears it. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Glyph } from "./model.js" */
import { endReason } from "../state/eviction.js";
import { text } from "../lib/text.js";

/**
 * Its state, why, whether its template is an older one, and what a difference says of it; empty where there is nothing to say.
 * @param {Glyph} glyph
 * @param {Lang} lang
 * @returns {{state: string, reason: string, old: string, mark: string}}
 */
export function glyphWords(glyph, lang) {
  const waits = glyph.waits?.reason ?? "";
  return {
    // What cannot run is not pulled.
    state: waits && glyph.state === "pulling" ? "" : text(lang, `state.${glyph.state}`),
    reason: (glyph.pod ? endReason(glyph.pod) : "") || waits,
    old: glyph.old ? text(lang, "pod.old") : "",
    mark: glyph.mark && glyph.mark !== "same" ? text(lang, `mark.${glyph.mark}`) : "",
  };
}
