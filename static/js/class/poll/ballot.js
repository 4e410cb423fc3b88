/** The ballot: the question, its answers, "because …" and the button; on a phone's page and in a laptop's column alike. */

/** @import { ClassState } from "../../lib/class.d.ts" */
/** @import { Dispatch, PodSlim, Ui, View } from "../../lib/types.d.ts" */
/** @import { Ballot, Choice, Line } from "./model.js" */
import { append, element, icon, setAttribute, setText, syncList } from "../../dom/dom.js";
import { ring, setRing } from "../../dom/h.js";
import { listed, number, text } from "../../lib/text.js";
import { objectAt, podRequests } from "../../state/selectors.js";
import { formatCpu, formatMemory } from "../../lib/quantity.js";
import { factsBar, factsLine, freeLines, partsOf } from "./facts.js";
import { ballotOf } from "./model.js";
import { Speaker } from "./spoken.js";

/**
 * What tapping does.
 * @typedef {{pick: (id: string) => void, vote: () => void, because: (id: string) => void, look: (id: string) => void,
 *   redraw: () => void}} Asks
 *
 * What the ballot is drawn from; `unixMs` by the server's clock.
 * @typedef {{view: View, ui: Ui, state: ClassState, unixMs: number, alone: boolean}} Input
 */

/**
 * @param {Asks} asks
 */
export function mountBallot(asks) {
  const chip = element("span", { class: "chip accent", "data-testid": "vote-round" });
  const clock = element("span", { class: "vote-clock" });
  const seconds = element("b");
  const circle = ring(1, 18);
  append(clock, [circle, seconds]);
  const question = element("h2", { id: "vote-question", "data-testid": "vote-question" });
  const pod = element("p", { class: "vote-pod" });
  const options = element("div", { class: "vote-options", "aria-labelledby": "vote-question" });
  // What only the reveal needs comes with it.
  const result = element("div", { class: "vote-result" });
  /** @type {ReturnType<typeof import("./outcome.js").outcome> | null} */
  let told = null;
  let asked = false;
  const tellOutcome = async () => {
    asked = true;
    try {
      const { outcome } = await import("./outcome.js");
      told = outcome();
      result.append(told.element);
      asks.redraw();
    } catch {
      asked = false;
    }
  };
  const reasons = reasonList(asks);
  const foot = footOf();
  // It stands in the page before it has words: what comes with its words already there is not read out.
  const live = element("p", { class: "sr-only", role: "status", "data-testid": "vote-said" });
  document.body.append(live);
  const form = element("form", { class: "vote", "data-testid": "vote" }, [
    element("div", { class: "vote-body", tabindex: "0" }, [
      element("div", { class: "vote-head" }, [chip, clock]), question, pod, options, result, reasons.element,
    ]),
    foot.element,
  ]);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    asks.vote();
  });
  // The button may not have heard yet of what the last key chose.
  options.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    asks.vote();
  });
  const speaker = new Speaker();
  /** @type {Ballot | null} */
  let shown = null;

  return {
    element: form,
    /** @returns {Ballot | null} */
    get ballot() {
      return shown;
    },
    /** Take the keyboard to the first reason. */
    focusReason: reasons.focus,
    /** @param {Input} input */
    render({ view, ui, state: { poll, kept, lesson }, unixMs, alone }) {
      if (!poll) return;
      const { lang } = ui;
      const ballot = ballotOf({ poll, kept, unixMs, seat: view.me?.id ?? "", lang, votes: view.me?.role !== "viewer", alone, deciding: lesson?.step?.phase === "wait" });
      shown = ballot;
      form.dataset["state"] = ballot.state;
      setText(chip, line(ui, ballot.chip));
      clock.hidden = ballot.seconds === null || ballot.state !== "open";
      if (ballot.seconds !== null) setText(seconds, text(lang, "vote.seconds", { seconds: ballot.seconds }));
      setRing(circle, ballot.share);
      setText(question, ballot.question);
      setText(pod, podLine(view, poll.pod, ui));
      pod.hidden = !pod.textContent;
      setAttribute(options, "role", ballot.several ? "group" : "radiogroup");
      syncList(options, ballot.options, ({ id }) => `${poll.id} ${poll.round} ${id}`, (one) => optionRow(one, ballot, `${poll.id}-${poll.round}`, asks),
        (row, one) => tellOption(row, one, ballot, view, ui));
      if (ballot.state === "revealed" && !asked) void tellOutcome();
      told?.render(ballot.state === "revealed" ? poll : null, ui, alone);
      reasons.render(ballot, ui);
      foot.render(ballot, ui);
      const words = speaker.next(poll.id, ballot, lang);
      if (words) requestAnimationFrame(() => setText(live, words));
    },
  };
}

