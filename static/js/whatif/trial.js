/** What if: one attempt taken again with other weights, plugins off, another request, a node more. */

/** @import { Change, PodSlim, Trace, Trial, WhatIfAnswer, WhatIfLast } from "../lib/types.d.ts" */
/** @import { Asks, WhatIfInput } from "./panel.js" */
import { element, keepFocus } from "../dom/dom.js";
import { text } from "../lib/text.js";
import { saidKey } from "../state/people.js";
import { difference } from "./difference.js";
import { mountLast } from "./last.js";
import { trialOfAnswer, trialOfLast } from "./onstage.js";
import { UNCHANGED, askedBy, changesOf, likeNodes, pluginsOf } from "./model.js";
import { mountWeights } from "./weights.js";

/** Milliseconds after the last move of a slider before the server is asked. */
const REST_MS = 250;

/** @typedef {import("./model.js").Wanted} Wanted */

/**
 * @param {Asks} asks
 * @param {(trial: Trial | null) => void} show what the stage is to show
 */
export function mountTrial(asks, show) {
  const [title, note, others] = [element("h3"), element("p", { class: "wi-note" }), element("div", { class: "wi-others" })];
  const weights = mountWeights(asks);
  const outcome = element("div", { class: "wi-outcome", "data-testid": "whatif-outcome", "aria-live": "polite" });
  const onStage = () => show(input && staged(input.pod, last.found(), answer));
  const last = mountLast(asks, onStage);
  const reset = element("button", { class: "button", type: "button", "data-testid": "whatif-reset" });
  const root = element("section", { class: "wi-section" }, [
    element("div", { class: "wi-head" }, [title, reset]), note, weights.element, others, outcome, last.element,
  ]);

  /** @type {Wanted} */
  let wanted = UNCHANGED;
  /** @type {WhatIfAnswer | null} */
  let answer = null;
  let problem = "";
  let asking = false;
  let drawn = "";
  /** @type {Trace | null} */
  let trace = null;
  /** @type {WhatIfInput | null} */
  let input = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let turn = 0;

  reset.addEventListener("click", () => {
    drawn = "";
    change(UNCHANGED);
    draw();
  });

  /** @param {Wanted} next */
  function change(next) {
    wanted = next;
    clearTimeout(timer);
    turn += 1;
    const changes = told();
    if (!changes.length) {
      [answer, problem, asking] = [null, "", false];
      drawOutcome();
      return onStage();
    }
    asking = true;
    drawOutcome();
    timer = setTimeout(() => void ask(changes, turn), REST_MS);
  }

  /** @returns {Change[]} */
  const told = () => (trace && input ? changesOf(wanted, pluginsOf(input.view, trace), input.view) : []);

  /** @param {Change[]} changes @param {number} mine */
  async function ask(changes, mine) {
    const asked = await asks.ask(trace?.id ?? "", changes);
    if (mine !== turn) return;
    [asking, answer] = [false, asked.answer ?? null];
    problem = asked.refusal?.causes?.[0]?.message ?? asked.refusal?.message ?? "";
    onStage();
    drawOutcome();
  }

  /** @param {Trace} next @param {WhatIfInput} given */
  function render(next, given) {
    const [other, again] = [next.uid !== trace?.uid, next.id !== trace?.id || next.point !== trace?.point];
    if (next.id !== trace?.id) void weights.ask();
    trace = next;
    input = given;
    // Another attempt of the pod is asked what the one before was.
    if (other) change(UNCHANGED);
    else if (again && told().length) change(wanted);
    draw();
  }

  function draw() {
    if (!trace || !input) return;
    const { lang, view } = input;
    const [plugins, nodes, asked] = [pluginsOf(view, trace), likeNodes(view), askedBy(input.pod)];
    const look = JSON.stringify([lang, trace.uid, plugins, nodes, input.eras, asked]);
    if (look === drawn) return;
    drawn = look;
    const t = (/** @type {string} */ name, /** @type {Record<string, string | number>} */ values = {}) => text(lang, name, values);
    title.textContent = t("whatif.title");
    note.textContent = t("whatif.note");
    reset.textContent = t("whatif.reset");
    weights.draw({ plugins, wanted: () => wanted, lang, change });
    controls(others, { plugins, nodes, eras: input.eras ?? [], asked, wanted: () => wanted, t, change });
    drawOutcome();
  }

  function drawOutcome() {
    if (!input || !trace) return;
    const [{ lang, view }, changes] = [input, told()];
    reset.hidden = !changes.length;
    // What another pod asks for says nothing about the others.
    last.render(changes.some((one) => "request" in one) ? [] : changes, (key) => saidKey(view, key), lang);
    tellOutcome(outcome, { problem, answer, asking, lang });
  }

  return { element: root, render };
}

