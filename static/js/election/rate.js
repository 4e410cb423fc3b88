/** The clock of the leader as a slider: how slow it may run before two lead, and the fault that makes it so. */

/** @import { Dispatch, Lang, ReplicaSlim } from "../lib/types.d.ts" */
import { element, setAttribute, setText } from "../dom/dom.js";
import { number, text } from "../lib/text.js";

const SLOWEST = 0.1;
const FASTEST = 1.5;
const STEP = 0.1;

/** @param {Dispatch} dispatch */
export function rateSlider(dispatch) {
  const label = element("label", { for: "election-rate" });
  const value = element("output", { for: "election-rate" });
  const slider = element("input", { id: "election-rate", type: "range", min: SLOWEST, max: FASTEST, step: STEP, "data-testid": "election-rate" });
  const hint = element("p", { class: "hint" });
  const root = element("div", { class: "election-rate" }, label, slider, value, hint);
  let identity = "";
  /** @type {Lang} */
  let lang = "en";
  /** Set by a hand and not heard of yet; null: as the replica tells. @type {number | null} */
  let wanted = null;

  const show = (/** @type {number} */ rate) => {
    if (Number(slider.value) !== rate) slider.value = String(rate);
    setText(value, `${number(lang, rate, 1)}×`);
    setAttribute(slider, "aria-valuetext", value.textContent);
  };
  slider.addEventListener("input", () => show((wanted = Number(slider.value))));
  slider.addEventListener("change", () => dispatch({ type: "fault", identity, kind: "rate", rate: Number(slider.value) }));

  return {
    root,
    /**
     * @param {ReplicaSlim | null} leader null: nobody leads, or it may not be changed here
     * @param {{lease: number, deadline: number, retry: number}} seconds
     * @param {Lang} next
     */
    render(leader, { lease, deadline, retry }, next) {
      root.hidden = !leader;
      if (!leader) return;
      const told = leader.status?.clockRate ?? 1;
      if (leader.metadata.name !== identity || wanted === told) wanted = null;
      identity = leader.metadata.name;
      lang = next;
      setText(label, text(lang, "election.rateOf", { who: identity }));
      setText(hint, text(lang, "election.rateSafe", { rate: number(lang, (deadline + retry) / lease, 2) }));
      show(wanted ?? told);
    },
  };
}
