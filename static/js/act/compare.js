/** Intents of Compare: which eras there are, and two schedulers run on the same pods. The panel is told the answer. */

/** @import { Compared } from "../lib/types.d.ts" */
/** @import { Table, World } from "./world.js" */
import { request } from "../net/rest.js";
import { speak } from "./world.js";

/** Milliseconds that both sides and the optimum may take on a slow machine. */
const TIMEOUT_MS = 90_000;

/**
 * @param {World} world
 * @returns {Pick<Table, "compare" | "eras">}
 */
export function compareIntents(world) {
  const { api } = world.actions;
  const { answer } = speak(world);
  return {
    compare: async ({ ask, told }) =>
      told(await answer("answer", () => /** @type {Promise<Compared>} */ (request("POST", `${api.session}/compare`, ask, { timeoutMs: TIMEOUT_MS })))),
    async eras({ told }) {
      const { scheduler } = await answer("scheduler", () => api.scheduler());
      told(scheduler?.eras ?? []);
    },
  };
}
