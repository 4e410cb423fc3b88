/** The simulated clock: play and pause, step, rate, pace, simulated time, resourceVersion. */

/** @import { Dispatch, StepBy, Ui, View } from "../lib/types.d.ts" */
import { append, element, icon, setAttribute, setText } from "../dom/dom.js";
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
  const play = element("button", { class: "primary play-button", type: "button", "data-testid": "clock-play" });
  const steps = element("div", { class: "segmented steps", role: "group" });
  const stepButtons = STEPS.map((by) => stepButton(by, dispatch));
  steps.append(...stepButtons);

  const rateLabel = element("label", { for: "clock-rate" });
  const rate = element("input", {
    id: "clock-rate", type: "range", min: -1, max: 2, step: 0.05, "data-testid": "clock-rate",
  });
  const rateValue = element("output", { for: "clock-rate", class: "rate-value" });
  const paceLabel = element("label", { for: "clock-pace" });
  const pace = element("select", { id: "clock-pace", "data-testid": "clock-pace" });
  const speed = element("div", { class: "speed" }, [rateLabel, rate, rateValue, element("i"), paceLabel, pace]);

  const timeLabel = element("small");
  const time = element("b", { "data-testid": "clock-time", role: "timer" });
  const revisionLabel = element("small");
  const revision = element("b", { "data-testid": "revision" });
  append(root, [
    play, steps, speed,
    element("div", { class: "reading time-reading" }, [timeLabel, time]),
    element("div", { class: "reading" }, [revisionLabel, revision]),
  ]);

  let paused = true;
  let sliding = false;
  play.addEventListener("click", () => dispatch({ type: paused ? "play" : "pause" }));
  rate.addEventListener("input", () => {
    sliding = true;
    setText(rateValue, `${rateOfSlider(Number(rate.value))}×`);
  });
  rate.addEventListener("change", () => {
    sliding = false;
    dispatch({ type: "clock", rate: rateOfSlider(Number(rate.value)) });
  });
  pace.addEventListener("change", () => dispatch({ type: "clock", pace: Number(pace.value) }));
  let shownPaces = "";

  return {
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      const { lang } = ui;
      const t = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ values = {}) =>
        text(lang, key, values);
      const clock = view.clock;
      const refused = refusedCluster(view.me);
      const reason = refused ? t(refused) : "";
      if (paused !== (clock?.paused ?? true) || !play.firstChild) {
        paused = clock?.paused ?? true;
        play.replaceChildren(icon(paused ? "play" : "pause"));
      }
      name(play, t(paused ? "play" : "pause"), reason);
      setAttribute(steps, "aria-label", t("step"));
      STEPS.forEach((by, index) => {
        const button = /** @type {HTMLButtonElement} */ (stepButtons[index]);
        setText(/** @type {Element} */ (button.lastElementChild), t(`step_${by}`));
        name(button, t(`step_${by}_title`), reason);
      });
      setText(rateLabel, t("rate"));
      setText(paceLabel, t("pace"));
      rate.disabled = Boolean(reason);
      pace.disabled = Boolean(reason);
      const asked = clock?.rate ?? 1;
      const real = clock?.effectiveRate ?? asked;
      if (!sliding) {
        rate.value = String(sliderOfRate(asked));
        setText(rateValue, `${roundRate(asked)}×`);
      }
      const keeps = !paused && real < asked * 0.9 ? ` (${t("rate_keeps", { rate: roundRate(real) })})` : "";
      setAttribute(rate, "title", reason || t("rate_title") + keeps);
      rateValue.classList.toggle("behind", Boolean(keeps));
      setAttribute(rateValue, "title", keeps ? t("rate_keeps", { rate: roundRate(real) }) : null);
      const told = clock?.narrated?.oneIn ?? 1;
      const paceTitle = told > 1 ? t("narrated", { count: told }) : t("pace_title");
      setAttribute(pace, "title", reason || paceTitle);
      pace.classList.toggle("behind", told > 1);
      showPaces(clock?.pace ?? 0, lang);
      setText(timeLabel, clock?.hibernated ? t("hibernated") : t("simulated_time"));
      setText(revisionLabel, t("revision"));
      setText(revision, number(lang, view.revision));
    },
    /**
     * @param {View} view
     * @param {number} nowMs simulated
     */
    tick(view, nowMs) {
      setText(time, view.clock ? clockTime(view.epochMs + nowMs, true) : "–");
    },
  };

  /**
   * @param {number} current
   * @param {Ui["lang"]} lang
   */
  function showPaces(current, lang) {
    const key = `${lang} ${current}`;
    if (key === shownPaces) return;
    shownPaces = key;
    const values = PACES.includes(current) ? PACES : [...PACES, current].sort((a, b) => a - b);
    pace.replaceChildren(...values.map((value) =>
      element("option", { value }, value === 0 ? text(lang, "pace_none") : paceText(value))));
    pace.value = String(current);
  }
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
