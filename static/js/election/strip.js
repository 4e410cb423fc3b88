/** What stands around the Gantt: a card a replica, the settings, why it came so, the newest tries and refused writes. */

/** @import { Dispatch, Lang, ReplicaSlim, Ui, View } from "../lib/types.d.ts" */
/** @import { Colours } from "../dom/colours.js" */
/** @import { Story } from "./model.js" */
/** @import { Renewal } from "./recorder.js" */
import { element, icon, setAttribute, setText, syncList } from "../dom/dom.js";
import { clockTime, number, text } from "../lib/text.js";
import { replicas } from "../state/selectors.js";
import { hueOf } from "./charts.js";
import { rateSlider } from "./rate.js";
import { branchWords, timings, whyWords } from "./words.js";

const MOMENTS_SHOWN = 3;
const LINES_SHOWN = 8;

/** @param {Dispatch} dispatch */
export function surroundings(dispatch) {
  const cards = element("div", { class: "election-cards", role: "list" });
  const settings = element("dl", { class: "election-settings" });
  const why = element("div", { class: "election-moments", "data-testid": "election-why" });
  const note = element("p", { class: "election-note", "data-testid": "election-note" });
  const titles = { why: element("h3"), tries: element("h3"), refused: element("h3") };
  const tries = element("ul", { class: "election-lines", "data-testid": "election-tries" });
  const refused = element("ul", { class: "election-lines", "data-testid": "election-refused" });
  const end = element("p", { class: "hint" });
  const rate = rateSlider(dispatch);

  return {
    strip: element("div", { class: "election-strip" }, cards, settings),
    aside: element("aside", { class: "election-aside", tabindex: "0" }, titles.why, why, note, rate.root, titles.tries, tries, titles.refused, refused, end),
    /**
     * @param {View} view
     * @param {Ui} ui
     * @param {{story: Story, component: "kube-scheduler" | "kube-controller-manager", colours: Colours, fromMs: number, renewals: readonly Renewal[]}} told
     */
    render(view, ui, { story, component, colours, fromMs, renewals }) {
      const { lang } = ui;
      const time = (/** @type {number} */ t) => clockTime(view.epochMs + t, true).slice(0, -2);
      const t = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ values = {}) => text(lang, key, values);
      const all = replicas(view, component);
      setAttribute(cards, "aria-label", t("election.replicas"));
      syncList(cards, all, (one) => one.metadata.name, (one) => card(one, dispatch), (place, one) =>
        tellCard(place, one, all.indexOf(one), { story, colours, ui, view, retry: timings(view, component).retry }));
      tellSettings(settings, timings(view, component), lang);

      setText(titles.why, t("election.why"));
      const moments = [...story.windows, ...story.gaps].filter((one) => one.toMs >= fromMs).sort((a, b) => b.fromMs - a.fromMs).slice(0, MOMENTS_SHOWN);
      syncList(why, moments, (one) => `${"who" in one} ${one.fromMs} ${lang}`, (one) => {
        const before = renewals.findLast((each) => each.t < one.fromMs);
        return element("section", { class: "who" in one ? "two" : "none-led" },
          element("h4"), element("p"),
          before && element("button", { class: "button small", type: "button", onclick: () => dispatch({ type: "hold", revision: before.revision }) }, t("election.before")));
      }, (place, one) => {
        const seconds = number(lang, (one.toMs - one.fromMs) / 1000, 1);
        setText(/** @type {Element} */ (place.querySelector("h4")), `${time(one.fromMs)} ${t("who" in one ? "election.twoLed" : "election.gap", { seconds })}`);
        setText(/** @type {Element} */ (place.querySelector("p")), whyWords(lang, story, one, time));
      });
      if (moments.length === 0) why.replaceChildren(element("p", { class: "hint", "data-key": "calm" }, t("election.calm")));
      tellNote(note, all, timings(view, component), lang);
      const teaches = view.me?.role === "teacher" && !ui.past.revision;
      rate.render((teaches && all.find((one) => one.status?.leading)) || null, timings(view, component), lang);

      setText(titles.tries, t("election.tries"));
      const newest = all.flatMap((one) => (one.status?.tries ?? []).map((each) => ({ ...each, who: one.metadata.name })))
        .filter((one) => one.atMs <= story.toMs).sort((a, b) => b.atMs - a.atMs).slice(0, LINES_SHOWN);
      lines(tries, newest.map((one) => ({ key: `${one.who} ${one.atMs} ${one.branch}`, head: `${time(one.atMs)} ${one.who}`, said: branchWords(lang, one.branch), code: one.conflict ? "409" : "" })));
      setText(titles.refused, t("election.refusedTitle"));
      const no = story.writes.filter((one) => one.message !== null).slice(-LINES_SHOWN).reverse();
      lines(refused, no.map((one, index) => ({ key: `${one.who} ${one.t} ${index}`, head: `${time(one.t)} ${one.who}`, said: one.message ?? "", code: "409" })));
      setText(end, t(no.length ? "election.once" : "election.noneRefused"));
    },
  };
}

/**
 * @param {HTMLElement} list
 * @param {readonly {key: string, head: string, said: string, code: string}[]} rows
 */
function lines(list, rows) {
  syncList(list, rows, (one) => one.key, () => element("li", {}, element("b"), element("span", { class: "chip bad" }), element("p")), (row, one) => {
    const [head, code, said] = /** @type {[HTMLElement, HTMLElement, HTMLElement]} */ (/** @type {unknown} */ ([...row.children]));
    setText(head, one.head);
    setText(said, one.said);
    setText(code, one.code && `✕ ${one.code}`);
    code.hidden = !one.code;
  });
}

