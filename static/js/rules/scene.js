/** The scene "the world under your rule": the criteria, what the votes believed, the rule's world beside the engine's. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Finding } from "./finder.js" */
/** @import { Speak } from "./frame.js" */
/** @import { Answers, Rule } from "./model.js" */
import { element, icon, keepFocus } from "../dom/dom.js";
import { said } from "../lib/said.js";
import { number, text } from "../lib/text.js";
import { mountFinder } from "./finder.js";
import { openFrame } from "./frame.js";
import { apart, believedOf, CRITERIA, ENGINE, headline, tableOf, worldOf } from "./model.js";
import { worldCard } from "./worlds.js";

/** @typedef {(key: string, values?: Record<string, string>) => string} Translate */
/**
 * @typedef {object} Given
 * @property {Speak} speak
 * @property {Finding | null} finding null: a class looks at one decision alone
 * @property {Answers} answers
 * @property {readonly Rule[]} rules
 * @property {Readonly<Record<string, number>>} votes rule → votes; empty: nobody was asked
 * @property {Readonly<Record<string, number>>} before the same of a first vote; empty: there was but one
 * @property {((rule: string) => Promise<unknown>) | null} play opens the rule's world as a copy; null: who looks may not
 * @property {string} [first] the rule that a class is shown: it is stepped from elsewhere
 * @property {(() => void) | null} [closed] what happens when somebody closes it; null: nobody can
 *
 * @typedef {Given & {lang: Lang, t: Translate}} Scene
 */

/** @param {Given} given */
export function openRules(given) {
  const { answers, rules, votes, first = "", closed, finding } = given;
  const others = apart(answers, rules, votes);
  let chosen = others.some(({ id }) => id === first) ? first : (others[0]?.id ?? "");
  let byHand = true;
  /** @type {import("./finder.js").Kept} */
  const kept = { answer: null };
  /** @type {() => void} */
  let draw = () => {};
  const { dialog } = openFrame({
    name: "", testId: "rules-scene", speak: given.speak, build,
    closed: closed === null ? null : () => {
      if (byHand) closed?.();
    },
  });
  if (first) {
    dialog.dataset["followed"] = "";
    // Where not all has room the worlds stand first.
    dialog.toggleAttribute("data-tight", dialog.scrollHeight > dialog.clientHeight + 1);
    if (closed === null) {
      // Nothing in it can be pressed: it is scrolled by keyboard itself.
      dialog.tabIndex = 0;
      dialog.focus();
      dialog.addEventListener("cancel", (event) => event.preventDefault());
    }
  }
  return {
    /** Closes it because it is shown no longer. */
    close() {
      byHand = false;
      dialog.close();
    },
    /**
     * @param {string} rule
     * @returns {boolean} whether it is shown now: here, and one of those that differ
     */
    pick(rule) {
      if (!dialog.open || !others.some(({ id }) => id === rule)) return false;
      chosen = rule;
      draw();
      return true;
    },
  };

  /** @param {Lang} lang */
  function build(lang) {
    /** @type {Scene} */
    const scene = { ...given, lang, t: (key, values = {}) => text(lang, key, values) };
    const { t } = scene;
    const pick = element("select", { class: "input", "data-testid": "rules-pick", "aria-label": t("rules.pick"), onchange: () => {
      chosen = pick.value;
      draw();
      finder?.about(chosen);
    } }, others.map((rule) => element("option", { value: rule.id }, said(lang, rule.title))));
    const finder = finding ? mountFinder(lang, rules, finding, chosen, kept) : null;
    const worlds = element("div", { class: "rw-worlds" });
    const top = element("div", { class: "rw-top" }, [tableCard(scene), votesCard(scene)]);
    draw = () => {
      const rule = others.find(({ id }) => id === chosen);
      const engine = rules.find(({ id }) => id === ENGINE);
      const own = rule ? worldOf(answers, rule, lang) : null;
      const real = engine ? worldOf(answers, engine, lang) : null;
      pick.value = chosen;
      keepFocus(worlds, () => worlds.replaceChildren(...[
        own ? worldCard(scene, own, false) : element("p", { class: "rw-agree" }, t(finding ? "rules.agree_find" : "rules.agree")),
        real ? worldCard(scene, real, true) : null,
      ].filter((one) => one !== null)));
      for (const row of top.querySelectorAll("[data-rule]")) row.classList.toggle("on", row.getAttribute("data-rule") === chosen);
    };
    draw();
    return {
      head: [icon("crown"), element("h2", { id: "rw-title" }, headline(answers, lang)), others.length && !first ? pick : null],
      body: [top, worlds, finder?.element ?? null],
    };
  }
}

