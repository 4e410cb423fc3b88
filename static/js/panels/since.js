/** What has changed since the moment that the page is held at, where the inspector has nothing else to show. */

/** @import { Dispatch, Lang, Mark, Ui, View } from "../lib/types.d.ts" */
import { element, icon, setText, syncList } from "../dom/dom.js";
import { clockTime, counted, number, text } from "../lib/text.js";
import { actorOf } from "../state/people.js";
import { rowsOf, sinceOf } from "../state/since.js";
import { bookmarksOf, LANES } from "../state/timeline.js";

/** Real milliseconds between two questions while somebody scrubs or the session goes on. */
const ASK_EVERY_MS = 1_000;
/** Rows that are listed; the timeline has all of them. */
const ROWS_MAX = 12;
const SIGNS = { ADDED: "●", MODIFIED: "◆", DELETED: "✕" };

/** @typedef {{marks: readonly Mark[], lanes: Readonly<Record<string, readonly number[]>>}} Told */

/**
 * @param {HTMLElement} inspector
 * @param {Dispatch} dispatch
 * @param {(range: {from: number, to: number}, lang: Lang) => Promise<Told>} ask
 */
export function mountSince(inspector, dispatch, ask) {
  const title = element("h2");
  const total = element("span", { class: "since-total" });
  const sums = /** @type {const} */ (["came", "changed", "gone"]).map((name) => {
    const count = element("b");
    const word = element("span");
    return { name, count, word, cell: element("li", { class: `since-${name}` }, count, word) };
  });
  const equation = element("p", { class: "hint" });
  const heads = /** @type {const} */ (["order", "lanes", "marks", "address"]).map((name) => ({ name, head: element("h3") }));
  const [order, byLane, marked, addressed] = heads.map(({ head }) => head);
  const rows = element("ol", { class: "since-rows" });
  const more = element("p", { class: "hint" });
  const lanes = element("ul", { class: "since-lanes" });
  const names = element("ul", { class: "since-names" });
  const address = element("code");
  const copy = element("button", { class: "button", type: "button", "data-testid": "since-copy", onclick: () => dispatch({ type: "copyAddress" }) });
  const root = element("div", { class: "since", "data-testid": "since" }, [
    element("header", {}, title, total), element("ul", { class: "since-sums" }, sums.map(({ cell }) => cell)), equation,
    order, rows, more, byLane, lanes, marked, names, addressed, element("p", { class: "since-address" }, address, copy),
  ]);
  root.hidden = true;
  inspector.append(root);

  /** @type {Told | null} */
  let told = null;
  let asked = "";
  let askedAtMs = -ASK_EVERY_MS;
  let wanted = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /**
   * @param {{from: number, to: number}} range
   * @param {Lang} lang
   */
  function follow(range, lang) {
    wanted = `${range.from} ${range.to} ${lang}`;
    if (wanted === asked) return;
    clearTimeout(timer);
    const own = wanted;
    timer = setTimeout(async () => {
      askedAtMs = performance.now();
      asked = own;
      const answer = range.from > range.to ? { marks: [], lanes: {} } : await ask(range, lang).catch(() => null);
      // Somebody has gone on meanwhile: their moment's answer is on its way.
      if (!answer || asked !== own) return;
      told = answer;
      dispatch({ type: "tab", tab: "since" });
    }, Math.max(0, askedAtMs + ASK_EVERY_MS - performance.now()));
  }

  return {
    /**
     * @param {View} view the moment that is shown
     * @param {View} live
     * @param {Ui} ui
     */
    render(view, live, ui) {
      const { lang, past } = ui;
      root.hidden = !past.revision || ui.selected !== null || ui.phone;
      document.body.classList.toggle("has-since", !root.hidden);
      if (root.hidden) return;
      const at = past.shown || past.revision;
      follow({ from: at + 1, to: live.revision }, lang);
      setText(title, text(lang, "since_title", { revision: number(lang, at) }));
      setText(total, counted(lang, "since_total", { n: Math.max(0, live.revision - at) }));
      const found = sinceOf(view, live);
      for (const { name, count, word } of sums) {
        setText(count, number(lang, found[name]));
        setText(word, text(lang, `since_${name}`));
      }
      setText(equation, counted(lang, "past_sums", { ...found }));
      for (const { name, head } of heads) setText(head, text(lang, `since_${name}`));
      const scope = { live, lang, dispatch };
      drawRows(rows, more, told, scope);
      drawLanes(lanes, byLane, told, lang);
      drawNames(names, marked, scope);
      setText(address, location.pathname + location.search);
      setText(copy, text(lang, "since_copy"));
      copy.setAttribute("aria-label", text(lang, "copy_address"));
    },
  };
}

