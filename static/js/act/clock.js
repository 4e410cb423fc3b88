/** Intents of the teacher's clock, of replicas and of pods that Permit holds: one request of the session API each. */

/** @import { Table, World } from "./world.js" */
import { speak } from "./world.js";

/**
 * @param {World} world
 * @returns {Pick<Table, "play" | "pause" | "step" | "clock" | "fault" | "judge">}
 */
export function clockIntents(world) {
  const { api } = world.actions;
  const { t, say, attempt } = speak(world);
  return {
    play: () => attempt(() => api.clock({ paused: false })),
    pause: () => attempt(() => api.clock({ paused: true })),
    step: ({ by, count }) => attempt(async () => {
      const { stepped, stepping } = await api.step(by, count);
      if (stepping) say(t("step_waits"), "note");
      else if (stepped === 0) say(t("nothing_to_step", { by: t(`step_${by}`) }), "note");
    }),
    clock({ type: _type, ...change }) {
      return attempt(() => api.clock(change));
    },
    fault: ({ type: _type, identity, ...body }) => attempt(() => api.fault(identity, body), t(`done_fault_${body.kind}`, { identity })),
    judge: ({ uid, plugin, verdict }) => attempt(() => api.judge(uid, plugin, verdict), t(`done_${verdict}`)),
  };
}
