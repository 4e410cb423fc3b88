/** Asking the class: the dialog and the question that it opens. Fetched when somebody asks. */

/** @import { Table, World } from "./world.js" */
import { openAsk } from "../forms/ask_dialog.js";
import { loadTexts } from "../lib/text.js";
import { ClassApi } from "../net/classroom.js";
import { saidKey } from "../state/people.js";
import { speak } from "./world.js";

/**
 * @param {World} world
 * @returns {Promise<Pick<Table, "askClass">>}
 */
export async function askIntents(world) {
  const { t, refused } = speak(world);
  await loadTexts(world.ui().lang, "class");
  const api = new ClassApi(world.code);
  return { askClass: ({ pod }) => openAsk({ t, pod, name: saidKey(world.view(), pod), ask: (question) => refused(() => api.open(question)) }) };
}
