/** What a what-if changes, written on the nodes and said over them: points or pods before and after, who would be chosen. */

/** @import { Dispatch, Lang, Trial, TrialNode, Ui } from "../lib/types.d.ts" */
/** @import { TileBox } from "./levels.js" */
/** @import { Model } from "./model.js" */
/** @import { Pen } from "./pen.js" */
import { setText } from "../dom/dom.js";
import { h, icon } from "../dom/h.js";
import { number, text } from "../lib/text.js";
import { roundRect } from "./glyphs.js";
import { chip, widthOf, write } from "./pen.js";

/** Height of the line at a tile's foot. */
export const TRIAL_ROW = 26;

/**
 * The what-if to show: only while the pod is selected that it was asked of.
 * @param {Pick<Ui, "selected" | "trial">} ui
 */
export function trialOf({ selected, trial }) {
  return trial && selected?.resource === "pods" && selected.key === trial.pod ? trial : null;
}

/**
 * What it makes of a node; null where nothing is to be said. Of many decisions every node has a number.
 * @param {Trial | null} trial
 * @param {string} node
 * @returns {TrialNode | null}
 */
export function trialAt(trial, node) {
  return trial ? trial.nodes.get(node) ?? (trial.last ? NO_PODS : null) : null;
}

/** @type {TrialNode} */
const NO_PODS = { was: 0, now: 0, verdict: "", reason: "", role: "" };

/**
 * The signed difference; "=" for none, "" where one side has no number.
 * @param {TrialNode} node
 * @param {Lang} lang
 */
export function byOf({ was, now }, lang) {
  if (was === null || now === null) return "";
  return now > was ? `+${number(lang, now - was)}` : now < was ? `−${number(lang, was - now)}` : "=";
}

/**
 * Before and after in short: points, pods, or the verdicts.
 * @param {TrialNode} node
 * @param {Lang} lang
 */
export function turnWords({ was, now, verdict, reason, role }, lang) {
  const side = (/** @type {number | null} */ value, /** @type {boolean} */ fits) =>
    value !== null ? number(lang, value) : text(lang, fits ? "trial.fits" : "trial.refused");
  if (verdict === "in") return `${text(lang, "trial.refused")} → ${side(now, true)}`;
  if (verdict === "out") return `${side(was, true)} → ${reason || text(lang, "trial.refused")}`;
  if (was === null && now === null) return text(lang, role === "had" ? "trial.leaves" : "trial.fits");
  return `${side(was, true)} → ${side(now, true)}`;
}

/**
 * The same as a sentence, for the table of nodes.
 * @param {Trial} trial
 * @param {TrialNode} node
 * @param {Lang} lang
 */
export function trialWords(trial, node, lang) {
  const by = byOf(node, lang);
  const turn = `${turnWords(node, lang)}${by ? ` (${by})` : ""}`;
  if (trial.last) return text(lang, "trial.ofLast", { n: number(lang, trial.last), turn });
  return [text(lang, "trial.ifSo", { turn }), node.role ? text(lang, `trial.${node.role}`) : ""].filter(Boolean).join(", ");
}

/**
 * The foot of a tile while a what-if is looked at, over whatever stood there.
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {TrialNode} node
 * @param {{last: number, pad: number}} how
 */
export function trialFoot(pen, box, node, { last, pad }) {
  const { colours, context, lang } = pen;
  const named = node.role && !last;
  const height = named ? 2 * TRIAL_ROW - 8 : TRIAL_ROW;
  const top = box.y + box.h - height - 1;
  context.fillStyle = colours.surf;
  roundRect(context, box.x + 2, top, box.w - 4, height, 6);
  context.fill();
  context.fillStyle = colours.line;
  context.fillRect(box.x + pad, top, box.w - 2 * pad, 1);
  const left = box.x + pad;
  const right = box.x + box.w - pad;
  let y = top + TRIAL_ROW / 2 + 1;
  if (named) {
    const would = node.role !== "had";
    write(pen, text(lang, `trial.${node.role}`), left, y, { weight: 600, colour: would ? colours.acc : colours.t2, width: right - left });
    y += TRIAL_ROW - 8;
  }
  const by = byOf(node, lang);
  const moved = by !== "" && by !== "=";
  const taken = by ? chip(pen, by, right, y, { back: moved ? colours.accbg : colours.sunk, ink: moved ? colours.acc : colours.t2 }) + 6 : 0;
  const words = turnWords(node, lang);
  context.font = `600 12px ${colours.font}`;
  const label = last ? text(lang, "trial.last", { n: number(lang, last) }) : "";
  context.font = `400 11px ${colours.font}`;
  const room = right - left - taken;
  const wide = label && widthOf(pen, label) + 70 < room ? write(pen, label, left, y, { colour: colours.t2 }) + 6 : 0;
  write(pen, words, wide ? right - taken : left, y, {
    size: 12, weight: 600, colour: node.verdict === "out" ? colours.t2 : colours.t1, width: room - wide, ...(wide ? { align: /** @type {const} */ ("right") } : {}),
  });
}

/**
 * The border of a node that would be chosen, or would get more pods than it got.
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {TrialNode} node
 * @param {number} radius
 */
export function trialFrame({ context, colours }, { x, y, w, h }, { was, now, role }, radius) {
  const gains = role === "would" || role === "stays" || (role === "" && (now ?? 0) > (was ?? 0));
  if (!gains) return;
  context.strokeStyle = colours.acc;
  context.lineWidth = role ? 3 : 1.5;
  roundRect(context, x + 1, y + 1, w - 2, h - 2, radius);
  context.stroke();
}

/**
 * Says over the nodes that they show a what-if, with the way back.
 * @param {HTMLElement} element
 * @param {Dispatch} dispatch
 */
export function mountTrialBar(element, dispatch) {
  const said = h("p");
  const back = h("button", {
    type: "button", class: "st-recall-back", "data-testid": "stage-trial-leave", onclick: () => dispatch({ type: "showTrial", trial: null }),
  });
  const bar = h("div", { class: "st-banner st-trial", "data-testid": "stage-trial" }, icon("layers", 16), said, back);
  bar.hidden = true;
  element.append(bar);
  return {
    /**
     * @param {Trial | null} trial
     * @param {Model} model
     * @param {Lang} lang
     */
    render(trial, model, lang) {
      bar.hidden = !trial;
      if (!trial) return;
      const pod = model.say(trial.pod);
      const [was, now] = trial.chosen.map((node) => node ?? text(lang, "trial.nowhere"));
      const [k, n] = trial.elsewhere;
      setText(said, trial.last ? text(lang, "trial.saidLast", { k: number(lang, k), n: number(lang, n) })
        : text(lang, was === now ? "trial.saidSame" : "trial.said", { pod, was: was ?? "", now: now ?? "" }));
      setText(back, text(lang, "trial.back"));
    },
  };
}