/**
 * What the stage shows of the answers: of many decisions, where those stand there.
 * @param {PodSlim} pod
 * @param {WhatIfLast | null} many
 * @param {WhatIfAnswer | null} answer
 */
function staged({ metadata: { namespace, name } }, many, answer) {
  const key = `${namespace}/${name}`;
  return many ? trialOfLast(key, many) : answer && trialOfAnswer(key, answer);
}

/**
 * @param {HTMLElement} outcome
 * @param {{problem: string, answer: WhatIfAnswer | null, asking: boolean, lang: import("../lib/types.d.ts").Lang}} told
 */
function tellOutcome(outcome, { problem, answer, asking, lang }) {
  outcome.setAttribute("aria-busy", String(asking));
  if (problem) outcome.replaceChildren(element("p", { class: "wi-bad" }, problem));
  else if (answer) outcome.replaceChildren(...difference(answer, lang));
  else outcome.replaceChildren(...(asking ? [element("p", { class: "wi-note" }, text(lang, "whatif.asking"))] : []));
}

/**
 * @param {HTMLElement} others
 * @param {object} scope
 * @param {readonly {name: string, weight: number}[]} scope.plugins
 * @param {string[]} scope.nodes
 * @param {readonly string[]} scope.eras
 * @param {{cpu: string, memory: string}} scope.asked
 * @param {() => Wanted} scope.wanted
 * @param {(name: string, values?: Record<string, string | number>) => string} scope.t
 * @param {(wanted: Wanted) => void} scope.change
 */
function controls(others, { plugins, nodes, eras, asked, wanted, t, change }) {
  const { disable, cpu, memory, era, like } = wanted();
  const turn = (/** @type {Partial<Wanted>} */ part) => change({ ...wanted(), ...part });
  keepFocus(others, () => others.replaceChildren(
    select(t("whatif.without"), "whatif-disable", disable, ["", ...plugins.map((one) => one.name)], t("whatif.nothing"),
      (value) => turn({ disable: value })),
    select(t("whatif.era"), "whatif-era", era, ["", ...eras], t("whatif.nothing"), (value) => turn({ era: value })),
    field(t("whatif.cpu"), "whatif-cpu", cpu, asked.cpu, (value) => turn({ cpu: value })),
    field(t("whatif.memory"), "whatif-memory", memory, asked.memory, (value) => turn({ memory: value })),
    select(t("whatif.node"), "whatif-node", like, ["", ...nodes], t("whatif.nothing"), (value) => turn({ like: value })),
  ));
}

/**
 * @param {string} label
 * @param {string} id
 * @param {string} value
 * @param {string[]} values
 * @param {string} none what the empty value is called
 * @param {(value: string) => void} chosen
 */
function select(label, id, value, values, none, chosen) {
  const made = element("select", { "data-testid": id },
    values.map((one) => element("option", { value: one, selected: one === value }, one || none)));
  made.addEventListener("change", () => chosen(made.value));
  return element("label", {}, [element("span", {}, label), made]);
}

/**
 * @param {string} label
 * @param {string} id
 * @param {string} value
 * @param {string} example
 * @param {(value: string) => void} typed
 */
function field(label, id, value, example, typed) {
  const made = element("input", { type: "text", value, placeholder: example, "data-testid": id, autocomplete: "off" });
  made.addEventListener("input", () => typed(made.value.trim()));
  return element("label", {}, [element("span", {}, label), made]);
}
