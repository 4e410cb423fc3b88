/** The poll on the projector: the question and how many have voted; after the reveal both votes and the engine's answer. */

/** @import { Poll } from "../../lib/class.d.ts" */
/** @import { Ui, View } from "../../lib/types.d.ts" */
/** @import { Ballot } from "./model.js" */
/** @import { Input } from "./ballot.js" */
import { append, breakable, element, icon, setAttribute, setText, syncList } from "../../dom/dom.js";
import { ring, setRing } from "../../dom/h.js";
import { pluginLook } from "../../lib/hues.js";
import { listed, number, text } from "../../lib/text.js";
import { pluginHues } from "../../state/selectors.js";
import { tellProse } from "../lesson/prose.js";
import { podLine } from "./ballot.js";
import { countsOf } from "./counts.js";
import { factsBar, factsLine, freeLines, partsOf } from "./facts.js";
import { ballotOf } from "./model.js";
import { barList, sayLine, tellWhy, unchosen } from "./outcome.js";
import { answerTitle, classLine, leading } from "./told.js";
import { mountWorld, worldOf } from "./world.js";

/** Nodes whose points are drawn. */
const ROWS_MAX = 5;

/** One picture at a time, with no control on it. */
export function mountWall() {
  const question = element("h2", { "data-testid": "wall-question" });
  const pod = element("p", { class: "wall-pod" });
  const asked = askedPart();
  const answered = answeredPart();
  const root = element("section", { class: "wall", "data-testid": "wall-poll" },
    element("div", { class: "wall-page" }, [element("header", {}, [question, pod]), asked.element, answered.element]));
  root.hidden = true;
  return {
    element: root,
    /** @param {Input} input */
    render({ view, ui, state: { poll, lesson }, unixMs, alone }) {
      root.hidden = !poll;
      if (!poll) return;
      const ballot = ballotOf({ poll, kept: null, unixMs, seat: "", lang: ui.lang, votes: false, alone, deciding: lesson?.step?.phase === "wait" });
      setAttribute(root, "data-state", ballot.state);
      setAttribute(root, "aria-label", ballot.question);
      setText(question, ballot.question);
      setText(pod, podLine(view, poll.pod, ui));
      asked.render(ballot, view, ui, worldOf(view, { poll, lesson }, ui));
      const told = lesson?.poll === poll.id && lesson.step?.phase !== "ask" ? leading(lesson.step?.reveal ?? []) : [];
      answered.render(ballot.state === "revealed" ? poll : null, view, ui, told);
    },
  };
}

/** While people vote: the answers as the snapshot has them, and how many have voted. */
function askedPart() {
  const list = element("ol", { class: "wall-options" });
  const chip = element("span", { class: "chip accent" });
  const circle = ring(1, 44);
  const left = element("b", { class: "wall-left" });
  const voted = element("b", { class: "wall-voted" });
  const have = element("span");
  const next = element("p");
  const world = mountWorld();
  const root = element("div", { class: "wall-asked" }, [
    element("div", { class: "wall-question" }, [list, world.element]), element("aside", {}, [chip, element("div", { class: "wall-clock" }, [circle, left]), element("div", { class: "wall-count" }, [voted, have]), next]),
  ]);
  return {
    element: root,
    /**
     * @param {Ballot} ballot
     * @param {View} view
     * @param {Ui} ui
     * @param {ReturnType<typeof worldOf>} around what the question is about
     */
    render(ballot, view, ui, around) {
      root.hidden = ballot.state === "revealed";
      if (root.hidden) return;
      world.render(around);
      syncList(list, ballot.options, ({ id }) => id, ({ id }) => element("li", { "data-option": id }, [element("b"), element("span"), element("span", { class: "vote-facts" })]),
        (row, { id, label, facts }) => {
          setText(/** @type {Element} */ (row.children[0]), label);
          setText(/** @type {Element} */ (row.children[1]), factsLine(facts, ui.lang));
          const parts = partsOf(id, facts, view, ui.colourBy);
          const drawn = JSON.stringify([facts, parts, ui.lang]);
          if (row.dataset["told"] === drawn) return;
          row.dataset["told"] = drawn;
          const box = /** @type {Element} */ (row.children[2]);
          box.replaceChildren();
          append(box, [factsBar(parts), element("small", {}, freeLines(facts, ui.lang).join(" · "))]);
        });
      const open = ballot.state === "open";
      setText(chip, sayLine(ui, ballot.chip));
      circle.parentElement?.toggleAttribute("hidden", !open || ballot.seconds === null);
      setRing(circle, ballot.share);
      setText(left, text(ui.lang, "vote.seconds", { seconds: ballot.seconds ?? 0 }));
      setText(voted, text(ui.lang, "vote.count", ballot.count ?? {}));
      setText(have, text(ui.lang, "vote.have"));
      const closed = { "vote.closed_1": "vote.next_1", "vote.closed_2": "vote.next_2" }[ballot.chip.key];
      setText(next, closed ? text(ui.lang, closed) : "");
      if (around) keepWhatIsSeen([world.element], root);
    },
  };
}

