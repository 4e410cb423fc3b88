/** The teacher's side of a poll: a private histogram, advice, and what comes next. On the laptop a column, on the phone the remote. */

/** @import { Input } from "../poll/ballot.js" */
/** @import { Advice, Deed, Lead } from "./model.js" */
/** @import { Ui } from "../../lib/types.d.ts" */
import { append, element, icon, setAttribute, setText, syncList } from "../../dom/dom.js";
import { ring, setRing } from "../../dom/h.js";
import { text } from "../../lib/text.js";
import { countsHands } from "../../state/before.js";
import { percent } from "../poll/counts.js";
import { ballotOf } from "../poll/model.js";
import { outcome, sayLine } from "../poll/outcome.js";
import { onKeys } from "../place.js";
import { handCount } from "./hands.js";
import { adviceWords, leadOf } from "./model.js";
import { mountSheet } from "./sheet.js";

/** Deeds that take away what people have done. */
const LOSES = new Set(["restart", "skip", "back"]);

/** What a tool is recognised by. @type {Readonly<Record<string, string>>} */
const ICONS = {
  makeItSo: "check", hint: "info", skip: "step", restart: "undo", copies: "copy", class: "users", homework: "file",
  world: "screen", worldNext: "screen", worldPlay: "play", worldClose: "close", wallDown: "close",
};

/**
 * @param {(id: string, counts?: Record<string, number>) => void} act
 * @param {string} code of the session
 */
export function mountPanel(act, code) {
  const chip = element("span", { class: "chip accent", "data-testid": "lead-round" });
  const seconds = element("b");
  const circle = ring(1, 18);
  const clock = element("span", { class: "vote-clock" }, [circle, seconds]);
  const voted = element("span", { class: "lead-voted", "data-testid": "lead-count" });
  const question = element("h2", { "data-testid": "lead-question" });
  const histogram = histogramOf();
  const result = outcome();
  const advice = adviceCard();
  const tools = element("div", { class: "lead-tools" });
  const hands = handCount(act, () => countsHands(code));
  const sheet = mountSheet(act);
  const refusal = element("p", { class: "field-error", role: "alert" });
  const offline = element("p", { class: "lead-offline", role: "status", "data-testid": "lead-offline" });
  const body = element("div", { class: "lead-body", tabindex: "0" }, [
    offline, sheet.element,
    element("div", { class: "vote-head" }, [chip, element("span", { class: "lead-time" }, [clock, voted])]), question,
    histogram.element, result.element, advice.element, refusal, tools, hands.element,
  ]);
  const others = element("div", { class: "lead-others" });
  const main = element("button", { class: "primary", type: "button", "data-testid": "lead-main" }, [element("b"), element("small")]);
  const back = element("button", { class: "button", type: "button", "data-testid": "lead-back" }, [icon("chevron"), element("small")]);
  const freeze = element("button", { class: "button", type: "button", "data-testid": "lead-freeze", onclick: () => act("freeze") }, [icon("snow"), element("small")]);
  const foot = element("div", { class: "lead-foot" }, [others, element("div", { class: "lead-main" }, [back, freeze, main])]);
  let doing = "";
  /** What would lose something is done by the second tap. */
  let sure = "";
  main.addEventListener("click", () => act(doing));
  back.addEventListener("click", () => tap(back, "back"));
  /** @param {HTMLElement} button @param {string} id */
  const tap = (button, id) => {
    if (!LOSES.has(id) || sure === id) act(id);
    sure = LOSES.has(id) && sure !== id ? id : "";
    button.classList.toggle("asks", sure === id);
  };
  const root = element("section", { class: "lead", "data-testid": "lead" }, [body, foot]);
  onKeys(root, { ArrowRight: () => main.hidden || act(doing), ArrowLeft: () => back.hidden || tap(back, "back"), z: () => act("freeze") });
  return {
    element: root,
    /** @param {Input} input */
    render({ view, ui, state, unixMs, alone }) {
      const { poll, lesson } = state;
      const lead = leadOf({ poll, lesson, lang: ui.lang, onWall: view.onWall });
      const lost = ui.connection !== "live";
      offline.hidden = !lost;
      setText(offline, lost ? text(ui.lang, "lead.offline") : "");
      // What is shown is as old as the connection: nothing is done by it.
      root.toggleAttribute("data-lost", lost);
      for (const one of [foot, tools, hands.element]) one.inert = lost;
      sheet.render(lesson, ui);
      // A class without phones is counted first.
      if (countsHands(code)) question.after(hands.element);
      hands.render(poll && (poll.state === "open" || poll.state === "closed") ? poll : null, ui);
      back.hidden = !lesson;
      setText(/** @type {Element} */ (back.lastElementChild), text(ui.lang, "lead.back"));
      setText(/** @type {Element} */ (freeze.lastElementChild), text(ui.lang, state.frozen ? "lead.unfreeze" : "lead.freeze"));
      setAttribute(freeze, "aria-pressed", String(state.frozen));
      for (const part of [chip.parentElement, question]) if (part) part.hidden = !poll;
      if (poll) {
        const ballot = ballotOf({ poll, kept: null, unixMs, seat: "", lang: ui.lang, votes: false, alone, deciding: lesson?.step?.phase === "wait" });
        setText(chip, sayLine(ui, ballot.chip));
        clock.hidden = ballot.seconds === null || ballot.state !== "open";
        setText(seconds, text(ui.lang, "vote.seconds", { seconds: ballot.seconds ?? 0 }));
        setRing(circle, ballot.share);
        voted.hidden = !ballot.count;
        setText(voted, ballot.count ? text(ui.lang, "lead.voted", ballot.count) : "");
        setText(question, ballot.question);
      }
      histogram.render(poll && poll.state !== "revealed" ? lead : null, (poll?.round ?? 1) - 1, ui);
      result.render(poll?.state === "revealed" ? poll : null, ui);
      advice.render(lead.advice, ui);
      setText(refusal, state.problem === "unreachable" ? text(ui.lang, "unreachable") : state.problem);
      main.hidden = !lead.main;
      if (lead.main) {
        doing = lead.main.id;
        tellDeed(main, lead.main, state.busy, ui);
      }
      for (const [place, deeds] of /** @type {const} */ ([[others, lead.others], [tools, lead.tools]]))
        syncList(place, deeds, ({ id }) => id, ({ id }) => deedButton(id, place === tools ? ICONS[id] : undefined, (button) => tap(button, id)),
          (button, one) => tellDeed(button, sure === one.id ? { ...one, hint: { key: "lead.sure" } } : one, state.busy, ui));
    },
  };
}

