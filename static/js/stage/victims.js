/** A node in the scene of a preemption: wide, each pod a chip with its priority and what becomes of it. */

/** @import { Eviction } from "./eviction.js" */
/** @import { TileBox } from "./levels.js" */
/** @import { Glyph, NodeModel } from "./model.js" */
/** @import { Pen } from "./pen.js" */
/** @import { TileState } from "./tile-parts.js" */
import { formatCpu } from "../lib/quantity.js";
import { text } from "../lib/text.js";
import { shortPriority } from "./eviction.js";
import { drawGlyph, roundRect } from "./glyphs.js";
import { drawIcon } from "./icons.js";
import { fit, widthOf, write } from "./pen.js";
import { PAD, footer, footerLines, frame, isOut, preemptionLines, roleChip } from "./tile-parts.js";

const CHIP_H = 20;
const CHIP_GAP = 3;
const GLYPH = 14;
/** Top of the first row of chips, and what stands below the last one. */
const CHIPS_TOP = 26;
const FOOT = 40;

/**
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {NodeModel} node
 * @param {TileState} state
 */
export function drawVictimTile(pen, box, node, state) {
  const { colours } = pen;
  const { scene, cycle } = state;
  const eviction = cycle?.eviction;
  if (!eviction) return;
  frame(pen, box, node, state, 8);
  const right = box.x + box.w - PAD;
  const name = write(pen, node.name, box.x + PAD, box.y + 15, { size: 13, weight: 600, width: box.w / 2 });
  const role = scene?.role ? roleChip(pen, scene, right, box.y + 15) : 0;
  const room = box.w - 2 * PAD - name - role - 16;
  pen.context.font = `400 11px ${colours.font}`;
  if (widthOf(pen, node.size) <= room) write(pen, node.size, right - role - (role ? 8 : 0), box.y + 15, { colour: colours.t3, align: "right" });
  const ghost = scene?.role === "chosen" && eviction.frame === 5;
  const rows = Math.max(1, Math.floor((box.h - CHIPS_TOP - FOOT - (ghost ? CHIP_H + 2 : 0)) / (CHIP_H + CHIP_GAP)));
  const alpha = isOut(scene) ? 1 - 0.55 * (scene?.dim ?? 0) : 1;
  pen.context.save();
  pen.context.globalAlpha = alpha;
  chips(pen, box, node.glyphs.filter((glyph) => !glyph.ghost), eviction, rows);
  pen.context.restore();
  if (isOut(scene) && scene) {
    const { reason, more } = whyNot(eviction, node.name, scene.reason, pen.lang);
    footer(pen, box, footerLines(pen, box, reason, more), scene.dim);
  }
  else if (scene?.role) {
    if (ghost) waiting(pen, box, cycle.pod);
    preemptionLines(pen, box, scene, freed(node, eviction, pen));
  }
}

/**
 * Why a node cannot be freed: upstream's reason, and below it why it was refused in the first place. Where both are the same words
 * they stand once, with what makes them two reasons.
 * @param {Pick<Eviction, "why">} eviction
 * @param {string} name
 * @param {string} refused the filter's reason
 * @param {Pen["lang"]} lang
 */
export function whyNot({ why }, name, refused, lang) {
  const reason = why.get(name) || refused;
  return { reason, more: !why.has(name) ? "" : reason === refused ? text(lang, "evict.stillNot") : refused };
}

/**
 * What leaving pods give back on a node, in words; "" before that is known.
 * @param {NodeModel} node
 * @param {Eviction} eviction
 * @param {Pen} pen
 */
function freed(node, eviction, { lang }) {
  if (eviction.frame < 3) return text(lang, eviction.frame === 2 ? "evict.away" : "evict.maybe");
  const cpu = node.glyphs.reduce((sum, glyph) =>
    sum + (eviction.fates.get(glyph.key)?.fate === "victim" ? glyph.cpuMilli : 0), 0);
  return cpu > 0 ? text(lang, "evict.freed", { cpu: formatCpu(cpu) }) : "";
}

/**
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {readonly Glyph[]} glyphs
 * @param {Eviction} eviction
 * @param {number} rows
 */
