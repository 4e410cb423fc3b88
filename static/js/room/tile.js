/** One seat's copy in small: state, cluster in miniature, at most three lines of why. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Tile } from "./model.js" */
import { element, icon } from "../dom/dom.js";
import { counted, listed, text } from "../lib/text.js";
import { ago, bars, reasonOf, waitingOf } from "./model.js";

const SIGNS = { stuck: "ban", working: "play", idle: "clock", done: "check", failed: "warn" };
/** Classes of owner hues by rank of priority, the highest first; past the last the last. */
const HUES = [4, 2, 1, 5];

/**
 * @param {Tile} tile
 * @param {{lang: Lang, names: boolean, nowMs: number, small: boolean}} how
 */
export function tileOf(tile, { lang, names, nowMs, small }) {
  const state = element("span", { class: `chip room-state ${tile.state}` }, [icon(SIGNS[tile.state]), text(lang, `room.${tile.state}`)]);
  const [first, ...more] = linesOf(tile, lang, nowMs);
  return element("button", {
    class: `room-tile ${tile.state}`, type: "button", "data-seat": tile.seat,
  }, [
    element("span", { class: "room-tile-head" }, [element("b", {}, seatOf(tile, lang, names)), state]),
    small ? null : miniature(tile),
    element("span", { class: "room-why" }, [element("b", {}, first ?? ""), ...more.map((line) => element("span", {}, line))]),
  ]);
}

/**
 * @param {Tile} tile
 * @param {Lang} lang
 * @param {boolean} names
 */
export function seatOf(tile, lang, names) {
  return names ? tile.name : text(lang, "room.seat", { seat: String(tile.seat) });
}

/** @param {Tile} tile */
export function miniature(tile) {
  const waits = waitingOf(tile);
  const mark = waits && element("i", { class: `waits${waits.nominated ? " nominated" : ""}${waits.more ? " more" : ""}` });
  if (waits && mark) mark.style.flexBasis = `${Math.max(6, waits.share * 100)}%`;
  const first = waits && element("span", { class: "room-node room-waits" }, [element("span", { title: waits.name }, waits.name), element("span", { class: "room-bar" }, mark)]);
  const rows = bars(tile).slice(0, 4).map(({ node, parts }) => element("span", { class: node === tile.waiting?.node ? "room-node wanted" : "room-node" }, [
    element("span", {}, node),
    element("span", { class: "room-bar" }, parts.map(({ share, rank, leaving }) => {
      const part = element("i", { class: `hue-${HUES[Math.min(rank, HUES.length - 1)]}${leaving ? " leaving" : ""}` });
      part.style.flexBasis = `${Math.max(3, share * 100)}%`;
      return part;
    })),
  ]));
  return element("span", { class: "room-mini", "aria-hidden": "true" }, [first, ...rows]);
}

/**
 * What is said of a copy, the weightiest first.
 * @param {Tile} tile
 * @param {Lang} lang
 * @param {number} nowMs
 * @returns {string[]}
 */
export function linesOf(tile, lang, nowMs) {
  const lines = [];
  if (tile.seconds !== undefined) lines.push(counted(lang, "room.done_after", { minutes: Math.floor(tile.seconds / 60), seconds: String(tile.seconds % 60).padStart(2, "0") }));
  const waits = tile.pending.find(({ reason }) => reason);
  if (tile.problem) lines.push(tile.problem);
  if (waits) lines.push(reasonOf(tile), text(lang, "room.waits", { pods: listed(lang, waits.pods) }));
  for (const { pod, node } of tile.nominated.slice(0, 1)) lines.push(text(lang, "room.nominated", { pod, node }));
  const past = ago(tile.since, nowMs);
  const when = counted(lang, `room.ago_${past.unit}`, { count: past.count });
  if (tile.did && lines.length < 3) lines.push(text(lang, `room.did_${tile.did.verb.toLowerCase()}`, { object: tile.did.object }) + ` · ${when}`);
  else if (!lines.length) lines.push(text(lang, "room.nothing"), ...(past.unit === "now" ? [] : [when]));
  return lines.slice(0, 3);
}
