/** Intents of wrong rules, of rounds by hand and of homework: what is asked, and the scenes that show it. Fetched when first used. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Table, World } from "./world.js" */
import { loadTexts } from "../lib/text.js";
import { ApiError, request } from "../net/rest.js";
import { pageIntents } from "./page.js";
import { speak } from "./world.js";

/**
 * What a class is shown on this page, and the newest wish: what comes late is shown no more.
 * @type {{scene: ReturnType<typeof import("../rules/scene.js").openRules> | null, wished: string}}
 */
const shown = { scene: null, wished: "" };

/** Milliseconds that an engine's side and a solver may take. */
const RESULT_TIMEOUT_MS = 30_000;
/** Milliseconds that the finder may take for somebody's clusters: six of them at most, ten seconds each. */
const CLUSTERS_TIMEOUT_MS = 60_000;

/**
 * @param {World} world
 * @returns {Pick<Table, "openRules" | "showWorld" | "openByHand" | "openHomework">}
 */
export function ruleIntents(world) {
  const { t, say, attempt } = speak(world);
  const { session } = world.actions.api;
  const role = () => world.view().me?.role ?? "viewer";
  const speakAs = turner(world);
  /** @type {import("../rules/finder.js").Finding} */
  const finding = {
    find: (rule, seed) => request("POST", `${session}/rules/${encodeURIComponent(rule)}/find`, seed === null ? {} : { seed }, { timeoutMs: CLUSTERS_TIMEOUT_MS }),
    play: role() === "viewer" ? null : (rule, seed) => request("POST", `${session}/rules/${encodeURIComponent(rule)}/play`, { seed }, { timeoutMs: CLUSTERS_TIMEOUT_MS }),
  };

  /**
   * What the class was asked about a pod and has been told: the decision, and votes by the rule that they follow.
   * @param {string} pod
   * @returns {Promise<{decision: string, votes: Record<string, number>, before: Record<string, number>}>} `before`: in a first vote; without a decision: nobody was asked
   */
  async function askedOf(pod) {
    const polls = await request("GET", `${session}/polls`);
    const asked = polls.filter((/** @type {any} */ poll) => poll.pod === pod && poll.state === "revealed").at(-1);
    const poll = asked ? await request("GET", `${session}/polls/${encodeURIComponent(asked.id)}`) : null;
    return { decision: poll?.answer?.explain?.decision ?? "", votes: poll?.models ?? {}, before: poll?.firstModels ?? {} };
  }

  return {
    showWorld: worldShower(world),
    openRules: ({ decision: chosen, pod }) => attempt(async () => {
      const { lang, decisions } = world.ui();
      const asked = await askedOf(pod);
      // What the class voted on, unless another attempt was chosen.
      const decision = decisions.pinned ? chosen : asked.decision || chosen;
      const { votes, before } = decision === asked.decision ? asked : { votes: {}, before: {} };
      const [{ openRules }, answers, rules] = await Promise.all([
        import("../rules/scene.js"),
        request("GET", `${session}/decisions/${encodeURIComponent(decision)}/rules`), request("GET", `${session}/rules`),
        loadTexts(lang, "rules"), world.styles("rules"),
      ]);
      openRules({
        speak: speakAs, finding, answers, rules, votes, before,
        play: role() !== "teacher" ? null : (rule) => attempt(async () => {
          const { code, url } = await request("POST", `${session}/rules/${encodeURIComponent(rule)}/world`, { decision });
          say(t("rules.opened", { code }), "done", { label: t("rules.open_copy"), run: () => void window.open(new URL(url).href, "_blank", "noopener") });
        }),
      });
    }),
    openHomework: ({ id }) => attempt(async () => {
      const { lang, join } = world.ui();
      const [{ openHomework }, rules] = await Promise.all([
        import("../rules/homework.js"), request("GET", `${session}/rules`), loadTexts(lang, "rules"), world.styles("rules", "rules-homework"),
      ]);
      const at = (/** @type {string} */ one) => `${session}/homework/${encodeURIComponent(one)}`;
      openHomework({
        speak: speakAs, finding, rules, first: id, leads: role() === "teacher", sheet: `${session}/homework/results?format=csv`,
        students: world.view().people.filter((person) => person.role === "student" && !person.left),
        list: () => request("GET", `${session}/homework`),
        read: (one) => request("GET", at(one), undefined, { timeoutMs: CLUSTERS_TIMEOUT_MS }),
        answer: (one, task, choice) => request("POST", `${at(one)}/answers`, { task, choice }, { timeoutMs: CLUSTERS_TIMEOUT_MS }),
        play: (one, task) => request("POST", `${at(one)}/play`, { task }, { timeoutMs: CLUSTERS_TIMEOUT_MS }),
        set: (wish) => request("POST", `${session}/homework`, wish),
        remove: (one) => request("DELETE", at(one)),
        // Who has not joined yet comes by the door, and from there to the homework.
        share: (one) => attempt(async () => {
          await navigator.clipboard.writeText(`${join.url.replace("/join/", "/s/")}?homework=${encodeURIComponent(one)}`);
          say(t("rules.link_copied"));
        }),
      });
    }),
    openByHand: () => attempt(async () => {
      const { lang } = world.ui();
      const [{ openByHand }] = await Promise.all([import("../rules/byhand.js"), loadTexts(lang, "rules"), world.styles("rules", "rules-byhand")]);
      openByHand({
        speak: speakAs, leads: role() === "teacher", slug: role() === "student" ? (world.view().me?.slug ?? "") : null,
        read: () => request("GET", `${session}/byhand`),
        begin: (queues) => request("POST", `${session}/byhand`, { queues }),
        result: () => request("GET", `${session}/byhand/result`, undefined, { timeoutMs: RESULT_TIMEOUT_MS }),
        place: async (pod, node) => {
          try {
            await request("POST", `${session}/byhand/place`, { pod, node });
            return {};
          } catch (problem) {
            if (!(problem instanceof ApiError)) throw problem;
            const { refusals } = /** @type {any} */ (problem.status);
            return refusals ? { refusals } : { message: problem.message };
          }
        },
      });
    }),
  };
}