/**
 * @param {ReplicaSlim} replica
 * @param {Dispatch} dispatch
 */
function card({ metadata: { name } }, dispatch) {
  const fault = element("button", { class: "ghost", type: "button", onclick: () => dispatch({ type: "openFault", identity: name }) }, icon("bolt"));
  return element("div", { class: "election-card", role: "listitem", "data-testid": `election-card-${name}` },
    element("div", { class: "election-name" }, element("i", { class: "election-dot" }), element("b", {}, name), element("span", { class: "chip" }), fault),
    element("p"), element("p", { class: "hint" }));
}

/**
 * @param {HTMLElement} place
 * @param {ReplicaSlim} replica
 * @param {number} index
 * @param {{story: Story, colours: Colours, ui: Ui, view: View, retry: number}} told `retry`: seconds between two tries for the lease
 */
function tellCard(place, { metadata: { name }, status }, index, { story, colours, ui, view, retry }) {
  const { lang } = ui;
  const row = story.rows.find((one) => one.identity === name);
  const belief = row?.beliefs.at(-1);
  const holder = story.lease.at(-1)?.holder ?? "";
  const state = status?.state === "Crashed" ? "down" : !belief?.open ? "standby" : holder && holder !== name ? "stale" : "leader";
  place.dataset["state"] = state;
  place.style.setProperty("--hue", hueOf(colours, index).fill);
  const chip = /** @type {HTMLElement} */ (place.querySelector(".chip"));
  if (chip.dataset["said"] !== `${state} ${lang}`) {
    chip.dataset["said"] = `${state} ${lang}`;
    chip.className = `chip ${{ leader: "good", stale: "bad", standby: "", down: "bad" }[state]}`;
    chip.replaceChildren(...(state === "leader" ? [icon("crown")] : []), text(lang, `election.state.${state}`));
  }
  const [first, second] = place.querySelectorAll("p");
  const sight = row?.sights.findLast((one) => one.expiresMs > story.toMs);
  const since = belief?.open ? text(lang, "election.since", { time: clockTime(view.epochMs + belief.fromMs) })
    : state === "down" ? text(lang, "election.down")
      : sight ? text(lang, "election.seesEnd", { holder: sight.holder, seconds: number(lang, (sight.expiresMs - story.toMs) / 1000, 1) })
        : followsWords(lang, status?.lease, retry);
  const clock = (status?.clockRate ?? 1) !== 1 ? text(lang, "election.clockRate", { rate: number(lang, status?.clockRate ?? 1, 2) })
    : Math.abs(status?.clockSkewMs ?? 0) >= 1 ? text(lang, "election.clockOff", { seconds: number(lang, (status?.clockSkewMs ?? 0) / 1000, 1) })
      : "";
  if (first) setText(first, clock ? `${since} · ${clock}` : since);
  if (second) setText(second, text(lang, "election.lastTry", { branch: branchWords(lang, status?.lastBranch ?? "") }));
  const fault = /** @type {HTMLElement} */ (place.querySelector("button"));
  setAttribute(fault, "aria-label", text(lang, "election.doFaultTo", { who: name }));
  setAttribute(fault, "title", text(lang, "election.doFaultTo", { who: name }));
  fault.hidden = view.me?.role !== "teacher" || Boolean(ui.past.revision);
}

/**
 * What one does that neither leads nor waits for an end that it sees.
 * @param {Lang} lang
 * @param {{holder?: string} | null | undefined} lease as it has seen it; none where it has seen none yet
 * @param {number} retry seconds between its tries
 */
export function followsWords(lang, lease, retry) {
  const seconds = number(lang, retry, 1);
  if (lease?.holder) return text(lang, "election.follows", { holder: lease.holder });
  return text(lang, lease ? "election.seesFree" : "election.seesNone", { seconds });
}

/**
 * @param {HTMLElement} list
 * @param {ReturnType<typeof timings>} seconds
 * @param {Lang} lang
 */
function tellSettings(list, { lease, deadline, retry }, lang) {
  const told = `${lease} ${deadline} ${retry} ${lang}`;
  if (list.dataset["told"] === told) return;
  list.dataset["told"] = told;
  list.replaceChildren(...[["LeaseDuration", lease], ["RenewDeadline", deadline], ["RetryPeriod", retry]].map(([name, value]) =>
    element("div", {}, element("dt", {}, String(name)), element("dd", {}, `${number(lang, Number(value), 1)} s`))));
}

/**
 * Why a wrong clock does no harm, and a slow one does.
 * @param {HTMLElement} place
 * @param {readonly ReplicaSlim[]} all
 * @param {ReturnType<typeof timings>} seconds
 * @param {Lang} lang
 */
function tellNote(place, all, { lease, deadline, retry }, lang) {
  const rate = Math.min(...all.map(({ status }) => status?.clockRate ?? 1));
  const need = (deadline + retry) / rate;
  const key = rate < 1 ? (need > lease ? "election.slow" : "election.slowEnough") : "election.offset";
  setText(place, text(lang, key, { rate: number(lang, rate, 2), need: number(lang, need, 1), lease: number(lang, lease, 1), sum: number(lang, deadline + retry, 1) }));
  place.hidden = rate >= 1 && !all.some(({ status }) => Math.abs(status?.clockSkewMs ?? 0) >= 1);
}
