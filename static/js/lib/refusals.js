/** The amounts behind a filter's no (docs/trace.md "refusals") in words of ours; the scheduler's own stand beside. Pure. */

/** @import { Lang, RefusalDetail } from "./types.d.ts" */
import { formatCpu, formatMemory } from "./quantity.js";
import { number, text } from "./text.js";

/**
 * An amount of a resource as people write it: 900m, 512 Mi, 2.
 * @param {string} resource
 * @param {number} amount millicores, bytes or pieces
 * @param {Lang} lang
 */
export function amountOf(resource, amount, lang) {
  const sign = amount < 0 ? "−" : "";
  const size = Math.abs(amount);
  if (resource === "cpu") return sign + formatCpu(size);
  if (resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-"))
    return sign + formatMemory(size);
  return sign + number(lang, size);
}

/**
 * One detail as a sentence without its full stop: "cpu: needs 900m, 250m free". What is null in a trace is absent while its cycle
 * is in hand: a status has no nulls.
 * @param {RefusalDetail} detail
 * @param {Lang} lang
 * @param {(key: string) => string} [say] a pod's name as it is said
 */
export function refusalWords(detail, lang, say = (key) => key) {
  switch (detail.kind) {
    case "resource":
      return text(lang, "refusal.resource", {
        resource: detail.resource.replace(/^attachable-volumes-(csi-)?/, text(lang, "refusal.attachable")), asked: amountOf(detail.resource, detail.asked, lang),
        free: amountOf(detail.resource, Math.max(0, detail.free), lang),
      });
    case "taint":
      return text(lang, "refusal.taint", {
        taint: `${detail.key}${detail.value ? `=${detail.value}` : ""}:${detail.effect}`,
      });
    case "label":
      if (detail.error !== undefined) return text(lang, "refusal.unread", { source: detail.source, error: detail.error });
      if (detail.operator === "Exists") return text(lang, "refusal.noPlace", { key: detail.key });
      return text(lang, detail.value == null ? "refusal.noLabel" : "refusal.label", {
        key: detail.key, value: detail.value ?? "", wanted: selectorOf(detail),
      });
    case "name":
      return text(lang, "refusal.name", { node: detail.asked });
    case "port":
      return text(lang, "refusal.port", { port: `${detail.protocol} ${detail.port}`, holder: say(detail.holder) });
    case "spread":
      return detail.skew == null ? text(lang, "refusal.noPlace", { key: detail.topologyKey })
        : text(lang, "refusal.spread", {
          place: placeOf(detail), matching: detail.matching, fewest: detail.fewest, skew: detail.skew, most: detail.maxSkew,
        });
    case "held":
      return text(lang, `refusal.held.${detail.source}`, { name: detail.name, holder: say(detail.holder) });
    case "devices":
      return text(lang, detail.there === 0 ? "refusal.noDevices" : detail.asked == null ? "refusal.allDevices" : "refusal.devices", {
        claim: detail.claim, request: detail.request, class: detail.class, n: detail.asked ?? 0,
        there: detail.there, fitting: detail.fitting, free: detail.free,
      });
    case "volume":
      return text(lang, detail.volume ? "refusal.volumeGone" : detail.largest == null ? "refusal.noVolume" : "refusal.volume", {
        claim: detail.claim, class: detail.class || '""', volume: detail.volume, asked: formatMemory(detail.asked),
        largest: formatMemory(detail.largest ?? 0),
      });
    default:
      return detail.value == null ? text(lang, "refusal.noPlace", { key: detail.topologyKey })
        : text(lang, `refusal.${detail.rule}`, { place: placeOf(detail), n: detail.matching });
  }
}

/**
 * A requirement as kubectl writes selectors: disk=ssd, disk notin (hdd, tape), !disk.
 * @param {{key: string, operator: string, values: readonly string[]}} requirement
 */
function selectorOf({ key, operator, values }) {
  const [first = ""] = values;
  switch (operator) {
    case "DoesNotExist": return `!${key}`;
    case "Gt": return `${key}>${first}`;
    case "Lt": return `${key}<${first}`;
    case "In": return values.length === 1 ? `${key}=${first}` : `${key} in (${values.join(", ")})`;
    case "NotIn": return values.length === 1 ? `${key}!=${first}` : `${key} notin (${values.join(", ")})`;
    default: return [key, operator, values.join(", ")].join(" ").trim();
  }
}

/** @param {{topologyKey: string, value: string | null}} detail */
function placeOf({ topologyKey, value }) {
  return `${topologyKey.split("/").pop()}=${value ?? ""}`;
}

/**
 * All details of a node as one sentence.
 * @param {readonly RefusalDetail[]} details
 * @param {Lang} lang
 * @param {(key: string) => string} [say]
 */
export function refusalSentence(details, lang, say) {
  return details.map((detail) => refusalWords(detail, lang, say)).join(text(lang, "list.then"));
}

/**
 * What a tile adds to the scheduler's own reason, where there is little room: a taint is named by the reason itself, and so is the
 * one resource that is short.
 * @param {readonly RefusalDetail[]} details
 * @param {Lang} lang
 * @param {(key: string) => string} [say]
 * @param {string} [reason] the scheduler's own
 */
export function tileSentence(details, lang, say, reason = "") {
  const more = details.filter(({ kind }) => kind !== "taint");
  const [only] = more;
  if (more.length === 1 && only?.kind === "resource" && reason === `Insufficient ${only.resource}`) return text(lang, "refusal.short", {
    asked: amountOf(only.resource, only.asked, lang), free: amountOf(only.resource, Math.max(0, only.free), lang),
  });
  return refusalSentence(more, lang, say);
}

/**
 * How a resource that is short looks as a bar: what is taken, what the pod would add, and where the node ends, as shares
 * of the bar's length. A quarter of the bar lies beyond the node's end; a longer ghost is cut there.
 * @param {{asked: number, free: number, size: number}} detail
 * @returns {{used: number, ghost: number, end: number, cut: boolean}}
 */
export function ghostOf({ asked, free, size }) {
  const end = 0.75;
  // A node that has nothing of it ends where its bar begins.
  const scale = size > 0 ? end / size : end / Math.max(1, asked);
  const used = Math.max(0, size - free) * scale;
  const ghost = used + asked * scale;
  return { used: Math.min(1, used), ghost: Math.min(1, ghost), end: size > 0 ? end : 0, cut: ghost > 1 };
}
