/** You are the scheduler: the queue at the left, nodes at the right; drag a pod to a node, or choose both with the keyboard. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { HandPod, NodeRoom, Result, Round } from "./byhand_model.js" */
import { element, icon, returnFocus, setText } from "../dom/dom.js";
import { counted, text } from "../lib/text.js";
import { partedText, refusedText, sizeText, sumsOf, target, waiting } from "./byhand_model.js";

/**
 * @param {object} given
 * @param {Lang} given.lang
 * @param {boolean} given.leads who may begin a round
 * @param {string | null} given.slug of who has a queue of their own; null: who sees all
 * @param {() => Promise<Round | null>} given.read
 * @param {(queues: "one" | "seats") => Promise<void>} given.begin
 * @param {(pod: string, node: string) => Promise<{refusals?: any[], message?: string}>} given.place empty: placed
 * @param {() => Promise<Result>} given.result
 */
export function openByHand({ lang, leads, slug, read, begin, place, result }) {
  const before = document.activeElement;
  const t = (/** @type {string} */ key, /** @type {Record<string, string>} */ values = {}) => text(lang, key, values);
  /** @type {Round | null} */
  let round = null;
  let hand = "";
  const said = element("p", { class: "bh-said", role: "status", "data-testid": "byhand-said" });
  const queue = element("ul", { class: "bh-queue", "data-testid": "byhand-queue", "aria-label": t("rules.queue") });
  const board = element("ul", { class: "bh-nodes", "data-testid": "byhand-nodes", "aria-label": t("rules.nodes") });
  const left = element("p", { class: "hint" });
  const outcome = element("div", { class: "bh-outcome", "data-testid": "byhand-result" });
  const tools = element("div", { class: "bh-tools" }, [
    leads ? element("button", { class: "button", type: "button", "data-testid": "byhand-begin", onclick: () => void start("one") }, t("rules.begin_one")) : null,
    leads ? element("button", { class: "button", type: "button", "data-testid": "byhand-begin-seats", onclick: () => void start("seats") }, t("rules.begin_seats")) : null,
    element("button", { class: "primary", type: "button", "data-testid": "byhand-compare", onclick: () => void compare() }, t("rules.compare")),
  ]);
  const close = element("button", { class: "ghost", type: "button", "aria-label": t("close"), onclick: () => dialog.close() }, icon("close"));
  const dialog = element("dialog", { class: "rw bh", "aria-labelledby": "bh-title", "data-testid": "byhand" }, [
    element("header", {}, [element("h2", { id: "bh-title" }, t("rules.by_hand")), tools, close]),
    said, element("div", { class: "bh-board" }, [element("section", {}, [element("h3", {}, t("rules.queue")), left, queue]), element("section", {}, [element("h3", {}, t("rules.nodes")), board])]),
    outcome,
  ]);
  dialog.addEventListener("close", () => {
    dialog.remove();
    returnFocus(before);
  });
  document.body.append(dialog);
  dialog.showModal();
  void refresh();
  return { dialog, refresh };

  async function refresh() {
    round = await read();
    draw();
  }

  function draw() {
    const pods = round ? waiting(round, slug) : [];
    if (!pods.some(({ key }) => key === hand)) hand = "";
    setText(left, round ? counted(lang, "rules.left", { count: pods.length }) : t("rules.no_round"));
    queue.replaceChildren(...pods.map((pod) => podCard(pod, pod.key === hand, t, take, (key) => { hand = key; })));
    const inHand = pods.find(({ key }) => key === hand) ?? null;
    board.replaceChildren(...(round?.nodes ?? []).map((node) => nodeCard(node, inHand, lang, (name, key) => {
      hand = key || hand;
      void drop(name);
    })));
  }

  /** @param {string} key */
  function take(key) {
    hand = key;
    draw();
    /** @type {HTMLElement | null} */ (key ? board.querySelector("button") : queue.querySelector("button"))?.focus();
  }

  /** @param {string} node */
  async function drop(node) {
    const pod = round?.pods.find(({ key }) => key === hand);
    if (!pod) return setText(said, t("rules.take_first"));
    const answer = await place(pod.key, node);
    said.classList.toggle("bad", Boolean(answer.refusals ?? answer.message));
    if (answer.refusals) setText(said, refusedText(answer.refusals, pod.name, node, lang));
    else setText(said, answer.message ?? t("rules.placed", { pod: pod.name, node }));
    if (!answer.refusals && !answer.message) hand = "";
    await refresh();
    /** @type {HTMLElement | null} */ (queue.querySelector("button"))?.focus();
  }

  /** @param {"one" | "seats"} queues */
  async function start(queues) {
    await begin(queues);
    outcome.replaceChildren();
    await refresh();
  }

  async function compare() {
    const told = await result().catch((/** @type {Error} */ problem) => problem);
    if (told instanceof Error) return setText(said, told.message);
    outcome.replaceChildren(...sheet(told, lang, t));
    outcome.scrollIntoView?.({ block: "nearest" });
  }
}

