/** Nodes as tiles and small tiles: levels of detail 2 and 3. Level 1 is in card.js, 4 and 5 in cells.js. */

/** @import { RefusalDetail } from "../lib/types.d.ts" */
/** @import { NodeScene, Scene } from "./cycle.js" */
/** @import { TileBox } from "./levels.js" */
/** @import { Glyph, NodeModel } from "./model.js" */
/** @import { Pen } from "./pen.js" */
/** @import { TileState } from "./tile-parts.js" */
import { tileSentence } from "../lib/refusals.js";
import { text } from "../lib/text.js";
import { usedShare } from "../state/usage.js";
import { ghostBar, shortOf } from "./ghost.js";
import { drawGlyph, roundRect } from "./glyphs.js";
import { drawIcon } from "./icons.js";
import { differenceWords, laterShare } from "./difference.js";
import { bar, chip, ending, fit, fits, scoreBar, twoBars, widthOf, wrap, write } from "./pen.js";
import { shortReason } from "./reasons.js";
import { byOf, trialFoot, trialFrame } from "./trial.js";
import { troubleFate, troubleHead } from "./trouble.js";
import { OVER_ALPHA, PAD, footer, footerLines, frame, glyphRows, isOut, marks, preemptionLines, roleChip } from "./tile-parts.js";

export const GLYPH_SIZE = 14;
const GLYPH_PITCH = 17;
/** Bars of extended resources on a tile; a card has all of them. */
const EXTENDED_SHOWN = 2;
/** How far bars are apart: two of them, or more. */
const BAR_PITCH = { two: 13, many: 11 };
/** Narrower than this, bars stand without their numbers. */
const NUMBERED = 106;
/** From this height on a small tile has a line for what is said of it, and how many lines for why not. */
const TALL = 82;
const TALL_LINES = 3;
/** Below this height the total of a tile has no line of its own: it stands at the right of the pods, in so much room. */
const LOW = 108;
const SCORE_ROOM = 130;
/**
 * Where the glyphs of a tile of level 2 stand: one row while a cycle is told on it, else as many as there is room.
 * @param {TileBox} box
 * @param {NodeModel} node
 * @param {boolean} scored
 */
export function glyphArea(box, node, scored) {
  const extended = Math.min(node.extended.length, EXTENDED_SHOWN);
  const top = extended > 0 ? 53 + 11 * extended : 57;
  const below = waitingGhost(node) ? GHOST_ROW : 0;
  const rows = scored ? 1 : Math.max(1, Math.floor((box.h - top - below - 7) / GLYPH_PITCH));
  const room = box.w - 2 * PAD - (scored && box.h < LOW ? SCORE_ROOM : 0);
  return { x: box.x + PAD, y: box.y + top, w: room, rows, size: GLYPH_SIZE - 1, pitch: GLYPH_PITCH };
}

/** Height of the line that names a pod nominated to a tile's node. */
const GHOST_ROW = 20;

/** @param {NodeModel} node */
function waitingGhost(node) {
  return node.glyphs.find((glyph) => glyph.ghost);
}

/**
 * The pod that waits for this node, by name.
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {Glyph} ghost
 */
function ghostLine(pen, box, ghost) {
  const { context, colours } = pen;
  const y = box.y + box.h - GHOST_ROW - 3;
  context.fillStyle = colours.purbg;
  roundRect(context, box.x + 5, y, box.w - 10, GHOST_ROW, 5);
  context.fill();
  drawGlyph(context, ghost, box.x + PAD, y + 4, 12, colours, pen.dpr);
  const room = box.w - 2 * PAD - 18;
  const name = write(pen, ghost.label, box.x + PAD + 18, y + 10, { weight: 600, colour: colours.purt, width: room });
  const waits = text(pen.lang, "stage.waitsHere");
  context.font = `400 11px ${colours.font}`;
  if (widthOf(pen, waits) <= room - name - 6) write(pen, waits, box.x + PAD + 18 + name + 6, y + 10, { colour: colours.purt });
}

/**
 * Level 2: name, size, bars, pods, and the cycle's verdict and score.
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {NodeModel} node
 * @param {TileState} state
 * @returns {number} from where on nothing of its pods is seen
 */