function chips(pen, box, glyphs, eviction, rows) {
  const left = box.x + PAD - 3;
  const end = box.x + box.w - PAD;
  let x = left;
  let row = 0;
  // Those that have to leave first: there may be no room for all.
  const order = [...glyphs].sort((a, b) => rank(eviction, a) - rank(eviction, b));
  order.every((glyph, index) => {
    const width = chipWidth(pen, glyph, eviction);
    const more = order.length - index - 1;
    const spare = row === rows - 1 && more > 0 ? 30 : 0;
    if (x > left && x + width > end - spare) {
      if (row === rows - 1) {
        write(pen, `+${order.length - index}`, x + 2, box.y + CHIPS_TOP + row * (CHIP_H + CHIP_GAP) + CHIP_H / 2, {
          size: 11.5, weight: 500, colour: pen.colours.t2,
        });
        return false;
      }
      row += 1;
      x = left;
    }
    chip(pen, glyph, eviction, x, box.y + CHIPS_TOP + row * (CHIP_H + CHIP_GAP), width);
    x += width + CHIP_GAP;
    return true;
  });
}

/**
 * @param {Eviction} eviction
 * @param {Glyph} glyph
 */
function rank(eviction, { key }) {
  const fate = eviction.fates.get(key)?.fate;
  return fate === "victim" ? 0 : fate === "reprieved" ? 1 : 2;
}

/**
 * What a pod's chip says beside its glyph: its priority and, once it is told to go, the seconds it has left.
 * @param {Pen} pen
 * @param {Glyph} glyph
 */
function said({ lang, nowMs }, { priority, endsAtMs }) {
  const left = endsAtMs === null ? "" : ` ${text(lang, "stage.seconds", { n: String(Math.max(0, Math.ceil((endsAtMs - nowMs) / 1000))) })}`;
  return { priority: shortPriority(priority), left };
}

/**
 * @param {Pen} pen
 * @param {Glyph} glyph
 * @param {Eviction} eviction
 */
function chipWidth(pen, glyph, eviction) {
  const { priority, left } = said(pen, glyph);
  pen.context.font = `400 11.5px ${pen.colours.font}`;
  return 3 + GLYPH + 4 + widthOf(pen, priority + left) + (eviction.fates.get(glyph.key)?.breaks ? 15 : 0) + 5;
}

/**
 * @param {Pen} pen
 * @param {Glyph} glyph
 * @param {Eviction} eviction
 * @param {number} x
 * @param {number} top
 * @param {number} w
 */
function chip(pen, glyph, eviction, x, top, w) {
  const { context, colours, dpr } = pen;
  const told = eviction.fates.get(glyph.key);
  const { priority, left } = said(pen, glyph);
  // Who stays steps back up.
  const y = told?.fate === "reprieved" ? top - 2 : top;
  if (told) {
    context.fillStyle = told.fate === "victim" ? colours.verbg : colours.grnbg;
    roundRect(context, x, y, w, CHIP_H, 6);
    context.fill();
    if (told.breaks && told.fate === "victim") {
      context.strokeStyle = colours.ver;
      context.lineWidth = 1;
      roundRect(context, x + 0.5, y + 0.5, w - 1, CHIP_H - 1, 6);
      context.stroke();
    }
  }
  const usual = glyph.state === "victim" || glyph.state === "reprieved" ? "running" : glyph.state;
  drawGlyph(context, { ...glyph, state: told?.fate ?? usual }, x + 3, y + 3, GLYPH, colours, dpr);
  let at = x + 3 + GLYPH + 4;
  at += write(pen, priority, at, y + CHIP_H / 2, { size: 11.5, colour: told?.fate === "victim" ? colours.vert : colours.t2 });
  if (told?.breaks) {
    drawIcon(context, "shield", at + 3, y + 4, 12, colours.vert);
    at += 15;
  }
  if (left) write(pen, left, at, y + CHIP_H / 2, { size: 11.5, weight: 600, colour: colours.vert });
}

/**
 * The pod that the node is to be freed for, above the lines at its foot.
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {string} pod namespace/name
 */
function waiting(pen, box, pod) {
  const { context, colours, lang } = pen;
  // A tile that is as low as it may be has less room between the chips and its foot.
  const height = box.h < 110 ? 15 : CHIP_H;
  const y = box.y + box.h - FOOT - height;
  context.fillStyle = colours.purbg;
  roundRect(context, box.x + 5, y, box.w - 10, height, 5);
  context.fill();
  drawGlyph(context, { state: "nominated", hue: 2, ring: false }, box.x + PAD, y + height / 2 - 6, 12, colours, pen.dpr);
  const waits = text(lang, "stage.waitsHere");
  const room = box.w - 2 * PAD - 18;
  context.font = `600 11px ${colours.font}`;
  const name = write(pen, fit(pen, pen.say(pod), room), box.x + PAD + 18, y + height / 2, { weight: 600, colour: colours.purt });
  context.font = `400 11px ${colours.font}`;
  if (widthOf(pen, waits) <= room - name - 6) write(pen, waits, box.x + PAD + 24 + name, y + height / 2, { colour: colours.purt });
}
