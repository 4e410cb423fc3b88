/** Intents of the teacher towards the class: present, freeze, names on the wall, rename, mute, take back, hand out. */

/** @import { Table, World } from "./world.js" */
import { counted } from "../lib/text.js";
import { request } from "../net/rest.js";
import { speak } from "./world.js";

/** Milliseconds that a copy for each of a lecture hall may take to be made. */
const HAND_OUT_TIMEOUT_MS = 120_000;

/**
 * @param {World} world
 * @returns {Pick<Table, "present" | "freeze" | "wallNames" | "renamePerson" | "mutePerson" | "undoPerson" | "mergePeople" | "removePerson" | "handOut" | "enterCopy"
 *   | "myCopy" | "copyHanded" | "goToWall" | "wallHung" | "lookedInto" | "putOnWall">}
 */
export function classIntents(world) {
  const { t, say, attempt } = speak(world);
  const { session } = world.actions.api;
  const person = (/** @type {string} */ id) => `${session}/people/${encodeURIComponent(id)}`;
  const copies = `${session}/copies`;
  /** @param {string} code */
  const enter = async (code) => new URL((await request("POST", `${copies}/${encodeURIComponent(code)}/enter`)).url).pathname;
  const myCopy = () => attempt(async () => {
    const [own] = await request("GET", copies);
    const [made] = own ? [own] : await request("POST", copies, {});
    location.assign(await enter(made.code));
  });
  const goToWall = (/** @type {{code: string}} */ { code }) => attempt(async () => location.assign(await enter(code)));
  return {
    myCopy,
    copyHanded: () => say(t("handed"), "note", { label: t("handed_open"), run: myCopy }),
    goToWall,
    wallHung: ({ code, yours }) => {
      const { parent } = world.ui();
      const back = parent && { label: t("walled_back"), run: () => location.assign(`/s/${parent.code}`) };
      const go = code ? { label: t("walled_open"), run: () => goToWall({ code }) } : back;
      say(t(yours ? "walled_yours" : "walled"), "note", go ?? undefined);
    },
    lookedInto: ({ words }) => say(words, "note"),
    putOnWall: ({ code }) => attempt(async () => {
      const made = await request("POST", `${copies}/${encodeURIComponent(code)}/wall`, { ask: true }, { timeoutMs: HAND_OUT_TIMEOUT_MS });
      const go = async () => location.assign(await enter(made.code));
      // Where the class is asked about it, whoever asks leads there.
      if (made.poll) await go();
      else say(t("seats.on_wall"), "done", { label: t("seats.to_wall"), run: go });
    }),
    present: ({ view }) => attempt(() => view
      ? request("PUT", `${session}/presenting`, { view }) : request("DELETE", `${session}/presenting`)),
    freeze: ({ on }) => attempt(() => request("PUT", `${session}/frozen`, { frozen: on })),
    wallNames: ({ on }) => attempt(() => request("PUT", `${session}/wall`, { names: on })),
    renamePerson: ({ id, name }) => attempt(() => request("PATCH", person(id), { name })),
    mutePerson: ({ id, on }) => attempt(() => request("PATCH", person(id), { muted: on })),
    mergePeople: ({ id, other, name }) => attempt(() => request("POST", `${person(id)}/merge`, { other }), t("seats.merged", { name })),
    removePerson: ({ id, name }) => attempt(() => request("DELETE", person(id)), t("seats.removed", { name })),
    undoPerson: ({ id, name }) => attempt(async () => {
      const { undone, left } = await request("POST", `${person(id)}/undo`, { minutes: 5 });
      const { lang } = world.ui();
      const why = left[0] ? ` ${t("seats.undo_left", { object: left[0].object, why: left[0].why })}` : "";
      say(counted(lang, "seats.undone", { count: undone.length, name }) + why, undone.length ? "done" : "note");
    }),
    handOut: ({ people, seeds, until }) => attempt(async () => {
      const made = await request("POST", copies, { people, seeds, ...(until ? { until } : {}) }, { timeoutMs: HAND_OUT_TIMEOUT_MS });
      say(counted(world.ui().lang, "seats.handed_out", { count: made.length }));
    }),
    enterCopy: ({ code }) => attempt(async () => void window.open(await enter(code), "_blank", "noopener")),
  };
}
