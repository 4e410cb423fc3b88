/** The finder on the page: a smallest cluster on which a rule goes wrong, both its worlds, and the way into it. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Answer } from "./finder_model.js" */
/** @import { Rule } from "./model.js" */
import { element, setText } from "../dom/dom.js";
import { said } from "../lib/said.js";
import { text } from "../lib/text.js";
import { findable, foundOf, refusalText, SEARCH_SECONDS } from "./finder_model.js";
import { player } from "./player.js";
import { worldCard } from "./worlds.js";

/** Milliseconds after which the seconds that are left are told anew. */
const TELL_MS = 250;

/**
 * @typedef {object} Finding what the finder is given to ask with
 * @property {(rule: string, seed: number | null) => Promise<Answer>} find
 * @property {((rule: string, seed: number) => Promise<{code: string, url: string}>) | null} play null: who looks may open none
 */

/** What was found last. @typedef {{answer: Answer | null}} Kept */

/**
 * @param {Lang} lang
 * @param {readonly Rule[]} rules
 * @param {Finding} finding
 * @param {string} first the rule that stands there; "" any
 * @param {Kept} kept what was found, also once all of it is told in another language
 */
export function mountFinder(lang, rules, { find, play }, first, kept) {
  const t = (/** @type {string} */ key, /** @type {Record<string, string>} */ values = {}) => text(lang, key, values);
  const pick = element("select", { class: "input", id: "rw-find-rule", "data-testid": "finder-rule", onchange: () => clear() },
    findable(rules).map((rule) => element("option", { value: rule.id, selected: rule.id === (kept.answer?.rule ?? first) }, said(lang, rule.title))));
  const button = element("button", { class: "primary", type: "button", "data-testid": "finder-find", onclick: () => void search() }, t("rules.find"));
  const bar = element("progress", { max: String(SEARCH_SECONDS), "aria-label": t("rules.find_busy", { seconds: String(SEARCH_SECONDS) }) });
  const words = element("span", { role: "status" });
  const busy = element("p", { class: "rw-find-busy", "data-testid": "finder-busy", hidden: true }, [bar, words]);
  const problem = element("p", { class: "field-error", role: "alert", "data-testid": "finder-problem" });
  const result = element("div", { class: "rw-found", "data-testid": "finder-result", "aria-live": "polite" });
  const root = element("section", { class: "rw-card rw-find", "data-testid": "finder", "aria-labelledby": "rw-find-title" }, [
    element("h3", { id: "rw-find-title" }, t("rules.find_title")),
    element("p", { class: "hint" }, t("rules.find_hint")),
    element("div", { class: "rw-find-row" }, [element("label", { for: "rw-find-rule" }, t("rules.pick")), pick, button]),
    busy, problem, result,
  ]);

  if (kept.answer) show(kept.answer);

  function clear() {
    kept.answer = null;
    setText(problem, "");
    setText(button, t("rules.find"));
    result.replaceChildren();
  }

  async function search() {
    const rule = pick.value;
    const began = performance.now();
    const tell = () => {
      const gone = (performance.now() - began) / 1000;
      bar.value = Math.min(SEARCH_SECONDS, gone);
      // Told once to a screen reader: who sees it sees the bar fill.
      setText(words, t("rules.find_busy", { seconds: String(SEARCH_SECONDS) }));
    };
    setText(problem, "");
    result.replaceChildren();
    busy.hidden = false;
    button.disabled = pick.disabled = true;
    tell();
    const ticking = setInterval(tell, TELL_MS);
    await attempt(async () => {
      // The next search looks on where the one before has ended.
      kept.answer = await find(rule, kept.answer === null ? null : kept.answer.seed + 1);
      show(kept.answer);
    });
    clearInterval(ticking);
    busy.hidden = true;
    button.disabled = pick.disabled = false;
  }

  /** @param {Answer} answer */
  function show(answer) {
    setText(button, t("rules.find_more"));
    const told = foundOf(answer, rules, lang);
    if (!told) return setText(problem, t("rules.find_none"));
    result.replaceChildren(
      element("p", { class: "rw-found-size" }, [element("b", {}, told.size), element("span", { class: "hint" }, told.looked)]),
      element("p", {}, told.pod),
      element("div", { class: "rw-worlds" }, told.worlds.map((world, at) => worldCard({ t, play: null }, world, at === told.worlds.length - 1))),
      element("ul", { class: "rw-found-facts hint" }, told.facts.map((line) => element("li", {}, line))),
      ...(play ? [player(t, "rules.find_open", "finder-open", () => play(answer.rule, answer.seed), attempt)] : []),
    );
  }

  /** @param {() => Promise<unknown>} work */
  async function attempt(work) {
    setText(problem, "");
    try {
      await work();
    } catch (refusal) {
      if (!(refusal instanceof Error)) throw refusal;
      setText(problem, refusalText(refusal, lang));
    }
  }

  return {
    element: root,
    /** Looks for another rule, while none is being looked for. @param {string} rule */
    about(rule) {
      if (button.disabled || pick.value === rule || ![...pick.options].some(({ value }) => value === rule)) return;
      pick.value = rule;
      clear();
    },
  };
}
