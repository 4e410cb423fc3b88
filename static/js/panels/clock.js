/** The simulated clock: play and pause, step, rate, pace, simulated time, resourceVersion. */

/** @import { Dispatch, StepBy, Ui, View } from "../lib/types.d.ts" */
import { append, element, icon, setAttribute, setText } from "../dom/dom.js";
import { atMostEvery, TICK_MS } from "../lib/paced.js";
import { clockTime, number, text } from "../lib/text.js";
import { rateOfSlider, roundRate, sliderOfRate } from "../lib/rate.js";
import { refusedCluster } from "../state/roles.js";

const STEPS = /** @type {const} */ (["point", "cycle", "event"]);
/** Milliseconds of simulated time a cycle may spend at each point; the server takes any number up to 60,000. */
const PACES = [0, 100, 250, 500, 1000, 2000, 5000];

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 */
export function mountClock(root, dispatch) {
  const parts = partsOf(dispatch);
  const { play, rate, pace } = parts;
  append(root, [
    parts.standing, play, parts.steps, element("div", { class: "speed" }, [
      parts.rateLabel, rate, parts.rateValue, element("i"), parts.paceLabel, pace,
    ]),
    element("div", { class: "reading time-reading" }, [parts.timeLabel, parts.time]),
    element("div", { class: "reading" }, [parts.revisionLabel, parts.revision]),
  ]);

  let paused = true;
  let sliding = false;
  const readingDue = atMostEvery(TICK_MS);
  play.addEventListener("click", () => dispatch({ type: paused ? "play" : "pause" }));
  rate.addEventListener("input", () => {
    sliding = true;
    setText(parts.rateValue, `${rateOfSlider(Number(rate.value))}×`);
  });
  rate.addEventListener("change", () => {
    sliding = false;
    dispatch({ type: "clock", rate: rateOfSlider(Number(rate.value)) });
  });
  pace.addEventListener("change", () => dispatch({ type: "clock", pace: Number(pace.value) }));

  return {
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, { lang }) {
      const clock = view.clock;
      const refused = refusedCluster(view.me);
      const reason = refused ? text(lang, refused) : "";
      if (paused !== (clock?.paused ?? true) || !play.firstChild) {
        paused = clock?.paused ?? true;
        play.replaceChildren(icon(paused ? "play" : "pause"));
      }
      name(play, text(lang, paused ? "play" : "pause"), reason);
      renderStanding(parts, view, lang, reason);
      renderSteps(parts, lang, reason);
      renderRate(parts, clock, lang, { reason, sliding });
      renderPace(parts, clock, lang, reason);
      setText(parts.timeLabel, text(lang, clock?.hibernated ? "hibernated" : "simulated_time"));
      setText(parts.revisionLabel, text(lang, "revision"));
      setText(parts.revision, number(lang, view.revision));
    },
    /**
     * @param {View} view
     * @param {number} nowMs simulated
     */
    tick(view, nowMs) {
      // Each reading has the page laid out and painted. Where time stands it is exact at once.
      if (view.clock && !view.clock.paused && !readingDue(performance.now())) return;
      setText(parts.time, view.clock ? clockTime(view.epochMs + nowMs, true) : "–");
    },
  };
}

/** @typedef {ReturnType<typeof partsOf>} Parts */

/** @param {Dispatch} dispatch */
function partsOf(dispatch) {
  const stepButtons = STEPS.map((by) => ({ by, button: stepButton(by, dispatch) }));
  return {
    standing: element("span", { class: "chip clock-standing", "data-testid": "clock-standing" }, [icon("pause"), element("span")]),
    play: element("button", { class: "primary play-button", type: "button", "data-testid": "clock-play" }),
    steps: element("div", { class: "segmented steps", role: "toolbar" }, stepButtons.map(({ button }) => button)),
    stepButtons,
    rateLabel: element("label", { for: "clock-rate" }),
    rate: element("input", {
      id: "clock-rate", type: "range", min: -1, max: 2, step: 0.05, "data-testid": "clock-rate",
    }),
    rateValue: element("output", { for: "clock-rate", class: "rate-value" }),
    paceLabel: element("label", { for: "clock-pace" }),
    pace: element("select", { id: "clock-pace", "data-testid": "clock-pace" }),
    timeLabel: element("small"),
    time: element("b", { "data-testid": "clock-time", role: "timer" }),
    revisionLabel: element("small"),
    revision: element("b", { "data-testid": "revision" }),
  };
}