/** @typedef {(key: string, values?: Record<string, string>) => string} Translate */

/**
 * @param {HandPod} pod
 * @param {boolean} held
 * @param {Translate} t
 * @param {(key: string) => void} take with the keyboard or a tap; empty: let go
 * @param {(key: string) => void} drag
 */
function podCard(pod, held, t, take, drag) {
  const button = element("button", {
    class: "bh-pod", type: "button", draggable: "true", "data-testid": "byhand-pod", "aria-pressed": String(held),
    onclick: () => take(held ? "" : pod.key),
    ondragstart: (/** @type {DragEvent} */ event) => {
      event.dataTransfer?.setData("text/plain", pod.key);
      drag(pod.key);
    },
  }, [element("b", {}, pod.name), element("span", {}, sizeText(pod)), pod.priority > 0 ? element("span", { class: "bh-first" }, t("rules.important")) : null]);
  return element("li", {}, button);
}

/**
 * @param {NodeRoom} node
 * @param {HandPod | null} pod in hand
 * @param {Lang} lang
 * @param {(node: string, pod: string) => void} drop a pod's key that was dragged, else empty
 */
function nodeCard(node, pod, lang, drop) {
  const told = target(node, pod, lang);
  const meter = (/** @type {string} */ label, /** @type {number} */ now, /** @type {number} */ then) => {
    const [used, more] = [element("span", { class: "used" }), element("span", { class: "more" })];
    used.style.width = `${100 * now}%`;
    more.style.width = `${100 * Math.max(0, then - now)}%`;
    return element("span", { class: "bh-meter" }, [element("span", {}, label), element("span", { class: "track", "aria-hidden": "true" }, [used, more])]);
  };
  const button = element("button", {
    class: "bh-node", type: "button", "data-testid": "byhand-node", "data-node": node.name,
    onclick: () => drop(node.name, ""),
    ondragover: (/** @type {DragEvent} */ event) => event.preventDefault(),
    ondrop: (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      drop(node.name, event.dataTransfer?.getData("text/plain") ?? "");
    },
  }, [
    element("b", {}, told.name), meter("CPU", told.cpu, told.cpuThen), meter(text(lang, "rules.memory"), told.memory, told.memoryThen),
    element("span", { class: "hint" }, told.free),
  ]);
  return element("li", {}, button);
}

/**
 * @param {Result} told
 * @param {Lang} lang
 * @param {Translate} t
 */
function sheet(told, lang, t) {
  const head = ["", t("rules.you"), "kube-scheduler", t("rules.optimum")].map((one) => element("th", { scope: "col" }, one));
  const rows = sumsOf(told, lang).map(({ label, hand, engine, optimum }) => element("tr", {}, [
    element("th", { scope: "row" }, label), ...[hand, engine, optimum].map((one) => element("td", {}, one)),
  ]));
  return [
    element("table", {}, [element("thead", {}, element("tr", {}, head)), element("tbody", {}, rows)]),
    element("p", { "data-testid": "byhand-parted" }, partedText(told, lang)),
  ];
}
