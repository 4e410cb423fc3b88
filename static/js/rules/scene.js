/** The scene "the world under your rule": the criteria, what the votes believed, the rule's world beside the engine's. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Answers, Rule } from "./model.js" */
import { element, icon, returnFocus } from "../dom/dom.js";
import { said } from "../lib/said.js";
import { number, text } from "../lib/text.js";
import { apart, believedOf, CRITERIA, ENGINE, headline, tableOf, worldOf } from "./model.js";
import { worldCard } from "./worlds.js";

/** @typedef {(key: string, values?: Record<string, string>) => string} Translate */
/**
 * @typedef {object} Given
 * @property {Lang} lang
 * @property {Answers} answers
 * @property {readonly Rule[]} rules
 * @property {Readonly<Record<string, number>>} votes rule → votes; empty: nobody was asked
 * @property {((rule: string) => Promise<void>) | null} play opens the rule's world as a copy; null: who looks may not
 * @property {string} [first] the rule that a class is shown: it is stepped from elsewhere
 * @property {(() => void) | null} [closed] what happens when somebody closes it; null: nobody can
 *
 * @typedef {Given & {t: Translate}} Scene
 */

/** @param {Given} given */
export function openRules(given) {
  const { lang, answers, rules, votes, first = "", closed } = given;
  const before = document.activeElement;
  /** @type {Translate} */
  const t = (key, values = {}) => text(lang, key, values);
  /** @type {Scene} */
  const scene = { ...given, t };
  const others = apart(answers, rules, votes);
  let byHand = true;
  const close = element("button", { class: "ghost", type: "button", "aria-label": t("close"), onclick: () => dialog.close() }, icon("close"));
  const pick = element("select", { class: "input", "data-testid": "rules-pick", "aria-label": t("rules.pick"), onchange: draw },
    others.map((rule) => element("option", { value: rule.id }, said(lang, rule.title))));
  const worlds = element("div", { class: "rw-worlds" });
  const top = element("div", { class: "rw-top" }, [tableCard(scene), votesCard(scene)]);
  const dialog = element("dialog", { class: "rw", "aria-labelledby": "rw-title", "data-testid": "rules-scene" }, [
    element("header", {}, [icon("crown"), element("h2", { id: "rw-title" }, headline(answers, lang)), others.length && !first ? pick : null, closed === null ? null : close]),
    top, worlds,
  ]);
  dialog.addEventListener("close", () => {
    dialog.remove();
    returnFocus(before);
    if (byHand) closed?.();
  });
  if (first) {
    pick.value = first;
    dialog.dataset["followed"] = "";
    if (closed === null) {
      // Nothing in it can be pressed: it is scrolled by keyboard itself.
      dialog.tabIndex = 0;
      dialog.addEventListener("cancel", (event) => event.preventDefault());
    }
  }
  draw();
  document.body.append(dialog);
  dialog.showModal();
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
      pick.value = rule;
      draw();
      return true;
    },
  };

  function draw() {
    const chosen = others.find(({ id }) => id === pick.value);
    const engine = rules.find(({ id }) => id === ENGINE);
    const own = chosen ? worldOf(answers, chosen, lang) : null;
    const real = engine ? worldOf(answers, engine, lang) : null;
    worlds.replaceChildren(...[
      own ? worldCard(scene, own, false) : element("p", { class: "rw-agree" }, t("rules.agree")),
      real ? worldCard(scene, real, true) : null,
    ].filter((one) => one !== null));
    for (const row of dialog?.querySelectorAll?.("[data-rule]") ?? []) row.classList.toggle("on", row.getAttribute("data-rule") === chosen?.id);
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
function votesCard({ lang, rules, votes, t }) {
  const rows = believedOf(rules, votes, lang);
  if (!rows.length) return null;
  return element("section", { class: "rw-card", "data-testid": "rules-votes" }, [
    element("h3", {}, t("rules.believed")),
    element("ul", { class: "rw-votes" }, rows.map((row) => {
      const bar = element("span", { class: row.right ? "bar right" : "bar", "aria-hidden": "true" });
      bar.style.width = `${100 * row.share}%`;
      return element("li", { "data-rule": row.id }, [
        element("span", {}, row.title), element("span", { class: "track" }, bar), element("b", {}, `${Math.round(100 * row.share)} %`),
        element("span", { class: "hint" }, number(lang, row.votes)),
      ]);
    })),
  ]);
}
