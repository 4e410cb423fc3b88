/** Asking the class: the dialog and the question that it opens. Fetched when somebody asks. */

/** @import { View } from "../lib/types.d.ts" */
/** @import { Table, World } from "./world.js" */
import { openAsk } from "../forms/ask_dialog.js";
import { loadTexts } from "../lib/text.js";
import { POINTS } from "../lib/trace.js";
import { ClassApi } from "../net/classroom.js";
import { saidKey } from "../state/people.js";
import { cycleInHand } from "../state/selectors.js";
import { speak } from "./world.js";

/**
 * @param {World} world
 * @returns {Promise<Pick<Table, "askClass">>}
 */
export async function askIntents(world) {
  const { t, refused } = speak(world);
  await loadTexts(world.ui().lang, "class");
  const api = new ClassApi(world.code);
  return { askClass: ({ pod }) => openAsk({ t, pod, name: saidKey(world.view(), pod), point: seenOf(world.view(), pod), ask: (question) => refused(() => api.open(question)) }) };
}

/**
 * The point at which a pod's cycle stands, where those who watched it may know the answer already; else "".
 * @param {View} view
 * @param {string} pod
 */
function seenOf(view, pod) {
  const cycle = cycleInHand(view)?.cycle;
  return cycle?.pod === pod && POINTS.indexOf(cycle.point) >= POINTS.indexOf("Filter") ? cycle.point : "";
}