/** @param {Scene} scene */
function tableCard({ lang, answers, t }) {
  const engine = answers.answers[ENGINE];
  const table = engine ? tableOf(engine, lang) : null;
  if (!engine || !table) return scoresCard({ lang, answers, t });
  const head = CRITERIA.map((name, at) => element("th", { scope: "col", class: at < table.asked ? "asked" : "" }, [
    element("span", {}, String(at + 1)), t(`rules.criterion.${name}`),
  ]));
  const rows = table.rows.map(({ node, wins, cells }) => element("tr", { class: wins ? "wins" : "" }, [
    element("th", { scope: "row" }, node), ...cells.map(({ text: words, state }) => element("td", { class: state }, words)),
  ]));
  return element("section", { class: "rw-card", "data-testid": "rules-table" }, [
    element("table", {}, [element("thead", {}, element("tr", {}, [element("th", { scope: "col" }, t("rules.node")), ...head])), element("tbody", {}, rows)]),
    element("p", { class: "hint" }, text(lang, "rules.decided_at", { n: table.asked })),
  ]);
}

/** Where nothing is preempted: every node's total. @param {Pick<Scene, "lang" | "answers" | "t">} scene */
function scoresCard({ lang, answers, t }) {
  const engine = answers.answers[ENGINE];
  const totals = Object.entries(engine?.scores ?? {}).sort(([, a], [, b]) => b - a);
  return element("section", { class: "rw-card", "data-testid": "rules-table" }, totals.length ? element("table", {}, [
    element("thead", {}, element("tr", {}, [element("th", { scope: "col" }, t("rules.node")), element("th", { scope: "col" }, t("rules.total"))])),
    element("tbody", {}, totals.map(([node, total]) => element("tr", { class: node === engine?.chosen ? "wins" : "" }, [
      element("th", { scope: "row" }, node), element("td", {}, number(lang, total)),
    ]))),
  ]) : element("p", { class: "hint" }, engine?.message || t("rules.no_scores")));
}

/** @param {Scene} scene */
function votesCard({ lang, rules, votes, before, t }) {
  const rows = believedOf(rules, votes, before, lang);
  if (!rows.length) return null;
  const twice = Object.keys(before).length > 0;
  const legend = twice ? element("span", { class: "rw-legend" }, [element("i", { class: "before" }), t("rules.vote_1"), element("i"), t("rules.vote_2")]) : null;
  return element("section", { class: "rw-card", "data-testid": "rules-votes" }, [
    element("div", { class: "rw-head" }, [element("h3", {}, t("rules.believed")), legend]),
    element("ul", { class: "rw-votes" }, rows.map((row) => {
      const bar = (/** @type {number} */ share, /** @type {string} */ kind) => {
        const made = element("span", { class: `bar ${kind}` });
        made.style.width = `${100 * share}%`;
        return made;
      };
      const percent = (/** @type {number} */ share) => `${Math.round(100 * share)} %`;
      return element("li", { "data-rule": row.id, class: twice ? "twice" : "" }, [
        element("span", {}, row.title),
        element("span", { class: "track", "aria-hidden": "true" }, [twice ? bar(row.before, "before") : null, bar(row.share, row.right ? "right" : "")]),
        twice ? element("span", { class: "rw-before" }, [element("span", { class: "sr-only" }, t("rules.vote_1")), percent(row.before)]) : null,
        element("b", {}, [twice ? element("span", { class: "sr-only" }, t("rules.vote_2")) : null, percent(row.share)]),
        element("span", { class: "hint" }, number(lang, row.votes)),
      ]);
    })),
  ]);
}
