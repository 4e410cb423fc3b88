/** What every intent is given, and the way in which each tells how its work went. */

/** @import { Intent, Ui, View } from "../lib/types.d.ts" */
/** @import { Actions, Refused } from "./actions.js" */
/** @import { DecisionLoader } from "./decisions.js" */
/** @import { TimelineLoader } from "./timeline.js" */
/** @import { NoticeAction } from "../panels/toast.js" */
/** @import { Deeds } from "./undo.js" */
/** @import { PastLoader } from "./past.js" */
import { text } from "../lib/text.js";
import { refusalOf } from "./actions.js";

/**
 * @typedef {object} World
 * @property {Actions} actions
 * @property {Pick<DecisionLoader, "select">} decisions
 * @property {() => View} view
 * @property {() => Ui} ui
 * @property {(change: Partial<Ui>) => void} setUi
 * @property {(message: string, tone: Tone, closeLabel: string, action?: NoticeAction) => void} toast
 * @property {{openTab: (tab: string) => void, focus: () => void}} inspector
 * @property {Pick<PastLoader, "hold" | "release" | "play" | "stop">} past
 * @property {Pick<TimelineLoader, "zoom">} timeline
 * @property {() => Pick<Deeds, "undo" | "redo"> | null} deeds null before the desk is there
 * @property {string} code of the session
 * @property {(...names: string[]) => Promise<void>} styles adds style sheets to the page
 *
 * @typedef {"done" | "note" | "bad"} Tone done: something changed; note: nothing did, and why; bad: refused
 *
 * @typedef {{[Type in Intent["type"]]: (intent: Extract<Intent, {type: Type}>) => void | Promise<unknown>}} Table
 */

/**
 * The words of one world: texts in its language, notices, and work whose refusal is said.
 * @param {World} world
 */
export function speak(world) {
  const { ui, toast } = world;
  /** @param {string} key @param {Record<string, string | number>} [values] */
  const t = (key, values) => text(ui().lang, key, values);
  /** @param {string} message @param {Tone} [tone] @param {NoticeAction} [action] */
  const say = (message, tone = "done", action) => toast(message, tone, t("close"), action);
  /** @param {() => Promise<unknown>} work */
  const refused = (work) => refusalOf(work, t("unreachable"));

  return {
    t,
    say,
    refused,
    /**
     * Say what was done, with the way to take it back.
     * @param {string} done
     */
    sayDone: (done) => say(done, "done", world.deeds() ? { label: t("undo.undo"), run: () => void undo(world) } : undefined),
    /**
     * Do some work and say how it went.
     * @param {() => Promise<unknown>} work
     * @param {string} [done]
     * @returns {Promise<Refused | null>} why it was not done, which has been said; null where it was
     */
    async attempt(work, done) {
      const refusal = await refused(work);
      if (refusal) say(refusal.message, "bad");
      else if (done) say(done);
      return refusal;
    },
    /**
     * What some work answers, under a name, or its refusal.
     * @param {string} name
     * @param {() => Promise<any>} work
     * @returns {Promise<any>} `{[name]: value}` or `{refusal: Refused}`
     */
    async answer(name, work) {
      /** @type {any} */
      let value = null;
      const refusal = await refused(async () => {
        value = await work();
      });
      return refusal ? { refusal } : { [name]: value };
    },
  };
}

/**
 * Take back what this person did last, and say what that was or why it stays.
 * @param {World} world
 */
export function undo(world) {
  return turned(world, (deeds) => deeds.undo());
}

/**
 * Do again what this person took back last.
 * @param {World} world
 */
export function redo(world) {
  return turned(world, (deeds) => deeds.redo());
}

/**
 * @param {World} world
 * @param {(deeds: Pick<Deeds, "undo" | "redo">) => ReturnType<Deeds["undo"]>} turn
 */
function turned(world, turn) {
  const { t, say, attempt } = speak(world);
  return attempt(async () => {
    const deeds = world.deeds();
    if (!deeds) return;
    const { key, values, tone } = await turn(deeds);
    say(t(key, values), tone);
  });
}