/** @param {Ui} ui @param {Line} line */
function line(ui, { key, values }) {
  return text(ui.lang, key, values);
}

/**
 * What the pod asks for.
 * @param {View} view
 * @param {string} key
 * @param {Ui} ui
 */
export function podLine(view, key, ui) {
  const pod = /** @type {PodSlim | null} */ (key ? objectAt(view, "pods", key) : null);
  if (!pod) return "";
  const { cpuMilli, memoryBytes, extended } = podRequests(pod);
  const requests = listed(ui.lang, [
    cpuMilli ? `${formatCpu(cpuMilli)} CPU` : "", memoryBytes ? formatMemory(memoryBytes) : "",
    ...Object.entries(extended).map(([name, amount]) => `${amount} ${name}`),
  ].filter(Boolean));
  return [
    pod.metadata.name, requests && text(ui.lang, "vote.wants", { requests }),
    text(ui.lang, "vote.priority", { priority: number(ui.lang, pod.spec?.priority ?? 0) }),
  ].filter(Boolean).join(" · ");
}

/**
 * @param {Choice} option
 * @param {Ballot} ballot
 * @param {string} name of the group
 * @param {Asks} asks
 */
function optionRow({ id, key }, ballot, name, asks) {
  const input = element("input", { type: ballot.several ? "checkbox" : "radio", name, value: id });
  input.addEventListener("change", () => {
    asks.pick(id);
    asks.look(id);
  });
  return element("label", { class: "vote-option", "data-testid": `vote-option-${id}` }, [
    input, element("span", { class: "vote-name" }, [element("b"), element("small")]), element("span", { class: "vote-marks" }),
    element("span", { class: "vote-facts" }), key ? element("kbd", {}, key) : null,
  ]);
}

/**
 * @param {HTMLElement} row
 * @param {Choice} option
 * @param {Ballot} ballot
 * @param {View} view
 * @param {Ui} ui
 */
function tellOption(row, option, ballot, view, ui) {
  const input = /** @type {HTMLInputElement} */ (row.querySelector("input"));
  if (input.checked !== option.picked) input.checked = option.picked;
  input.disabled = ballot.locked;
  row.classList.toggle("picked", option.picked);
  row.classList.toggle("right", option.right);
  row.classList.toggle("chosen", option.chosen);
  setText(/** @type {Element} */ (row.querySelector("b")), option.label);
  setText(/** @type {Element} */ (row.querySelector("small")), factsLine(option.facts, ui.lang));
  const marks = marksOf(option, ballot);
  const told = marks.map(({ key, tone }) => element("span", { class: `chip ${tone}` }, text(ui.lang, key)));
  const box = /** @type {Element} */ (row.querySelector(".vote-marks"));
  const words = marks.map(({ key }) => text(ui.lang, key)).join(" ");
  if (box.getAttribute("data-told") !== words) {
    box.setAttribute("data-told", words);
    box.replaceChildren(...told);
  }
  const facts = /** @type {HTMLElement} */ (row.querySelector(".vote-facts"));
  const parts = partsOf(option.id, option.facts, view, ui.colourBy);
  const said = JSON.stringify([option.facts, parts, ui.lang]);
  if (facts.dataset["told"] === said) return;
  facts.dataset["told"] = said;
  facts.replaceChildren();
  append(facts, [factsBar(parts), ...freeLines(option.facts, ui.lang).map((free) => element("small", {}, free))]);
  facts.hidden = facts.childElementCount === 0;
}

