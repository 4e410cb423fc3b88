/** The picture: boxes of components as buttons, arrows and what runs along them in SVG behind them. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Box } from "./layout.js" */
/** @import { Exchange, Part } from "./model.js" */
import { element, icon, setAttribute, setText, syncList } from "../dom/dom.js";
import { svg } from "../dom/svg.js";
import { text } from "../lib/text.js";
import { rove } from "../control/picking.js";
import { edgeOf, layoutOf } from "./layout.js";
import { inTurn, isRead, partOf, saidOf } from "./model.js";

/** How long a request is on its way to the API server, and a watch event from there, in real milliseconds. */
const WAY_MS = 900;
/** What runs at once at most; what comes beyond it lights its arrow only. */
const RUNNING_MAX = 24;
/** Requests of one component run one after the other, so far apart in real milliseconds, and at most so many of a moment. */
const APART_MS = 600;
/** What would have to wait longer for its arrow lights it only. */
const WAIT_MAX_MS = 2_400;
const TURNS_MAX = 4;
/** How long a refusal stands at the API server, in real milliseconds. */
const REFUSED_MS = 1_500;
/** Letters beyond so many CSS pixels are the wall's. */
const LARGE = 16;
/** Letters of a name beside what runs. */
const WORD_MAX = 30;
const WORD_MAX_LARGE = 18;
/** Arrows of one component lie so far apart: what it asks, and what it hears. */
const ASIDE = 4;

const ICONS = {
  server: "layers", store: "folder", scheduler: "step", manager: "bolt", kubelet: "node", proxy: "service", person: "users", session: "file",
  cloud: "screen", more: "more",
};
/** @type {Record<Exchange["verb"], string>} */
const VERBS = { create: "arch.create", write: "arch.write", delete: "arch.delete", get: "arch.get", list: "arch.lists", watch: "arch.watches" };
/** @type {Partial<Record<Part["kind"], string>>} */
const SUBS = {
  server: "arch.sub.server", store: "arch.sub.store", scheduler: "arch.sub.scheduler", manager: "arch.sub.manager", session: "arch.sub.session",
  person: "arch.sub.person", cloud: "arch.sub.cloud",
};

/** @typedef {{lang: Lang, still: boolean, chosen: string, revision: number, nodeCount: number}} Look */

export class Scene {
  /** @param {(id: string) => void} choose */
  constructor(choose) {
    this.choose = choose;
    // Arrows lie under the boxes, what runs along them over all.
    this.arrows = svg("svg", { class: "arch-picture", "aria-hidden": "true" });
    this.running = svg("svg", { class: "arch-picture", "aria-hidden": "true" });
    /** When each arrow is free for what comes next, in real milliseconds. @type {Map<string, number>} */
    this.free = new Map();
    this.frames = element("div", { "aria-hidden": "true" });
    this.boxes = element("div", { class: "arch-boxes", role: "group", "data-testid": "architecture" });
    this.root = element("div", { class: "arch-scene" }, this.frames, this.arrows, this.boxes, this.running);
    /** @type {Map<string, Box>} */
    this.places = new Map();
    /** @type {readonly Part[]} */
    this.parts = [];
    this.drawn = "";
    this.large = false;
    this.look = /** @type {Look} */ ({ lang: "en", still: false, chosen: "", revision: 0, nodeCount: 0 });
    /** What each part said last. @type {Map<string, string>} */
    this.said = new Map();
    this.boxes.addEventListener("keydown", (event) => this.key(event));
    this.boxes.addEventListener("focusin", () => rove(this.boxes, /** @type {HTMLElement} */ (document.activeElement)));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const all = /** @type {HTMLElement[]} */ ([...this.boxes.children]);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (!step || at < 0) return;
    event.preventDefault();
    all[(at + step + all.length) % all.length]?.focus();
  }