/**
 * @param {string} id
 * @param {string | undefined} sign its icon
 * @param {(button: HTMLElement) => void} tap
 * @returns {HTMLElement}
 */
function deedButton(id, sign, tap) {
  const button = element("button", { class: "button", type: "button", "data-testid": `lead-${id}` }, [sign ? icon(sign) : null, element("b"), element("small")]);
  button.addEventListener("click", () => tap(button));
  return button;
}

/**
 * @param {HTMLElement} button
 * @param {Deed} one
 * @param {string} busy
 * @param {Ui} ui
 */
function tellDeed(button, { id, label, hint }, busy, ui) {
  setText(/** @type {Element} */ (button.querySelector("b")), sayLine(ui, label));
  setText(/** @type {Element} */ (button.lastElementChild), busy === id ? text(ui.lang, "lead.busy") : hint ? sayLine(ui, hint) : "");
  setAttribute(button, "aria-busy", busy === id ? "true" : null);
  setAttribute(button, "data-deed", id);
}

/** Shares and counts, on this screen alone; the right answer is ticked. */
function histogramOf() {
  const only = element("b");
  const head = element("small");
  const list = element("ul", { class: "lead-bars", "data-testid": "lead-bars" });
  const few = element("p", { class: "hint" });
  const card = element("div", { class: "lead-card" }, [
    element("div", { class: "vote-head" }, [element("span", { class: "lead-only" }, [icon("eye"), only]), head]), list, few,
  ]);
  return {
    element: card,
    /**
     * @param {Lead | null} lead
     * @param {number} round from 0
     * @param {Ui} ui
     */
    render(lead, round, ui) {
      card.hidden = !lead?.counts;
      if (!lead?.counts) return;
      setText(only, text(ui.lang, "lead.only_you"));
      setText(head, lead.picture ? text(ui.lang, "lead.share_votes") : "");
      few.hidden = lead.picture;
      setText(few, text(ui.lang, "lead.picture"));
      list.hidden = !lead.picture;
      syncList(list, lead.counts.bars, ({ id }) => id, () => {
        const row = element("li");
        append(row, [element("b"), element("span", { class: "lead-tick" }, icon("check")), element("span", { class: "lead-bar" }, element("i")),
          element("b", { class: "lead-share" }), element("small")]);
        return row;
      }, (row, bar) => {
        const share = round ? bar.secondShare : bar.firstShare;
        row.classList.toggle("right", bar.right);
        setText(/** @type {Element} */ (row.children[0]), bar.label);
        const tick = /** @type {HTMLElement} */ (row.children[1]);
        tick.style.visibility = bar.right ? "visible" : "hidden";
        setAttribute(tick, "aria-hidden", bar.right ? null : "true");
        setAttribute(tick, "title", bar.right ? text(ui.lang, "vote.mark_right") : null);
        /** @type {HTMLElement} */ (row.querySelector("i")).style.width = `${100 * share}%`;
        setText(/** @type {Element} */ (row.children[3]), percent(share));
        setText(/** @type {Element} */ (row.children[4]), String(round ? bar.second : bar.first));
      });
    },
  };
}

function adviceCard() {
  const title = element("b", { "data-testid": "lead-advice" });
  const hint = element("p", { class: "hint" });
  const mark = element("i", { class: "lead-mark" });
  const labels = ["hint", "talk", "reveal"].map((kind) => ({ kind, element: element("span") }));
  const scale = element("div", { class: "lead-scale", "aria-hidden": "true" }, [
    element("span"), element("span"), element("span"), mark, ...labels.map(({ element: label }) => label),
  ]);
  const card = element("div", { class: "lead-card lead-advice" }, [title, hint, scale]);
  return {
    element: card,
    /**
     * @param {Advice | null} advice
     * @param {Ui} ui
     */
    render(advice, ui) {
      card.hidden = !advice;
      if (!advice) return;
      const words = adviceWords(advice);
      setText(title, sayLine(ui, words.title));
      setText(hint, sayLine(ui, words.hint));
      card.dataset["kind"] = advice.kind;
      scale.hidden = Number.isNaN(advice.share) && advice.kind !== "few";
      mark.hidden = Number.isNaN(advice.share) || advice.kind === "few";
      if (!mark.hidden) mark.style.left = `${100 * advice.share}%`;
      for (const { kind, element: label } of labels) {
        setText(label, text(ui.lang, `lead.scale_${kind}`));
        label.classList.toggle("now", kind === advice.kind);
      }
    },
  };
}
