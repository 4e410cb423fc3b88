/**
 * The What if tab of a pod: the single changes that would let a pending pod in, each to try on a copy or to make; and
 * the chosen attempt taken again with other weights, plugins, requests or one node more.
 */

/** @import { Change, Fit, Lang, Me, PodSlim, Trace, Trial, View, WeightsAlone, WhatIfAnswer, WhatIfLast } from "../lib/types.d.ts" */
import { element } from "../dom/dom.js";
import { text } from "../lib/text.js";
import { saidName } from "../state/people.js";
import { mountFits } from "./fits.js";
import { mountTrial } from "./trial.js";

/**
 * What the tab asks for; each answers `{refusal}` where the server says no.
 * @typedef {object} Asks
 * @property {() => Promise<{eras?: string[], refusal?: Refusal}>} eras
 * @property {(decision: string, then: boolean) => Promise<{fits?: Fit[], refusal?: {message: string}}>} fits
 * @property {(decision: string, changes: readonly Change[]) => Promise<{answer?: WhatIfAnswer, refusal?: Refusal}>} ask
 * @property {(changes: readonly Change[], last: number) => Promise<{last?: WhatIfLast, refusal?: Refusal}>} last
 * @property {(last: number) => Promise<{alone?: WeightsAlone, refusal?: Refusal}>} alone
 * @property {(changes: readonly Change[], pod: string) => Promise<{undo?: (() => Promise<void>) | null, refusal?: Refusal}>} apply
 * @property {(changes: readonly Change[], pod: string, revision: number | null) =>
 *   Promise<{copy?: {code: string, url: string}, refusal?: Refusal}>} copy
 * @property {(undo: () => Promise<void>) => Promise<{refusal?: Refusal}>} undo
 *
 * @typedef {{message: string, causes?: {field: string, message: string}[]}} Refusal
 *
 * @typedef {object} WhatIfInput
 * @property {PodSlim} pod
 * @property {View} view
 * @property {readonly Trace[]} traces newest first
 * @property {string} selectedTraceId
 * @property {boolean} loading
 * @property {Lang} lang
 * @property {Me | null} me
 * @property {readonly string[]} [eras] of schedulers that there are, once the server has told them
 */

/**
 * @param {HTMLElement} root
 * @param {Asks} asks
 * @param {(trial: Trial | null) => void} show what the stage is to show of it
 */
export function mountWhatIf(root, asks, show) {
  root.classList.add("wi");
  const head = element("p", { class: "wi-attempt" });
  const fits = mountFits(asks);
  const trial = mountTrial(asks, show);
  const none = element("p", { class: "wi-none" });
  root.replaceChildren(none, head, fits.element, trial.element);
  /** @type {readonly string[]} */
  let eras = [];
  /** @type {WhatIfInput | null} */
  let shown = null;
  void asks.eras().then((told) => {
    eras = told.eras ?? [];
    if (shown) render(shown);
  });

  /** @param {WhatIfInput} input */
  function render(input) {
    shown = input;
    const { traces, selectedTraceId, loading, lang } = input;
    const trace = traces.find((one) => one.id === selectedTraceId) ?? traces[0];
    none.hidden = Boolean(trace);
    for (const part of [head, fits.element, trial.element]) part.hidden = !trace;
    if (!trace) {
      none.textContent = text(lang, loading ? "whatif.loading" : "whatif.none");
      return;
    }
    head.textContent = text(lang, "whatif.attempt", {
      n: trace.attempt, pod: saidName(input.view, input.pod.metadata.namespace, input.pod.metadata.name),
    });
    fits.render(trace, input);
    trial.render(trace, { ...input, eras });
  }

  return { render };
}