function answeredPart() {
  const first = element("span");
  const second = element("span");
  const each = element("span");
  const legend = element("p", { class: "wall-legend" }, [element("i", { class: "first" }), first, element("i", { class: "second" }), second, each]);
  const bars = barList();
  const nobody = element("p", { class: "wall-nobody" });
  const did = element("b");
  const of = element("span");
  const title = element("h3", { "data-testid": "wall-answer" });
  const why = element("div", { class: "vote-why" });
  const prose = element("div", { class: "lesson-prose" });
  const rows = element("ul", { class: "wall-scores" });
  const plugins = element("ul", { class: "wall-plugins" });
  const aside = element("aside", { class: "wall-why" }, [element("div", { class: "vote-answer" }, [icon("crown"), title]), rows, plugins, why, prose]);
  const root = element("div", { class: "wall-answered" }, [
    element("div", { class: "wall-votes" }, [legend, bars.element, nobody, element("p", { class: "wall-did" }, [did, of])]),
    aside,
  ]);
  return {
    element: root,
    /**
     * @param {Poll | null} poll
     * @param {View} view
     * @param {Ui} ui
     * @param {readonly import("../../lib/class.d.ts").Block[]} told what the lesson says of it
     */
    render(poll, view, ui, told) {
      root.hidden = !poll;
      if (!poll) return;
      const { total } = countsOf(poll, ui.lang);
      const twice = (total[1] ?? 0) > 0;
      for (const part of [...legend.children].slice(2, 4)) part.toggleAttribute("hidden", !twice);
      setText(first, text(ui.lang, "vote.first"));
      setText(second, text(ui.lang, "vote.second"));
      setText(each, total[0] === total[1] ? text(ui.lang, "vote.each", { count: total[0] ?? 0 }) : twice ? "" : text(ui.lang, "vote.all", { count: total[0] ?? 0 }));
      legend.hidden = !total[0] && !total[1];
      legend.classList.toggle("once", !twice);
      bars.render(poll, ui, false);
      const none = total[0] || total[1] ? unchosen(poll, ui.lang).map(({ label }) => label) : [];
      setText(nobody, none.length ? text(ui.lang, "vote.nobody", { answers: listed(ui.lang, none) }) : "");
      const line = classLine(poll, ui.lang);
      setText(did, line ? sayLine(ui, line.title) : "");
      setText(of, line ? [line.of, line.changed].map((one) => (one ? sayLine(ui, one) : "")).filter(Boolean).join(" · ") : "");
      setText(title, sayLine(ui, answerTitle(poll, ui.lang)));
      tellWhy(why, poll, ui);
      tellProse(prose, told);
      tellScores(rows, plugins, poll, view, ui);
      const pieces = /** @type {HTMLElement[]} */ ([...prose.children]);
      for (const piece of pieces) piece.hidden = false;
      keepWhatIsSeen([prose, ...pieces.slice(1)], aside);
    },
  };
}

/**
 * Leave out what the screen has no room for, the last first: nobody scrolls a wall.
 * @param {readonly HTMLElement[]} parts
 * @param {HTMLElement} root what would scroll, or lies in what would
 */
function keepWhatIsSeen(parts, root) {
  const scrollers = [root, /** @type {HTMLElement | null} */ (root.closest(".wall-page"))];
  for (const part of parts.toReversed()) {
    if (!scrollers.some((one) => one && one.scrollHeight > one.clientHeight + 1)) return;
    part.hidden = true;
  }
}

/**
 * The points of the best nodes, stacked by plugin.
 * @param {HTMLElement} list
 * @param {HTMLElement} legend
 * @param {Poll} poll
 * @param {View} view
 * @param {Ui} ui
 */
function tellScores(list, legend, poll, view, ui) {
  const { total = {}, plugins: scores = {} } = poll.answer?.explain ?? {};
  const rows = Object.entries(total).sort(([a, more], [b, most]) => most - more || (a < b ? -1 : 1)).slice(0, ROWS_MAX)
    .map(([node, points]) => ({ node, total: points, plugins: scores[node] ?? {} }));
  const drawn = JSON.stringify([rows, ui.lang, ui.theme]);
  if (list.dataset["told"] === drawn) return;
  list.dataset["told"] = drawn;
  const most = Math.max(1, ...rows.map(({ total }) => total));
  const names = [...new Set(rows.flatMap(({ plugins }) => Object.keys(plugins).filter((name) => (plugins[name] ?? 0) > 0)))];
  const hues = pluginHues(view);
  const paint = (/** @type {string} */ name) => `var(--plugin-${pluginLook(name, hues).hue + 1})`;
  list.replaceChildren(...rows.map(({ node, total, plugins }) => {
    const bar = element("span", { class: "wall-score", "aria-hidden": "true" });
    for (const name of names) {
      const part = element("i");
      part.style.width = `${(100 * (plugins[name] ?? 0)) / most}%`;
      part.style.background = paint(name);
      bar.append(part);
    }
    const tied = poll.answer?.tie?.includes(node) || poll.answer?.chosen === node;
    return element("li", { class: tied ? "best" : "" }, [element("b", {}, node), bar, element("b", {}, number(ui.lang, total))]);
  }));
  legend.replaceChildren(...names.map((name) => {
    const swatch = element("i");
    swatch.style.background = paint(name);
    return element("li", {}, [swatch, element("span", {}, breakable(name))]);
  }));
}
