/** You are the scheduler: the queue at the left, nodes at the right; drag a pod to a node, or choose both with the keyboard. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { HandPod, NodeRoom, Result, Round } from "./byhand_model.js" */
/** @import { Speak } from "./frame.js" */
import { element, icon, keepFocus, setText } from "../dom/dom.js";
import { text } from "../lib/text.js";
import { leftText, partedText, refusedText, sidesOf, sizeText, sumsOf, target, verdictText, waiting } from "./byhand_model.js";
import { openFrame } from "./frame.js";
import { barRow } from "./worlds.js";

/** Milliseconds after which it is looked again at what others have placed. */
const REFRESH_MS = 3000;

/**
 * @param {object} given
 * @param {Speak} given.speak
 * @param {boolean} given.leads who may begin a round
 * @param {string | null} given.slug of who has a queue of their own; null: who sees all
 * @param {() => Promise<Round | null>} given.read
 * @param {(queues: "one" | "seats") => Promise<unknown>} given.begin
 * @param {(pod: string, node: string) => Promise<{refusals?: any[], message?: string}>} given.place empty: placed
 * @param {() => Promise<Result>} given.result
 */
export function openByHand({ speak, leads, slug, read, begin, place, result }) {
  /** @type {Round | null} */
  let round = null;
  /** @type {Result | null} */
  let told = null;
  let hand = "";
  /** What was said last, in whichever language it is asked for. @type {{bad: boolean, words: (lang: Lang) => string}} */
  let news = { bad: false, words: () => "" };
  /** What was said when the round could not be read: it holds until it can. @type {typeof news | null} */
  let unread = null;
  /** @type {ReturnType<typeof parts>} */
  let now;
  const { dialog } = openFrame({ name: "bh", testId: "byhand", speak, build(lang) {
    now = parts(lang, { leads, start: (queues) => void start(queues), compare: () => void compare() });
    draw();
    return now;
  } });
  void refresh();
  // Others place pods of theirs on the same nodes.
  const listens = setInterval(() => void refresh(), REFRESH_MS);
  dialog.addEventListener("close", () => clearInterval(listens));
  return { dialog, refresh };

  async function refresh() {
    const fresh = await orRefusal(read());
    if (fresh instanceof Error) {
      tell(true, () => fresh.message);
      return void (unread = news);
    }
    if (unread && news === unread) tell(false, () => "");
    unread = null;
    if (JSON.stringify(fresh) === JSON.stringify(round) && dialog.dataset["read"]) return;
    dialog.dataset["read"] = "";
    // What came of a round is as of the moment at which it was asked.
    if (fresh?.round !== round?.round) told = null;
    round = fresh;
    draw();
  }

  function draw() {
    const { lang, t, queue, board, outcome } = now;
    const pods = round ? waiting(round, slug) : [];
    if (!pods.some(({ key }) => key === hand)) hand = "";
    tellStanding(now, { round, left: pods.length, news, leads });
    const inHand = pods.find(({ key }) => key === hand) ?? null;
    keepFocus(queue, () => queue.replaceChildren(...pods.map((pod) => podCard(pod, pod.key === hand, t, take, (key) => { hand = key; }))));
    keepFocus(board, () => board.replaceChildren(...(round?.nodes ?? []).map((node) => nodeCard(node, inHand, lang, (name, key) => {
      hand = key || hand;
      void drop(name);
    }))));
    keepFocus(outcome, () => outcome.replaceChildren(...(told && round ? sheet(told, round, lang, t) : [])));
  }

  /** @param {string} key */
  function take(key) {
    hand = key;
    draw();
    /** @type {HTMLElement | null} */ (key ? now.board.querySelector("button") : now.queue.querySelector("button"))?.focus();
  }

  /** @param {string} node */
  async function drop(node) {
    const pod = round?.pods.find(({ key }) => key === hand);
    if (!pod) return tell(false, (lang) => text(lang, "rules.take_first"));
    const { refusals, message } = await place(pod.key, node);
    if (refusals) tell(true, (lang) => refusedText(refusals, pod.name, node, lang));
    else tell(Boolean(message), (lang) => message ?? text(lang, "rules.placed", { pod: pod.name, node }));
    if (!refusals && !message) [hand, told] = ["", null];
    await refresh();
    /** @type {HTMLElement | null} */ (now.queue.querySelector("button") ?? now.compareButton)?.focus();
  }

  /** @param {boolean} bad @param {(lang: Lang) => string} words */
  function tell(bad, words) {
    news = { bad, words };
    draw();
  }

  /** @param {"one" | "seats"} queues */
  async function start(queues) {
    const begun = await orRefusal(begin(queues));
    if (begun instanceof Error) return tell(true, (lang) => (nobodyThere(begun) ? text(lang, "rules.no_seats") : begun.message));
    told = null;
    tell(false, () => "");
    await refresh();
  }

  async function compare() {
    tell(false, (lang) => text(lang, "rules.comparing"));
    const answer = await orRefusal(result());
    if (answer instanceof Error) return tell(true, () => answer.message);
    await refresh();
    told = answer;
    tell(false, () => "");
    now.outcome.scrollIntoView?.({ block: "start" });
  }
}

