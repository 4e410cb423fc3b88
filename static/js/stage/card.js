/** Nodes as large cards: level of detail 1, with every pod named and all plugins of a score as a table. */

/** @import { TileBox } from "./levels.js" */
/** @import { Glyph, NodeModel } from "./model.js" */
/** @import { Pen } from "./pen.js" */
/** @import { TileState } from "./tile-parts.js" */
import { endReason } from "../state/eviction.js";
import { usedShare } from "../state/usage.js";
import { formatMemory, formatRequests } from "../lib/quantity.js";
import { tileSentence } from "../lib/refusals.js";
import { text } from "../lib/text.js";
import { differenceWords, laterShare } from "./difference.js";
import { isNarrow, isShort } from "./levels.js";
import { ghostBar, shortOf } from "./ghost.js";
import { drawGlyph, roundRect } from "./glyphs.js";
import { drawIcon } from "./icons.js";
import { bar, chip, fit, podEnding, scoreBar, twoBars, widthOf, write } from "./pen.js";
import { narrowName } from "./reasons.js";
import { trialFoot, trialFrame } from "./trial.js";
import { troubleFate, troubleHead } from "./trouble.js";
import { OVER_ALPHA, footer, footerLines, frame, glyphAt, glyphRows, isOut, marks, preemptionLines, roleChip } from "./tile-parts.js";

const PAD = 12;
const POD_ROW = 20;
/** In less room the beginning of a reason tells nothing. */
const REASON_LEAST_PX = 60;
/** So wide a name and what its pod asks for can be told beside others; two columns of them where rows do not do. */
const POD_COLUMN = 130;
const COLUMN_GAP = 14;
const TABLE_ROW = 13;
/** With fewer rows than this for its pods, a card shows them as glyphs. */
const ROWS_MIN = 3;
/** As wide as a total, its unit and the chip of a winner stand beside one another. */
const CHIP_BESIDE = 160;

/**
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {NodeModel} node
 * @param {TileState} state
 * @returns {number} from where on nothing of its pods is seen
 */
export function drawCard(pen, box, node, state) {
  const { colours } = pen;
  const { scene } = state;
  frame(pen, box, node, state, 8);
  const { x, y, w } = box;
  const right = x + w - PAD;
  const sizeWidth = scene?.role ? roleChip(pen, scene, right, y + 19) : isNarrow(box) ? 0 : write(pen, node.size, right, y + 19, { size: 12, colour: colours.t3, align: "right" });
  const name = write(pen, node.name, x + PAD, y + 19, { size: 15, weight: 600, width: w - 2 * PAD - sizeWidth - 26 });
  marks(pen, node, x + PAD + name + 7, y + 19);
  let at = y + 42;
  for (const row of resourceRows(node, box)) {
    write(pen, row.name, x + PAD, at, { size: 12, colour: colours.t2, width: 38 });
    write(pen, row.numbers, right, at, { size: 12, colour: colours.t2, align: "right" });
    const short = scene && isOut(scene) ? shortOf(scene.details, row.resource) : null;
    const width = Math.max(30, w - 2 * PAD - 40 - 84);
    const later = laterShare(node, row.resource);
    if (short) ghostBar(pen, short, x + PAD + 40, at - 3, width, 6);
    else if (later !== null) twoBars(pen, row.share, later, x + PAD + 40, at - 3, width);
    else bar(pen, row.share, x + PAD + 40, at - 3, width, 6, usedShare(node, row.resource));
    at += 16;
  }
  at = conditions(pen, node, x + PAD, at + 2, w - 2 * PAD);
  pods(pen, node, podsArea(box, node, state), state);
  if (state.trial) {
    trialFoot(pen, box, state.trial, { last: state.trialLast, pad: PAD });
    trialFrame(pen, box, state.trial, 8);
    return Infinity;
  }
  let covered = Infinity;
  pen.context.save();
  if (state.cycle?.over && scene && scene.feasible !== null) pen.context.globalAlpha = OVER_ALPHA;
  const { trouble, difference } = node;
  const said = difference ? differenceWords(difference, pen.lang) : "";
  if (said && !scene) covered = footer(pen, box, footerLines(pen, box, said), 1, "clock");
  else if (trouble && !scene) {
    covered = footer(pen, box, footerLines(pen, box, troubleHead(trouble, pen.nowMs, pen.lang), troubleFate(trouble, pen.nowMs, 0, pen.lang)), 1, "warn");
  } else if (scene && isOut(scene)) covered = footer(pen, box, footerLines(pen, box, scene.reason, tileSentence(scene.details, pen.lang, pen.say, scene.reason)), scene.dim);
  else if (scene?.role) preemptionLines(pen, box, scene);
  else if (scene && scene.segments.length > 0) scoreTable(pen, box, state);
  else if (scene?.winner) {
    drawIcon(pen.context, "crown", x + PAD, box.y + box.h - 24, 15, colours.amb);
    write(pen, text(pen.lang, `stage.${state.cycle?.alone ?? "only"}`), x + PAD + 21, box.y + box.h - 16, {
      size: 12, weight: 600, colour: colours.ambt,
    });
  } else if (scene?.feasible) {
    write(pen, text(pen.lang, "stage.feasible"), x + PAD, box.y + box.h - 16, {
      size: 12, weight: 500, colour: colours.grnt,
    });
  }
  pen.context.restore();
  return covered;
}