/**
 * @param {Choice} option
 * @param {Ballot} ballot
 * @returns {{key: string, tone: string}[]}
 */
function marksOf(option, ballot) {
  if (ballot.state !== "revealed") return [];
  /** @type {{key: string, tone: string}[]} */
  const marks = [];
  if (option.came) marks.push({ key: "vote.mark_right", tone: "amber" });
  else if (option.chosen) marks.push({ key: "vote.mark_chosen", tone: "amber" });
  else if (option.right) marks.push({ key: ballot.options.some(({ chosen }) => chosen) ? "vote.mark_tied" : "vote.mark_right", tone: "amber" });
  if (option.votes.length === 2) marks.push({ key: "vote.mark", tone: "accent" });
  else for (const round of option.votes) marks.push({ key: ballot.options.some(({ votes }) => votes.includes(2)) ? `vote.mark_${round}` : "vote.mark", tone: "accent" });
  return marks;
}

/** @param {Asks} asks */
function reasonList(asks) {
  const title = element("h3", { id: "vote-because" });
  const hint = element("small");
  const list = element("ul", { class: "vote-reasons", "aria-labelledby": "vote-because" });
  const root = element("div", { class: "vote-because", "data-testid": "vote-because" }, [element("div", { class: "vote-head" }, [title, hint]), list]);
  return {
    element: root,
    focus: () => /** @type {HTMLElement | null} */ (list.querySelector("button"))?.focus(),
    /**
     * @param {Ballot} ballot
     * @param {Ui} ui
     */
    render(ballot, ui) {
      root.hidden = ballot.reasons.length === 0;
      setText(title, text(ui.lang, "vote.because"));
      setText(hint, text(ui.lang, "vote.because_hint"));
      syncList(list, ballot.reasons, ({ id }) => id, ({ id }) => {
        const button = element("button", { type: "button", class: "vote-reason", "data-testid": `because-${id}`, onclick: () => asks.because(id) });
        append(button, [element("span"), icon("check")]);
        return element("li", {}, button);
      }, (row, { label, picked }) => {
        const button = /** @type {HTMLButtonElement} */ (row.firstElementChild);
        setText(/** @type {Element} */ (button.firstElementChild), label);
        setAttribute(button, "aria-pressed", String(picked));
        button.disabled = ballot.locked;
      });
    },
  };
}

function footOf() {
  const mark = element("span", { class: "vote-mark", "aria-hidden": "true" });
  const first = element("b", { "data-testid": "vote-status" });
  const second = element("span");
  const status = element("p", { class: "vote-status" }, [mark, element("span", {}, [first, second])]);
  const voted = element("b", { "data-testid": "vote-count" });
  const have = element("span");
  const button = element("button", { class: "primary", type: "submit", "data-testid": "vote-send" });
  const count = element("p", { class: "vote-count" }, [voted, have]);
  const foot = element("div", { class: "vote-foot" }, [status, count, button]);
  return {
    element: foot,
    /**
     * @param {Ballot} ballot
     * @param {Ui} ui
     */
    render(ballot, ui) {
      status.hidden = ballot.status.length === 0;
      foot.dataset["tone"] = ballot.tone;
      if (mark.dataset["tone"] !== ballot.tone) {
        mark.dataset["tone"] = ballot.tone;
        mark.replaceChildren(...(ballot.tone ? [icon({ good: "check", bad: "warn", wait: "offline" }[ballot.tone])] : []));
      }
      mark.hidden = !ballot.tone;
      setText(first, ballot.status[0] ? line(ui, ballot.status[0]) : "");
      setText(second, ballot.status.slice(1).map((one) => line(ui, one)).join(" "));
      count.hidden = !ballot.count;
      setText(voted, text(ui.lang, "vote.count", ballot.count ?? {}));
      setText(have, text(ui.lang, "vote.have"));
      button.hidden = !ballot.button;
      if (ballot.button) setText(button, line(ui, ballot.button));
      button.disabled = !ballot.ready;
    },
  };
}