export function drawTile(pen, box, node, state) {
  const { colours } = pen;
  const { scene, cycle } = state;
  frame(pen, box, node, state, 8);
  const { x, y, w, h } = box;
  const right = x + w - PAD;
  const nameWidth = write(pen, node.name, x + PAD, y + 15, { size: 13, weight: 600, width: w - 2 * PAD, end: ending(node.name) });
  // The name is what people type: the marks, then the size give way to it.
  const sizeWidth = scene?.role ? roleChip(pen, scene, right, y + 15) : write(pen, node.size, right, y + 15, {
    colour: colours.t3, align: "right", width: Math.max(0, w - 2 * PAD - nameWidth - 6),
  });
  if (w - 2 * PAD - nameWidth - sizeWidth > 24) marks(pen, node, x + PAD + nameWidth + 6, y + 15);
  const short = isOut(scene) ? scene?.details ?? [] : [];
  const rows = barRows(node, short, Infinity);
  bars(pen, node, rows, x + PAD, rows.length > 2 ? y + 32 : y + 34, w - 2 * PAD, short);
  const scored = scene !== null && scene.feasible !== null;
  const refused = isOut(scene);
  const dim = refused ? scene?.dim ?? 0 : node.ready ? 0 : 1;
  const { trouble } = node;
  const { difference } = node;
  const reason = refused ? scene?.reason ?? "" : difference ? differenceWords(difference, pen.lang) : trouble && !scored ? troubleHead(trouble, pen.nowMs, pen.lang) : "";
  const amounts = refused ? tileSentence(scene?.details ?? [], pen.lang, pen.say, reason)
    : trouble ? troubleFate(trouble, pen.nowMs, 0, pen.lang) : "";
  const words = reason ? footerLines(pen, box, reason, amounts) : null;
  const area = glyphArea(box, node, scored || reason !== "" || state.trial !== null);
  // Half a row of pods tells nothing: the bars above it say how full a node is.
  const covered = words !== null && !state.trial && area.y + area.size > box.y + box.h - words.height;
  if (!covered) glyphRows(pen, node.glyphs, { ...area, dim, selectedPod: state.selectedPod });
  const ghost = waitingGhost(node);
  if (state.trial) {
    trialFoot(pen, box, state.trial, { last: state.trialLast, pad: PAD });
    trialFrame(pen, box, state.trial, 8);
    return Infinity;
  }
  pen.context.save();
  if (cycle?.over && (scored || refused)) pen.context.globalAlpha = OVER_ALPHA;
  if (words) footer(pen, box, words, refused ? dim : 1, refused ? "ban" : difference ? "clock" : "warn");
  else if (!scored && ghost) ghostLine(pen, box, ghost);
  else if (scene?.role) preemptionLines(pen, box, scene);
  else if (scene && cycle && scene.segments.length > 0) score(pen, box, scene, cycle);
  else if (scene?.winner) only(pen, box, cycle?.alone ?? "only");
  else if (scene?.feasible) write(pen, text(pen.lang, "stage.feasible"), x + PAD, y + h - 16, {
    weight: 500, colour: colours.grnt,
  });
  pen.context.restore();
  return covered ? area.y : words ? y + h - words.height : Infinity;
}

/** @typedef {{name: string, numbers: string, share: number, resource: string}} BarRow a resource, and how much of it is requested */

/**
 * The bars of a node: cpu, memory, extended resources. What the pod in hand lacks is shown before anything else.
 * @param {NodeModel} node
 * @param {readonly RefusalDetail[]} details what is short there for the pod in hand
 * @param {number} most that there is room for
 * @returns {BarRow[]}
 */
function barRows(node, details, most) {
  const lacks = (/** @type {{resource: string}} */ { resource }) => Number(Boolean(shortOf(details, resource)));
  const cpu = `${trim(node.cpuUsed / 1000, 2)}/${trim(node.cpuMilli / 1000, 1)}`;
  const memory = `${trim(node.memoryUsed / 2 ** 30, 1)}/${trim(node.memoryBytes / 2 ** 30, 1)}`;
  const extended = [...node.extended].sort((a, b) => lacks(b) - lacks(a)).slice(0, EXTENDED_SHOWN);
  const all = [
    { name: "cpu", numbers: cpu, share: node.cpuMilli ? node.cpuUsed / node.cpuMilli : 0, resource: "cpu" },
    { name: "mem", numbers: memory, share: node.memoryBytes ? node.memoryUsed / node.memoryBytes : 0, resource: "memory" },
    ...extended.map(({ name, resource, used, max }) => ({ name, numbers: `${used}/${max}`, share: used / max, resource })),
  ];
  const shown = all.length <= most ? all : [...all].sort((a, b) => lacks(b) - lacks(a)).slice(0, most);
  return all.filter((row) => shown.includes(row));
}

/** @param {readonly BarRow[]} rows */
function barPitch(rows) {
  return rows.length > 2 ? BAR_PITCH.many : BAR_PITCH.two;
}

