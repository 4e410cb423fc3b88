/** The picture of a lesson's card, drawn from the package's data in the page's own vocabulary. */

/** @import { Art } from "./model.js" */
import { svg } from "../../dom/svg.js";
import { across } from "./model.js";

const WIDTH = 200;
const HEIGHT = 72;
const HUES = /** @type {Record<string, string>} */ ({
  blue: "--owner-1", sky: "--owner-2", pink: "--owner-3", green: "--owner-4", grey: "--owner-5", purple: "--owner-6", accent: "--acc",
});
/** Parts of a sum, in order. */
const SUM_HUES = ["pink", "grey", "sky", "green"];

/** @param {string} hue */
const paint = (hue) => `var(${HUES[hue] ?? "--owner-5"})`;

/** @typedef {(art: Art) => SVGElement[]} Draw */

/** @type {Record<string, Draw>} */
const KINDS = { bars, totals, hub, crown, rail, grid };

/**
 * @param {Art | null} art
 * @returns {SVGElement} an empty picture where the kind is not known
 */
export function artOf(art) {
  const draw = art ? KINDS[art.kind] : undefined;
  const root = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "lesson-art", "aria-hidden": "true" });
  if (art && draw) for (const part of draw(art)) root.append(part);
  return root;
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {string} className
 * @param {string} [hue]
 */
function box(x, y, width, height, className, hue) {
  const made = svg("rect", { x, y, width: Math.max(0, width), height, rx: 2.5, class: className });
  // By the object model: the page's policy forbids style attributes.
  if (hue) made.style.fill = paint(hue);
  return made;
}

/** Nodes of few pods: width = CPU requested; a frame around the columns that have to become free. @type {Draw} */
function bars({ rows = [], columns = 4, frame }) {
  const left = 34;
  const unit = (WIDTH - 2 * left) / across(columns, frame);
  const height = Math.min(14, (HEIGHT - 20) / Math.max(1, rows.length) - 4);
  const step = height + 5;
  const top = (HEIGHT - step * rows.length + 5) / 2;
  const drawn = rows.flatMap(({ parts }, row) => {
    let at = left;
    return parts.map((part) => {
      const { width, hue } = typeof part === "number" ? { width: part, hue: "grey" } : part;
      const made = box(at, top + row * step, width * unit - 1, height, hue === "green" ? "art-quiet" : "", hue);
      at += width * unit;
      return made;
    });
  });
  const [from, to] = frame ?? [];
  if (from === undefined || to === undefined) return drawn;
  return [...drawn, box(left + from * unit - 2, top - 4, (to - from) * unit + 3, step * rows.length + 3, "art-frame")];
}

/** Sums of scores, the best in amber. @type {Draw} */
function totals({ rows = [], data }) {
  const most = Math.max(1, ...rows.map(({ total = 0 }) => total));
  const step = (HEIGHT - 12) / Math.max(1, rows.length);
  return rows.flatMap(({ label = "", parts, total = 0 }, row) => {
    const y = 8 + row * step;
    let at = 42;
    const bar = parts.map((part, index) => {
      const amount = typeof part === "number" ? part : part.width;
      const made = box(at, y, (amount / most) * 108 - 1, 13, "", SUM_HUES[index] ?? "grey");
      at += (amount / most) * 108;
      return made;
    });
    const best = data?.["best"] === label;
    return [
      svg("text", { x: 18, y: y + 11, class: "art-label", text: label }), ...bar, best && box(39, y - 3, at - 36, 19, "art-best"),
      svg("text", { x: at + 8, y: y + 11, class: best ? "art-label art-won" : "art-label art-number", text: total }),
    ].filter((one) => one !== false);
  });
}

/** One centre, and who watches it. @type {Draw} */
function hub({ data }) {
  /** @type {string[]} */
  const states = data?.["states"] ?? [];
  const gap = 68;
  const first = WIDTH / 2 - ((states.length - 1) * gap) / 2;
  return [
    box(72, 7, 56, 20, "art-centre"), svg("path", { d: "M80 14h30M80 20h22", class: "art-ink" }),
    ...states.flatMap((state, at) => {
      const x = first + at * gap;
      return [
        svg("path", { d: `M${WIDTH / 2} 29L${x} 44`, class: "art-thin" }), box(x - 16, 46, 32, 17, "art-box"),
        svg("rect", { x: x - 4.5, y: 50, width: 9, height: 9, rx: 2, class: `art-pod art-${state}` }),
      ];
    }),
  ];
}

/** Replicas, their leader, and how much of its lease is left. @type {Draw} */
function crown({ data }) {
  const replicas = Number(data?.["replicas"] ?? 3);
  const leader = Number(data?.["leader"] ?? 1);
  const lease = Number(data?.["lease"] ?? 1);
  const gap = 54;
  const first = WIDTH / 2 - ((replicas - 1) * gap) / 2;
  const x = first + (leader - 1) * gap;
  return [
    ...Array.from({ length: replicas }, (_, at) => box(first + at * gap - 18, 24, 36, 20, at === leader - 1 ? "art-centre" : "art-box")),
    svg("path", { d: `M${x - 9} 17v3h18v-3zM${x - 9} 8l5 4 4-6 4 6 5-4-1.5 8h-15z`, class: "art-crown" }),
    box(28, 53, 144, 8, "art-box"), box(28, 53, 144 * lease, 8, "art-lease"),
  ];
}

/** Extension points, one of them one's own. @type {Draw} */
function rail({ data }) {
  const points = Number(data?.["points"] ?? 7);
  const at = Number(data?.["at"] ?? 4);
  const wide = 164 / points;
  return Array.from({ length: points }, (_, index) => {
    const x = 18 + index * wide;
    const state = index + 1 < at ? "art-past" : index + 1 === at ? "art-own" : "art-box";
    return svg("path", { d: `M${x} 24h${wide - 6}l5 12-5 12h-${wide - 6}l5-12z`, class: state });
  });
}

/** Nodes in groups, so many of them filled. @type {Draw} */
function grid({ data }) {
  /** @type {{nodes: number, hue: string, filled: number}[]} */
  const groups = data?.["groups"] ?? [];
  const rows = 3;
  const columns = groups.reduce((sum, { nodes }) => sum + Math.ceil(nodes / rows), 0) + 0.4 * (groups.length - 1);
  const unit = Math.min(34, 180 / Math.max(1, columns));
  let left = (WIDTH - columns * unit) / 2;
  return groups.flatMap(({ nodes, hue, filled }) => {
    const start = left;
    left += (Math.ceil(nodes / rows) + 0.4) * unit;
    return Array.from({ length: nodes }, (_, at) => {
      const x = start + Math.floor(at / rows) * unit;
      const y = 8 + (at % rows) * 20;
      return [box(x, y, unit - 4, 16, "art-box"), ...(at < filled ? [box(x + 3, y + 3, (unit - 4) * 0.6, 10, "", hue)] : [])];
    }).flat();
  });
}