/** @param {NodeModel} node @param {TileBox} box */
function resourceRows(node, box) {
  const share = (/** @type {number} */ used, /** @type {number} */ of) => (of > 0 ? used / of : 0);
  const rows = [
    {
      name: "cpu", resource: "cpu", share: share(node.cpuUsed, node.cpuMilli),
      numbers: `${(node.cpuUsed / 1000).toFixed(node.cpuUsed ? 2 : 0)}/${node.cpuMilli / 1000}`,
    },
    {
      name: "mem", resource: "memory", share: share(node.memoryUsed, node.memoryBytes),
      numbers: `${formatMemory(node.memoryUsed).replace(/ Gi$/, "")}/${formatMemory(node.memoryBytes)}`,
    },
  ];
  if (!isShort(box) && !isNarrow(box)) {
    rows.push({ name: "pods", resource: "pods", share: share(node.podCount, node.podsMax), numbers: `${node.podCount}/${node.podsMax}` });
  }
  for (const { name, resource, used, max } of node.extended) {
    rows.push({ name, resource, share: share(used, max), numbers: `${used}/${max}` });
  }
  return rows;
}

/**
 * Ready or not, and what keeps pods away: cordon and taints in words.
 * @param {Pen} pen
 * @param {NodeModel} node
 * @param {number} x
 * @param {number} y
 * @param {number} w
 * @returns {number} y below
 */
function conditions(pen, node, x, y, w) {
  const words = [node.ready ? "Ready" : node.trouble?.ready === "Unknown" ? "Unknown" : "NotReady", ...(node.zone ? [node.zone] : [])];
  for (const condition of node.node.status?.conditions ?? [])
    if (condition.type !== "Ready" && condition.status === "True") words.push(condition.type);
  if (node.unschedulable) words.push("SchedulingDisabled");
  const taints = node.taints.map(({ key, value, effect }) => `${key}${value ? `=${value}` : ""}:${effect}`);
  // Where keys do not fit, their last word says it; the inspector has them whole.
  const short = [...new Set(node.taints.map(({ key, value }) => `${key.split("/").pop()}${value ? `=${value}` : ""}`))];
  pen.context.font = `400 12px ${pen.colours.font}`;
  const said = [taints, short].map((keys) => [...words, ...keys].join(" · ")).find((one) => widthOf(pen, one) <= w - 13);
  const dot = node.ready ? pen.colours.grn : pen.colours.ver;
  pen.context.fillStyle = dot;
  pen.context.beginPath();
  pen.context.arc(x + 4, y, 3.5, 0, Math.PI * 2);
  pen.context.fill();
  write(pen, said ?? [...words, ...short].join(" · "), x + 13, y, { size: 12, colour: pen.colours.t2, width: w - 13 });
  return y + 14;
}

/**
 * Where the pods of a card lie: as named rows, or as glyphs (`pitch` > 0) where the score leaves no room for names.
 * @param {TileBox} box
 * @param {NodeModel} node
 * @param {TileState} state
 */