/**
 * @param {Pen} pen
 * @param {NodeModel} node
 * @param {readonly BarRow[]} rows
 * @param {number} x
 * @param {number} y of the middle of the first bar
 * @param {number} w
 * @param {readonly RefusalDetail[]} [details] what is short there for the pod in hand
 */
function bars(pen, node, rows, x, y, w, details = []) {
  const numbered = w >= NUMBERED;
  rows.forEach(({ name, numbers, share, resource }, index) => {
    const at = y + index * barPitch(rows);
    write(pen, name, x, at, { colour: pen.colours.t2, width: 29 });
    if (numbered) write(pen, numbers, x + w, at, { size: rows.length > 2 ? 11 : 11.5, colour: pen.colours.t2, align: "right" });
    const short = shortOf(details, resource);
    const width = w - 31 - (numbered ? 44 : 0);
    const later = laterShare(node, resource);
    if (short) ghostBar(pen, short, x + 31, at - 3, width, 6);
    else if (later !== null) twoBars(pen, share, later, x + 31, at - 3, width);
    else bar(pen, share, x + 31, at - 3, width, 6, usedShare(node, resource));
  });
}

/**
 * @param {number} value
 * @param {number} digits at most
 */
function trim(value, digits) {
  return digits === 2 ? value.toFixed(value === 0 ? 0 : 2) : String(Math.round(value * 10) / 10);
}

/**
 * The rising total, what the last plugin added, the tie or the crown, and the stacked bar.
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {NodeScene} scene
 * @param {Scene} cycle
 */
function score(pen, box, scene, cycle) {
  const { colours } = pen;
  const y = box.y + box.h - 28;
  const amber = scene.tied || scene.winner;
  let x = box.h < LOW ? box.x + box.w - PAD - SCORE_ROOM : box.x + PAD;
  x += write(pen, String(scene.total), x, y, { size: 18, weight: 600, colour: amber ? colours.ambt : colours.t1 }) + 4;
  // The crown's chip needs the room of the unit; the unit stands on every other tile.
  if (!scene.winner) x += write(pen, text(pen.lang, "stage.pts"), x, y + 1, { colour: colours.t2 }) + 7;
  const right = box.x + box.w - PAD;
  let chipWidth = 0;
  if (scene.winner) chipWidth = winnerChip(pen, cycle, right, y);
  else if (scene.tied) {
    chipWidth = chip(pen, text(pen.lang, cycle.tie?.drawn ? "stage.lost" : "stage.tie"), right, y, {
      back: colours.ambbg, ink: colours.ambt,
    });
  }
  if (scene.delta !== null && x + 30 < right - chipWidth) {
    const sign = scene.delta > 0 ? `↑ +${scene.delta}` : `+${scene.delta}`;
    write(pen, sign, x, y + 1, { weight: 500, colour: colours.t2 });
  }
  scoreBar(pen, scene.segments, cycle.pointsMax, box.x + PAD, box.y + box.h - 17, box.w - 2 * PAD, 8);
}

/**
 * @param {Pen} pen
 * @param {Scene} cycle
 * @param {number} right
 * @param {number} y
 */
function winnerChip(pen, cycle, right, y) {
  const { colours } = pen;
  const label = text(pen.lang, cycle.tie ? "stage.won" : "stage.best");
  const width = chip(pen, `     ${label}`, right, y, { back: colours.amb, ink: colours["on-plugin"] });
  drawIcon(pen.context, "crown", right - width + 7, y - 6.5, 12, colours["on-plugin"]);
  return width;
}

/**
 * The winner where nothing was scored.
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {Scene["alone"]} why
 */
function only(pen, box, why) {
  const y = box.y + box.h - 18;
  drawIcon(pen.context, "crown", box.x + PAD, y - 7, 13, pen.colours.amb);
  const look = { weight: 600, colour: pen.colours.ambt };
  const whole = text(pen.lang, `stage.${why}`);
  const said = fits(pen, whole, box.w - 2 * PAD - 18, look) ? whole : text(pen.lang, `stage.${why}Short`);
  write(pen, said, box.x + PAD + 18, y, { ...look, width: box.w - 2 * PAD - 18 });
}

/**
 * Level 3: name, total or a short reason, pods as dots, one bar; bars of all resources where a tall one has room for them.
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {NodeModel} node
 * @param {TileState} state
 */