/**
 * How time stands, for who cannot change it: controls that nobody may use would only ask why.
 * @param {Parts} parts
 * @param {View} view
 * @param {Ui["lang"]} lang
 * @param {string} reason why it cannot be changed
 */
function renderStanding({ standing }, { clock, me }, lang, reason) {
  standing.hidden = me?.role !== "student" || !clock;
  if (standing.hidden || !clock) return;
  const how = clock.held ? "held" : clock.paused ? "stands" : "runs";
  standing.classList.toggle("amber", how !== "runs");
  standing.firstElementChild?.toggleAttribute("hidden", how === "runs");
  setText(/** @type {Element} */ (standing.lastElementChild), text(lang, `clock_${how}`, { rate: roundRate(clock.rate) }));
  setAttribute(standing, "title", reason);
}

/**
 * @param {Parts} parts
 * @param {Ui["lang"]} lang
 * @param {string} reason "" when it may be used
 */
function renderSteps({ steps, stepButtons }, lang, reason) {
  setAttribute(steps, "aria-label", text(lang, "step"));
  for (const { by, button } of stepButtons) {
    setText(/** @type {Element} */ (button.lastElementChild), text(lang, `step_${by}`));
    name(button, text(lang, `step_${by}_title`), reason);
  }
}

/**
 * @param {Parts} parts
 * @param {View["clock"]} clock
 * @param {Ui["lang"]} lang
 * @param {{reason: string, sliding: boolean}} state while someone slides, the slider is theirs
 */
function renderRate({ rateLabel, rate, rateValue }, clock, lang, { reason, sliding }) {
  const asked = clock?.rate ?? 1;
  const real = clock?.effectiveRate ?? asked;
  setText(rateLabel, text(lang, "rate"));
  rate.disabled = Boolean(reason);
  if (!sliding) {
    rate.value = String(sliderOfRate(asked));
    setText(rateValue, `${roundRate(asked)}×`);
  }
  const behind = !(clock?.paused ?? true) && real < asked * 0.9;
  const keeps = behind ? text(lang, "rate_keeps", { rate: roundRate(real) }) : "";
  setAttribute(rate, "title", reason || text(lang, "rate_title") + (keeps && ` (${keeps})`));
  rateValue.classList.toggle("behind", behind);
  setAttribute(rateValue, "title", keeps || null);
}

/**
 * @param {Parts} parts
 * @param {View["clock"]} clock
 * @param {Ui["lang"]} lang
 * @param {string} reason "" when it may be used
 */
function renderPace({ paceLabel, pace }, clock, lang, reason) {
  setText(paceLabel, text(lang, "pace"));
  pace.disabled = Boolean(reason);
  const told = clock?.narrated?.oneIn ?? 1;
  const title = told > 1 ? text(lang, "narrated", { count: told }) : text(lang, "pace_title");
  setAttribute(pace, "title", reason || title);
  pace.classList.toggle("behind", told > 1);
  const current = clock?.pace ?? 0;
  const key = `${lang} ${current}`;
  if (pace.dataset["key"] === key) return;
  pace.dataset["key"] = key;
  const values = PACES.includes(current) ? PACES : [...PACES, current].sort((a, b) => a - b);
  pace.replaceChildren(...values.map((value) =>
    element("option", { value }, value === 0 ? text(lang, "pace_none") : paceText(value))));
  pace.value = String(current);
}

/** @param {number} ms */
function paceText(ms) {
  return ms < 1000 ? `${ms} ms` : `${ms / 1000} s`;
}

/**
 * A button's name; while it is refused the reason is its description and it stays reachable by keyboard.
 * @param {HTMLButtonElement} button
 * @param {string} label
 * @param {string} reason "" when it may be used
 */
function name(button, label, reason) {
  setAttribute(button, "aria-label", label);
  setAttribute(button, "title", reason || label);
  setAttribute(button, "aria-disabled", reason ? "true" : null);
}

/**
 * @param {StepBy} by
 * @param {Dispatch} dispatch
 */
function stepButton(by, dispatch) {
  const button = element("button", { type: "button", "data-testid": `clock-step-${by}` }, [
    by === "point" && icon("step"),
    element("span"),
  ]);
  button.addEventListener("click", () => dispatch({ type: "step", by }));
  return button;
}