export function podsArea(box, node, state) {
  const top = box.y + 42 + 16 * resourceRows(node, box).length + 17;
  const { scene } = state;
  const below = state.trial ? 54 : scene && scene.segments.length > 0 ? 50 + TABLE_ROW * tableRows(state, box).length
    : (scene && scene.feasible !== null) || node.trouble || node.difference ? 44 : 10;
  const height = box.y + box.h - below - top;
  const area = { x: box.x + PAD, y: top, w: box.w - 2 * PAD };
  const rows = Math.floor(height / POD_ROW);
  if (rows < Math.min(ROWS_MIN, node.glyphs.length)) return { ...area, rows: Math.max(1, Math.floor(height / 17)), columns: 1, pitch: 17, size: 13 };
  const columns = node.glyphs.length > Math.max(1, rows) && area.w >= 2 * POD_COLUMN + COLUMN_GAP ? 2 : 1;
  return { ...area, rows: Math.max(1, rows), columns, pitch: 0, size: 0 };
}

/**
 * How many pods are named; one place less where the last one says how many more there are.
 * @param {readonly Glyph[]} glyphs
 * @param {ReturnType<typeof podsArea>} area
 */
function named({ length }, { rows, columns }) {
  return length > rows * columns ? rows * columns - 1 : length;
}

/**
 * Where the name of a pod stands: down the first column, then down the next.
 * @param {ReturnType<typeof podsArea>} area
 * @param {number} index
 */
function placeOf({ x, y, w, rows, columns }, index) {
  const width = (w - COLUMN_GAP * (columns - 1)) / columns;
  return { x: x + Math.floor(index / rows) * (width + COLUMN_GAP), y: y + (index % rows) * POD_ROW, w: width };
}

/**
 * @param {Pen} pen
 * @param {NodeModel} node
 * @param {ReturnType<typeof podsArea>} area
 * @param {TileState} state
 */
function pods(pen, node, area, state) {
  const { context, colours } = pen;
  if (area.pitch > 0) {
    glyphRows(pen, node.glyphs, { ...area, dim: 0, selectedPod: state.selectedPod });
    return;
  }
  const shown = named(node.glyphs, area);
  const dim = state.scene && isOut(state.scene) ? state.scene.dim : 0;
  for (let index = 0; index < shown; index += 1) {
    const glyph = node.glyphs[index];
    if (!glyph) continue;
    const { x, y, w } = placeOf(area, index);
    if (glyph.key === state.selectedPod) {
      context.fillStyle = colours.accbg;
      roundRect(context, x - 4, y, w + 8, POD_ROW - 1, 5);
      context.fill();
    }
    if (glyph.ghost) {
      context.fillStyle = colours.purbg;
      roundRect(context, x - 4, y, w + 8, POD_ROW - 1, 5);
      context.fill();
    }
    context.save();
    context.globalAlpha = 1 - 0.55 * dim;
    drawGlyph(context, glyph, x, y + 3, 13, colours, pen.dpr);
    context.restore();
    pen.context.font = `400 12px ${colours.font}`;
    const room = w - 26 - widthOf(pen, glyph.label);
    // A name is whole before what its pod asks for is told.
    const asks = toldIn(pen, glyph, room);
    const width = asks ? write(pen, asks, x + w, y + 10, { colour: colours.t3, align: "right" }) : 0;
    write(pen, glyph.label, x + 20, y + 10, { size: 12, width: w - 26 - width, end: podEnding(glyph.label) });
  }
  if (shown < node.glyphs.length) {
    const { x, y } = placeOf(area, shown);
    write(pen, text(pen.lang, "stage.morePods", { n: node.glyphs.length - shown }), x + 20, y + 10, { size: 12, colour: colours.t2 });
  }
}

/**
 * What is told of a pod beside its name, in so much room: the longest words that fit. Of a reason the beginning is better
 * than nothing.
 * @param {Pen} pen
 * @param {Glyph} glyph
 * @param {number} room pixels
 */
export function toldIn(pen, glyph, room) {
  const told = requestsOf(pen, glyph);
  const begun = glyph.waits && room >= REASON_LEAST_PX ? fit(pen, told[0] ?? "", room) : "";
  return told.find((one) => widthOf(pen, one) <= room) ?? begun;
}

/**
 * What a pod asks for, or what it waits for while it is not running; then the same in fewer words.
 * @param {Pen} pen
 * @param {Glyph} glyph
 * @returns {string[]}
 */
