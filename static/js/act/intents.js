/** The table of intents: each type stands once, in the file of its trade; the compiler asks for the missing ones. */

/** @import { Intent, Ui } from "../lib/types.d.ts" */
/** @import { Table, World } from "./world.js" */
import { loadTexts } from "../lib/text.js";
import { clockIntents } from "./clock.js";
import { dialogIntents } from "./dialogs.js";
import { fetched } from "./forms.js";
import { objectIntents } from "./objects.js";
import { pageIntents } from "./page.js";
import { isRefused, timeIntents } from "./timetravel.js";
import { speak } from "./world.js";

/** Where there is a class to teach. */
const teaching = fetched(async (/** @type {Ui} */ { lang, phone }) => {
  // A desk has their words already.
  const [{ classIntents }] = await Promise.all([import("./class.js"), phone ? loadTexts(lang, "presenting") : null]);
  return classIntents;
});
/** Where somebody can type a command. */
const command = fetched(() => import("./command.js"));
/** Where there is a dock to compare in. */
const comparing = fetched(async () => (await import("./compare.js")).compareIntents);
/** Where there is a class to ask. */
const asking = fetched(async () => (await import("./asking.js")).askIntents);

/** Where a decision is looked at under another rule, or pods are placed by hand. */
const ruling = fetched(async () => (await import("./rules.js")).ruleIntents);

/**
 * @param {World} world
 * @returns {(intent: Intent) => void | Promise<unknown>} done when what it began is done
 */
export function createIntents(world) {
  const { t, say, attempt } = speak(world);
  const objects = objectIntents(world);
  const dialogs = dialogIntents(world);
  /** @param {any} intent */
  const teach = (intent) => attempt(async () => /** @type {any} */ ((await teaching(world.ui()))(world))[intent.type](intent));
  /** @type {Table} */
  const table = {
    ...pageIntents(world), ...clockIntents(world), ...objects, ...dialogs, ...timeIntents(world),
    present: teach, freeze: teach, wallNames: teach, renamePerson: teach, mutePerson: teach, undoPerson: teach, mergePeople: teach, removePerson: teach, handOut: teach,
    enterCopy: teach, myCopy: teach, copyHanded: teach, goToWall: teach, wallHung: teach, lookedInto: teach, putOnWall: teach,
    openRules: (intent) => attempt(async () => (await ruling())(world).openRules(intent)),
    showWorld: (intent) => attempt(async () => (await ruling())(world).showWorld(intent)),
    openHomework: (intent) => attempt(async () => (await ruling())(world).openHomework(intent)),
    openByHand: (intent) => attempt(async () => (await ruling())(world).openByHand(intent)),
    compare: (intent) => attempt(async () => (await comparing())(world).compare(intent)),
    eras: (intent) => attempt(async () => (await comparing())(world).eras(intent)),
    askClass: (intent) => attempt(async () => (await (await asking())(world)).askClass(intent)),
    command: (intent) => attempt(async () => (await command()).command(intent, world, { ...objects, ...dialogs })),
  };
  // The type that chose the row is the type of the intent; a table of functions cannot say so.
  return (intent) => {
    if (isRefused(intent, Boolean(world.view().me?.past))) return say(t("reason_past"), "bad");
    return /** @type {(intent: Intent) => void | Promise<unknown>} */ (table[intent.type])(intent);
  };
}