/**
 * @param {HTMLElement} rows
 * @param {HTMLElement} more
 * @param {Told | null} told
 * @param {{live: View, lang: Lang, dispatch: Dispatch}} scope
 */
function drawRows(rows, more, told, { live, lang, dispatch }) {
  const all = rowsOf(told?.marks ?? []);
  syncList(rows, all.slice(0, ROWS_MAX), ({ first, more: others }) => `${first.rv} ${others} ${lang}`, ({ first, more: others }) => element("li", {},
    element("i", { title: text(lang, `verb_${first.verb}`) }, SIGNS[first.verb]),
    element("span", {}, element("span", {}, others ? text(lang, "since_others", { text: first.text, n: number(lang, others) }) : first.text),
      element("small", {}, actorOf(live, first.actor)?.name ?? said(first.actor, others))),
    element("span", { class: "since-when" }, element("time", {}, clockTime(live.epochMs + first.simTime * 1000)), element("button", {
      class: "link", type: "button", onclick: () => dispatch({ type: "hold", revision: first.rv }),
    }, text(lang, "since_rv", { revision: number(lang, first.rv) })))));
  const left = all.length - ROWS_MAX;
  more.hidden = left <= 0 && all.length > 0;
  setText(more, left > 0 ? text(lang, "since_more", { n: number(lang, left) }) : text(lang, told ? "since_nothing" : "since_loading"));
}

/**
 * Who did it; of several nodes' kubelets, that kubelets did.
 * @param {string} actor
 * @param {number} others
 */
function said(actor, others) {
  const name = actor.replace(/^user:/, "");
  return others ? name.split("/")[0] ?? name : name;
}

/**
 * @param {HTMLElement} lanes
 * @param {Element | undefined} head
 * @param {Told | null} told
 * @param {Lang} lang
 */
function drawLanes(lanes, head, told, lang) {
  const counts = LANES.map((lane) => ({ lane, n: (told?.lanes[lane] ?? []).reduce((sum, one) => sum + one, 0) })).filter(({ n }) => n > 0);
  const most = Math.max(1, ...counts.map(({ n }) => n));
  head?.toggleAttribute("hidden", counts.length === 0);
  syncList(lanes, counts.toSorted((a, b) => b.n - a.n), ({ lane, n }) => `${lane} ${n} ${most} ${lang}`, ({ lane, n }) => {
    const bar = element("i", { "aria-hidden": "true" });
    bar.style.width = `${(100 * n) / most}%`;
    return element("li", {}, element("span", {}, text(lang, `lane_${lane}`)), element("span", { class: "since-bar" }, bar), element("b", {}, number(lang, n)));
  });
}

/**
 * @param {HTMLElement} names
 * @param {Element | undefined} head
 * @param {{live: View, lang: Lang, dispatch: Dispatch}} scope
 */
function drawNames(names, head, { live, lang, dispatch }) {
  const kept = bookmarksOf(live.objects);
  head?.toggleAttribute("hidden", kept.length === 0);
  syncList(names, kept, ({ name, revision }) => `${revision} ${name} ${lang}`, ({ name, revision, atMs }) => element("li", {}, icon("tag"),
    element("b", {}, name), element("time", {}, clockTime(live.epochMs + atMs)), element("button", {
      class: "link", type: "button", onclick: () => dispatch({ type: "hold", revision }),
    }, text(lang, "since_rv", { revision: number(lang, revision) }))));
}