export function requestsOf(pen, glyph) {
  if (glyph.mark && glyph.mark !== "same") return [text(pen.lang, `mark.${glyph.mark}`)];
  const reason = glyph.pod ? endReason(glyph.pod) : "";
  if (glyph.state === "failed" && reason) return [reason];
  if (glyph.state === "terminating" && glyph.endsAtMs !== null) {
    const left = `${Math.max(0, Math.ceil((glyph.endsAtMs - pen.nowMs) / 1000))} s`;
    return [`${text(pen.lang, "state.terminating")} ${left}`, left];
  }
  if (glyph.waits) return [glyph.waits.reason];
  if (glyph.state !== "running") return [text(pen.lang, `state.${glyph.state}`)];
  if (glyph.old) return [text(pen.lang, "pod.old")];
  return [formatRequests(glyph.cpuMilli, glyph.memoryBytes) || text(pen.lang, "stage.noRequests"), formatRequests(glyph.cpuMilli, 0)].filter(Boolean);
}

/**
 * The pod in the row of a card under a point; null elsewhere.
 * @param {readonly Glyph[]} glyphs
 * @param {ReturnType<typeof podsArea>} area
 * @param {number} px
 * @param {number} py
 */
export function podRowAt(glyphs, area, px, py) {
  if (area.pitch > 0) return glyphAt(glyphs, area, px, py);
  if (px < area.x - 4 || px > area.x + area.w + 4 || py < area.y) return null;
  const column = area.columns > 1 && px > area.x + area.w / 2 ? 1 : 0;
  const row = Math.floor((py - area.y) / POD_ROW);
  return row < area.rows ? glyphs.slice(0, named(glyphs, area))[column * area.rows + row] ?? null : null;
}

/**
 * What each plugin gave, a row each. A cycle that is over leaves the room to the names of the pods, and a short or narrow card has none.
 * @param {TileState} state
 * @param {TileBox} box
 */
function tableRows({ scene, cycle }, box) {
  return cycle?.over || isShort(box) || isNarrow(box) ? [] : scene?.segments ?? [];
}

/**
 * Every plugin with what it gave, the total, and the tie or the crown.
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {TileState} state
 */
function scoreTable(pen, box, state) {
  const { scene, cycle } = state;
  if (!scene || !cycle) return;
  const { colours, context } = pen;
  const left = box.x + PAD;
  const right = box.x + box.w - PAD;
  const rows = tableRows(state, box);
  let y = box.y + box.h - 42 - TABLE_ROW * rows.length;
  context.fillStyle = colours.line;
  context.fillRect(left, y - 4, right - left, 1);
  rows.forEach((segment) => {
    context.fillStyle = colours.plugin[segment.look.hue] ?? colours.acc;
    roundRect(context, left, y + 3, 8, 8, 2);
    context.fill();
    write(pen, narrowName(segment.plugin), left + 14, y + 7, { colour: colours.t2, width: right - left - 50 });
    write(pen, String(Math.round(segment.value)), right, y + 7, { weight: 500, align: "right" });
    y += TABLE_ROW;
  });
  const amber = scene.tied || scene.winner;
  const at = box.y + box.h - 29;
  const width = write(pen, String(scene.total), left, at, {
    size: 18, weight: 600, colour: amber ? colours.ambt : colours.t1,
  });
  // On a narrow card the chip stands there.
  if (right - left >= CHIP_BESIDE || !amber) write(pen, text(pen.lang, "stage.pts"), left + width + 4, at + 1, { colour: colours.t3 });
  if (scene.winner) {
    const label = text(pen.lang, cycle.tie ? "stage.won" : "stage.best");
    const wide = chip(pen, `     ${label}`, right, at, { back: colours.amb, ink: colours["on-plugin"] });
    drawIcon(context, "crown", right - wide + 7, at - 6.5, 12, colours["on-plugin"]);
  } else if (scene.tied) {
    const label = text(pen.lang, cycle.tie?.drawn ? "stage.lost" : "stage.tie");
    chip(pen, label, right, at, { back: colours.ambbg, ink: colours.ambt });
  }
  scoreBar(pen, scene.segments, cycle.pointsMax, left, box.y + box.h - 17, right - left, 8);
}
