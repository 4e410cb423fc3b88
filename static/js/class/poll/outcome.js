/** What came of a poll: the answer, its reason, how the class did, bars of both votes. */

/** @import { Poll } from "../../lib/class.d.ts" */
/** @import { Lang, Ui } from "../../lib/types.d.ts" */
/** @import { Bar } from "./counts.js" */
/** @import { Line } from "./model.js" */
import { element, icon, setText, syncList } from "../../dom/dom.js";
import { text } from "../../lib/text.js";
import { countsOf, percent } from "./counts.js";
import { answerTitle, classLine, whyLines } from "./told.js";

/**
 * A line in the page's language; names of criteria are words of it, too.
 * @param {Ui} ui
 * @param {Line} line
 */
export function sayLine(ui, { key, values = {} }) {
  const criterion = values["criterion"];
  return text(ui.lang, key, criterion === undefined ? values : { ...values, criterion: text(ui.lang, `vote.criterion_${criterion}`) });
}

/** The answer on a phone and in a column. */
export function outcome() {
  const title = element("h3", { "data-testid": "vote-answer" });
  const why = element("div", { class: "vote-why" });
  const did = element("b");
  const of = element("small");
  const bars = barList();
  const changed = element("p", { class: "hint", "data-testid": "vote-changed" });
  const root = element("section", { class: "vote-outcome" }, [
    element("div", { class: "vote-answer" }, [icon("crown"), element("div", {}, [title, why])]),
    element("div", { class: "vote-did" }, [did, of]), bars.element, changed,
  ]);
  root.hidden = true;
  return {
    element: root,
    /**
     * @param {Poll | null} poll null before the reveal
     * @param {Ui} ui
     * @param {boolean} [alone] there is no class whose votes would say anything
     */
    render(poll, ui, alone = false) {
      root.hidden = !poll?.answer;
      if (!poll?.answer) return;
      setText(title, sayLine(ui, answerTitle(poll, ui.lang)));
      tellWhy(why, poll, ui);
      const line = classLine(poll, ui.lang);
      setText(did, line ? sayLine(ui, line.title) : "");
      setText(of, line ? sayLine(ui, line.of) : "");
      bars.render(poll, ui);
      for (const part of [did, of, bars.element, changed]) part.classList.toggle("gone", alone);
      setText(changed, line?.changed ? sayLine(ui, line.changed) : "");
    },
  };
}

/**
 * @param {HTMLElement} root
 * @param {Poll} poll
 * @param {Ui} ui
 */
export function tellWhy(root, poll, ui) {
  const { lines, quote } = whyLines(poll, ui.lang);
  const told = lines.map((one) => sayLine(ui, one));
  syncList(root, [...told.map((words) => ({ words, tag: "p" })), ...(quote ? [{ words: quote, tag: "q" }] : [])],
    ({ words, tag }) => tag + words, ({ words, tag }) => (tag === "q" ? element("q", {}, words) : element("p", {}, wholeNames(words))));
}

/** Names with hyphens, of which no part stands on another line. */
const HYPHENED = /((?:[\w.]+-)+[\w.]*\w)/;
/** Letters of a name that fits a narrow column. */
const WHOLE_MAX = 24;

/** @param {string} words */
function wholeNames(words) {
  return words.split(HYPHENED).map((part, at) => (at % 2 && part.length <= WHOLE_MAX ? element("span", { class: "whole" }, part) : part));
}

/**
 * Answers that nobody chose and that are not right either: a wall names them in one line.
 * @param {Poll} poll
 * @param {Lang} lang
 */
export function unchosen(poll, lang) {
  return countsOf(poll, lang).bars.filter(({ first, second, right, chosen }) => !first && !second && !right && !chosen);
}

/** As many letters as a label may have beside its bars; a Chinese one is as wide as two. */
const LABEL_MAX = 20;
const isLong = (/** @type {string} */ label) => [...label].reduce((sum, letter) => sum + (letter > "\u2e7f" ? 2 : 1), 0) > LABEL_MAX;

/** Bars of both votes: hollow first, solid second, amber where it is right. */
export function barList() {
  const list = element("ul", { class: "vote-bars", "data-testid": "vote-bars" });
  return {
    element: list,
    /**
     * @param {Poll} poll
     * @param {Ui} ui
     * @param {boolean} [all] also what nobody chose, and what was not right
     */
    render(poll, ui, all = true) {
      const { bars: every, total } = countsOf(poll, ui.lang);
      const bars = all ? every : every.filter(({ id }) => !unchosen(poll, ui.lang).some((one) => one.id === id));
      const twice = (total[1] ?? 0) > 0;
      list.hidden = !total[0] && !total[1];
      list.style.setProperty("--rows", String(bars.length));
      list.classList.toggle("long", bars.some(({ label }) => isLong(label)));
      syncList(list, bars, ({ id }) => id, () => element("li", {}, [
        element("b"), element("span", { class: "vote-pair" }, [
          element("span", {}, [element("i", { class: "first" }), element("span")]),
          element("span", {}, [element("i", { class: "second" }), element("span")]),
        ]), element("span", { class: "vote-marks" }),
      ]), (row, bar) => tellBar(row, bar, twice, ui));
    },
  };
}

/**
 * @param {HTMLElement} row
 * @param {Bar} bar
 * @param {boolean} twice
 * @param {Ui} ui
 */
function tellBar(row, bar, twice, ui) {
  row.classList.toggle("right", bar.right);
  row.classList.toggle("chosen", bar.chosen);
  setText(/** @type {Element} */ (row.firstElementChild), bar.label);
  const shares = twice ? [bar.firstShare, bar.secondShare] : [0, bar.firstShare];
  [.../** @type {Element} */ (row.children[1]).children].forEach((line, at) => {
    const one = /** @type {HTMLElement} */ (line);
    one.hidden = at === 0 && !twice;
    /** @type {HTMLElement} */ (one.firstElementChild).style.setProperty("--share", String(shares[at]));
    setText(/** @type {Element} */ (one.lastElementChild), percent(shares[at] ?? 0));
  });
  const mark = bar.came ? "vote.mark_right" : bar.chosen ? "vote.mark_chosen" : bar.right ? "vote.mark_right" : "";
  const words = mark ? text(ui.lang, bar.right && bar.beside ? "vote.mark_tied" : mark) : "";
  syncList(/** @type {Element} */ (row.lastElementChild), words ? [words] : [], (one) => one, () => element("span", { class: "chip amber" }, words));
}