  /** @param {Part} part */
  subOf({ id, kind, leads, down }) {
    const { lang, revision, nodeCount } = this.look;
    const said = this.said.get(id);
    if (said !== undefined) return said;
    if (kind === "proxy") return text(lang, down ? "arch.unused" : "arch.inUse");
    if (down) return text(lang, "arch.down");
    if (kind === "manager" || kind === "scheduler") return text(lang, leads ? "arch.leads" : "arch.follows");
    if (kind === "store") return text(lang, "arch.revision", { rv: String(revision) });
    if (kind === "cloud") return text(lang, "arch.machines", { n: nodeCount });
    const sub = SUBS[kind];
    return sub ? text(lang, sub) : "";
  }

  /** @param {Part} part */
  nameOf({ kind, name }) {
    const { lang } = this.look;
    if (kind === "cloud") return text(lang, "arch.cloud");
    if (kind === "more") return text(lang, "arch.moreNodes", { n: name });
    // Large letters leave no room for what all of them begin with.
    return this.large && kind !== "server" ? name.replace(/^kube-/, "") : name;
  }

  drawBoxes() {
    const { boxes, places } = this;
    setAttribute(boxes, "aria-label", text(this.look.lang, "arch.label"));
    syncList(boxes, this.parts.filter(({ id }) => places.has(id)), ({ id }) => id, ({ id, kind, hue, node }) => element("button", {
      type: "button", class: `arch-box is-${kind}`, "data-part": id, "data-color": hue || undefined, onclick: () => this.choose(id),
    }, element("b", {}, icon(ICONS[kind], 12), element("span")), node ? element("span", { class: "sr-only" }, ` ${node} `) : " ",
    element("small")), (box, part) => {
      put(box, /** @type {Box} */ (places.get(part.id)));
      box.classList.toggle("leads", part.leads);
      box.classList.toggle("down", part.down);
      setAttribute(box, "aria-pressed", String(part.id === this.look.chosen));
      setAttribute(box, "title", [this.nameOf(part), part.node].filter(Boolean).join(", "));
      setText(/** @type {Element} */ (box.querySelector("b span")), this.nameOf(part));
      setText(/** @type {Element} */ (box.querySelector("small")), this.subOf(part));
    });
    rove(boxes, boxes.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement) : null);
    syncList(this.frames, [...places].filter(([id]) => id.startsWith("node/")), ([id]) => id,
      ([id]) => element("div", { class: "arch-node" }, id.slice("node/".length)), (frame, [, place]) => put(frame, place));
  }

  drawArrows() {
    const server = /** @type {Box} */ (this.places.get("kube-apiserver"));
    this.arrows.replaceChildren(...this.parts.flatMap(({ id, kind, watches, down }) => {
      const place = this.places.get(id);
      // The machines of the cloud are nobody's client: there is no arrow to them.
      if (!place || kind === "server" || kind === "cloud") return [];
      const ask = svg("line", { ...edgeOf(place, server, ASIDE), class: down ? "ask down" : "ask", "data-edge": `${id}>` });
      return watches.length > 0 ? [ask, svg("line", { ...edgeOf(server, place, ASIDE), class: "hear", "data-edge": `>${id}` })] : [ask];
    }));
  }

  /**
   * Something goes from one part to another.
   * @param {string} from
   * @param {string} to
   * @param {string} kind
   * @param {string} word
   * @param {() => void} arrived
   */
  run(from, to, kind, word, arrived) {
    const edge = to === "kube-apiserver" ? `${from}>` : to === "store" ? "store>" : `>${to}`;
    this.arrows.querySelector(`[data-edge="${CSS.escape(edge)}"]`)?.classList.add("lit");
    const [a, b] = [this.places.get(from), this.places.get(to)];
    const nowMs = performance.now();
    const delay = word ? Math.max(0, (this.free.get(edge) ?? 0) - nowMs) : 0;
    if (!a || !b || this.look.still || delay > WAIT_MAX_MS || this.running.childElementCount >= RUNNING_MAX) return arrived();
    if (word) this.free.set(edge, nowMs + delay + APART_MS);
    const { x1, y1, x2, y2 } = edgeOf(a, b, ASIDE);
    const label = word ? svg("text", { y: -9, text: word }) : null;
    const dot = svg("g", { class: `arch-dot ${kind}` }, svg("circle", { r: 5 }), label);
    this.running.append(dot);
    // Arrows come together at the API server: what they say is gone by then.
    label?.animate([{ opacity: 0 }, { opacity: 1, offset: 0.15 }, { opacity: 1, offset: 0.65 }, { opacity: 0 }], { duration: WAY_MS, delay, fill: "both" });
    dot.animate([{ transform: `translate(${x1}px, ${y1}px)` }, { transform: `translate(${x2}px, ${y2}px)` }], {
      duration: WAY_MS, delay, easing: "ease-in-out", fill: "backwards",
    }).finished.then(() => {
      dot.remove();
      arrived();
    }, () => dot.remove());
  }

  /** @param {string} code */
  refuse(code) {
    const server = this.places.get("kube-apiserver");
    if (!server || this.look.still) return;
    const cross = svg("g", { class: "arch-dot refused", transform: `translate(${server.x} ${server.y - server.height / 2 - 8})` },
      svg("path", { d: "M-5 -5l10 10m0 -10l-10 10" }), svg("text", { y: -8, text: code }));
    this.running.append(cross);
    cross.animate([{ opacity: 1 }, { opacity: 1 }], { duration: REFUSED_MS }).finished.then(() => cross.remove(), () => cross.remove());
  }

  /**
   * @param {readonly Part[]} parts
   * @param {Look} look
   * @param {{width: number, height: number, size: number}} field
   */
  render(parts, look, field) {
    this.parts = parts;
    this.look = look;
    setAttribute(this.root, "data-still", String(look.still));
    const sign = JSON.stringify([parts.map(({ id, watches, down }) => [id, watches.length > 0, down]), field]);
    if (sign !== this.drawn) {
      this.drawn = sign;
      this.large = field.size > LARGE;
      this.places = layoutOf(parts, field.width, field.height, field.size);
      for (const picture of [this.arrows, this.running]) setAttribute(picture, "viewBox", `0 0 ${field.width} ${field.height}`);
      this.running.replaceChildren();
      this.drawArrows();
    }
    this.drawBoxes();
  }

  /**
   * Show what was just said, as it runs.
   * @param {readonly Exchange[]} exchanges
   */
  tell(exchanges) {
    for (const line of this.arrows.children) line.classList.remove("lit");
    for (const exchange of inTurn(exchanges, TURNS_MAX)) this.say(exchange);
    this.drawBoxes();
  }

  /** @param {Exchange} exchange */
  say(exchange) {
    const { breath, aside, code, heard } = exchange;
    const part = partOf(exchange.actor, this.parts);
    if (!part || !this.places.has(part.id)) return;
    const word = saidOf(exchange, text(this.look.lang, VERBS[exchange.verb]));
    const quiet = breath || aside;
    if (!quiet) this.said.set(part.id, code >= 400 ? `${word}: ${code}` : word);
    const kind = code >= 400 ? "refused" : quiet ? "breath" : "request";
    this.run(part.id, "kube-apiserver", kind, quiet ? "" : shortened(word, this.large ? WORD_MAX_LARGE : WORD_MAX), () => {
      if (code >= 400) return this.refuse(String(code));
      if (isRead(exchange)) return;
      this.run("kube-apiserver", "store", kind, "", () => {
        for (const id of heard) this.run("kube-apiserver", id, "event", "", () => {});
      });
    });
  }
}

/**
 * @param {string} word
 * @param {number} most letters
 */
function shortened(word, most) {
  return word.length > most ? `${word.slice(0, most - 1)}…` : word;
}

/**
 * @param {HTMLElement} made
 * @param {Box} place
 */
function put(made, { x, y, width, height }) {
  Object.assign(made.style, { left: `${x - width / 2}px`, top: `${y - height / 2}px`, width: `${width}px`, height: `${height}px` });
}