/**
 * Turns the page to a language, as its own buttons do.
 * @param {World} world
 * @returns {(lang: Lang) => void}
 */
function turner(world) {
  const { lang: turn } = pageIntents(world);
  return (lang) => void turn({ type: "lang", lang });
}

/**
 * The world under a rule as a class is shown it, on walls and on the laptop of whoever leads: stepped by the remote.
 * @param {World} world
 * @returns {Table["showWorld"]}
 */
function worldShower(world) {
  const { attempt } = speak(world);
  const { session } = world.actions.api;
  return ({ poll, decision, rule, votes, before }) => attempt(async () => {
    const wish = `${decision} ${rule}`;
    shown.wished = wish;
    if (!rule) {
      shown.scene?.close();
      shown.scene = null;
      return;
    }
    if (shown.scene?.pick(rule)) return;
    const { lang } = world.ui();
    const [{ openRules }, answers, rules] = await Promise.all([
      import("../rules/scene.js"),
      request("GET", `${session}/decisions/${encodeURIComponent(decision)}/rules`), request("GET", `${session}/rules`),
      loadTexts(lang, "rules"), world.styles("rules"),
    ]);
    if (shown.wished !== wish) return;
    shown.scene?.close();
    shown.scene = openRules({
      speak: turner(world), finding: null, answers, rules, votes, before, first: rule, play: null,
      // Whoever leads closes it for everybody.
      closed: world.view().me?.role !== "teacher" ? null : () => void attempt(() => request("POST", `${session}/polls/${encodeURIComponent(poll)}/rule`, { do: "close" })),
    });
  });
}