/**
 * What was said last, how many pods are left, and the button that ends the round.
 * @param {ReturnType<typeof parts>} now
 * @param {{round: Round | null, left: number, news: {bad: boolean, words: (lang: Lang) => string}, leads: boolean}} standing
 */
function tellStanding({ lang, t, said, left, board, compareButton }, { round, left: pods, news, leads }) {
  said.classList.toggle("bad", news.bad);
  setText(said, news.words(lang));
  setText(left, !round ? t(leads ? "rules.no_round_yet" : "rules.no_round") : leftText(round, pods, lang));
  compareButton.hidden = !round;
  board.parentElement?.toggleAttribute("hidden", !round);
  compareButton.className = pods ? "button" : "primary";
}

/**
 * What some work answers, or why it does not.
 * @template T
 * @param {Promise<T>} work
 * @returns {Promise<T | Error>}
 */
const orRefusal = (work) => work.catch((/** @type {Error} */ refusal) => refusal);

/** Whether a round for each seat is refused because there is none. @param {Error & {status?: {code?: number}}} refusal */
const nobodyThere = ({ status }) => status?.code === 422;

/**
 * What stands in the dialog, in one language.
 * @param {Lang} lang
 * @param {{leads: boolean, start: (queues: "one" | "seats") => void, compare: () => void}} given
 */
function parts(lang, { leads, start, compare }) {
  const t = (/** @type {string} */ key, /** @type {Record<string, string>} */ values = {}) => text(lang, key, values);
  const said = element("p", { class: "bh-said", role: "status", "data-testid": "byhand-said" });
  const queue = element("ul", { class: "bh-queue", "data-testid": "byhand-queue", "aria-label": t("rules.queue") });
  const board = element("ul", { class: "bh-nodes", "data-testid": "byhand-nodes", "aria-label": t("rules.nodes") });
  const left = element("p", { class: "hint bh-left" });
  const outcome = element("div", { class: "bh-outcome", "data-testid": "byhand-result" });
  const compareButton = element("button", { class: "primary", type: "button", "data-testid": "byhand-compare", onclick: compare }, t("rules.compare"));
  const tools = element("div", { class: "bh-tools" }, [
    leads ? element("button", { class: "button", type: "button", "data-testid": "byhand-begin", onclick: () => start("one") }, t("rules.begin_one")) : null,
    leads ? element("button", { class: "button", type: "button", "data-testid": "byhand-begin-seats", onclick: () => start("seats") }, t("rules.begin_seats")) : null,
    compareButton,
  ]);
  return {
    lang, t, said, queue, board, left, outcome, compareButton,
    head: [element("h2", { id: "rw-title" }, t("rules.by_hand")), tools],
    body: [
      said, element("div", { class: "bh-board" }, [element("section", {}, [element("h3", {}, t("rules.queue")), left, queue]), element("section", {}, [element("h3", {}, t("rules.nodes")), board])]),
      outcome,
    ],
  };
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
    class: "bh-pod", type: "button", draggable: "true", "data-testid": "byhand-pod", "data-at": pod.key, "aria-pressed": String(held),
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
    class: "bh-node", type: "button", "data-testid": "byhand-node", "data-node": node.name, "data-at": `node ${node.name}`,
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
 * @param {Round} round
 * @param {Lang} lang
 * @param {Translate} t
 */
function sheet(told, round, lang, t) {
  const head = [element("td"), ...[t("rules.you"), "kube-scheduler", t("rules.optimum")].map((one) => element("th", { scope: "col" }, one))];
  const rows = sumsOf(told, lang).map(({ label, hand, engine, optimum }) => element("tr", {}, [
    element("th", { scope: "row" }, label), ...[hand, engine, optimum].map((one) => element("td", {}, one)),
  ]));
  return [
    element("section", { class: "rw-card" }, [
      element("p", { class: "bh-verdict", "data-testid": "byhand-verdict" }, verdictText(told, lang)),
      element("p", { "data-testid": "byhand-parted" }, partedText(told, lang)),
      element("table", {}, [element("thead", {}, element("tr", {}, head)), element("tbody", {}, rows)]),
      told.optimum.problem ? element("p", { class: "hint" }, text(lang, "rules.no_optimum", { why: told.optimum.problem })) : null,
    ]),
    element("div", { class: "bh-sides" }, sidesOf(told, round, lang).map((side) => element("section", { class: `rw-card rw-world ${side.id === "engine" ? "real" : side.id === "hand" ? "own" : ""}`, "data-testid": `byhand-${side.id}` }, [
      element("div", { class: "rw-head" }, [side.id === "engine" ? icon("crown") : null, element("h3", {}, side.title), element("span", { class: "bh-placed" }, side.placed)]),
      element("ul", { class: "rw-bars" }, side.bars.map((bar) => barRow(bar, t))),
      side.waits ? element("p", { class: "hint" }, side.waits) : null,
    ]))),
  ];
}