export function drawSmallTile(pen, box, node, state) {
  const { colours } = pen;
  const { scene } = state;
  frame(pen, box, node, state, 6);
  const { x, y, w, h } = box;
  const refused = scene?.feasible === false;
  const amber = scene?.tied || scene?.winner;
  const said = state.trial ? byOf(state.trial, pen.lang) || text(pen.lang, state.trial.verdict === "out" ? "trial.refused" : "trial.fits") : refused ? shortReason(scene.reason, scene.plugin) : scene && scene.segments.length > 0
    ? String(scene.total) : node.unschedulable ? "cordon" : node.trouble?.ready === "Unknown" ? "Unknown" : node.ready ? "" : "NotReady";
  const tall = h >= TALL;
  const taken = said && !tall ? write(pen, said, x + w - 7, y + 12, {
    weight: amber ? 600 : 400, colour: amber ? colours.ambt : colours.t2, align: "right",
  }) + 4 : 0;
  write(pen, node.name, x + 7, y + 12, { size: tall ? 13 : 12, weight: 600, width: w - 14 - taken, end: ending(node.name) });
  const wordsTop = said && tall ? tallWords(pen, box, state, said) : y + h;
  const podsEnd = glyphRows(pen, node.glyphs, { ...smallArea(box), dim: refused ? scene.dim : 0, selectedPod: state.selectedPod });
  const short = isOut(scene) ? scene?.details ?? [] : [];
  const rows = tall ? barRows(node, short, Math.floor((wordsTop - 16 - podsEnd) / BAR_PITCH.many) + 1) : [];
  bars(pen, node, rows, x + 7, wordsTop - 10 - barPitch(rows) * (rows.length - 1), w - 14, short);
  if (tall && state.cycle && scene?.segments.length) scoreBar(pen, scene.segments, state.cycle.pointsMax, x + 7, y + h - 11, w - 14, 6);
  else if (rows.length === 0) bar(pen, node.cpuMilli ? node.cpuUsed / node.cpuMilli : 0, x + 7, y + h - 9, w - 14, 4, usedShare(node, "cpu"));
  if (state.trial) trialFrame(pen, box, state.trial, 6);
}

/**
 * What is said of a tall small tile, with a line of its own: the total in large figures, why not as far as whole words fit.
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {TileState} state
 * @param {string} said in one word or number
 * @returns {number} its upper edge
 */
function tallWords(pen, { x, y, w, h }, { scene, trial }, said) {
  const { colours } = pen;
  const bottom = y + h - 21;
  if (!trial && scene?.segments.length && scene.feasible) {
    const lit = scene.tied || scene.winner;
    const width = write(pen, said, x + 7, bottom, { size: 17, weight: 600, colour: lit ? colours.ambt : colours.t1 });
    if (scene.winner) drawIcon(pen.context, "crown", x + 7 + width + 5, bottom - 7, 14, colours.amb);
    else if (scene.tied) write(pen, "=", x + 7 + width + 6, bottom, { size: 15, weight: 600, colour: colours.ambt });
    return bottom - 9;
  }
  pen.context.font = `500 11px ${colours.font}`;
  const lines = trial || scene?.feasible !== false ? [said] : wrap(pen, scene.reason, w - 14, TALL_LINES);
  const whole = lines.some((line) => line.endsWith("…")) ? [said] : lines;
  whole.toReversed().forEach((line, index) => write(pen, line, x + 7, bottom - 12 * index, { weight: 500, colour: colours.t1, width: w - 14 }));
  return bottom - 12 * (whole.length - 1) - 7;
}

/** @param {TileBox} box */
export function smallArea(box) {
  const rows = box.h >= TALL ? Math.max(1, Math.floor((box.h - 60) / 12)) : 3;
  return { x: box.x + 7, y: box.y + 23, w: box.w - 14, rows, size: 9, pitch: 12 };
}

/**
 * The heading of a zone: its name and how many of its nodes fit.
 * @param {Pen} pen
 * @param {{name: string, x: number, y: number, w: number}} zone
 * @param {readonly string[]} details the same in fewer and fewer words
 */
export function drawZone(pen, zone, details) {
  const name = zone.name || text(pen.lang, "stage.noZone");
  pen.context.font = `600 13px ${pen.colours.font}`;
  const shown = fit(pen, name, zone.w - 10);
  write(pen, shown, zone.x, zone.y + 9, { size: 13, weight: 600 });
  const at = zone.x + widthOf(pen, shown) + 8;
  const room = Math.max(0, zone.x + zone.w - at);
  pen.context.font = `400 12px ${pen.colours.font}`;
  const detail = details.find((one) => widthOf(pen, one) <= room) ?? details.at(-1) ?? "";
  write(pen, detail, at, zone.y + 9, { size: 12, colour: pen.colours.t2, width: room });
}
