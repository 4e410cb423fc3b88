/** Intents that open a dialog of the session: files, the scheduler's configuration, expressions, the join code. */

/** @import { View } from "../lib/types.d.ts" */
/** @import { Table, World } from "./world.js" */
import { number } from "../lib/text.js";
import { request } from "../net/rest.js";
import { standsLesson } from "../state/classroom.js";
import { refusedCluster } from "../state/roles.js";
import { objectsOf, replicas } from "../state/selectors.js";
import { forms } from "./forms.js";
import { speak } from "./world.js";

/** Milliseconds a trace of 1,523 nodes and 8,152 pods may take to be stored. */
const REPLAY_TIMEOUT_MS = 180_000;
/** Pods that one may try an expression on: those that wait for a node first. */
const PODS_TO_TRY = 200;

/**
 * @param {World} world
 * @returns {Pick<Table, "openFault" | "openImport" | "openSave" | "openScheduler" | "openExpression" | "showCode" | "showKeys">}
 */
export function dialogIntents(world) {
  const { actions, view, ui, code } = world;
  const { api } = actions;
  const { t, say, attempt, answer, refused } = speak(world);

  const importManifests = async (written = "") => (await forms.files()).openImport({
    t,
    written,
    schemas: (apiVersion) => actions.schemas(apiVersion),
    namespace: actions.namespace,
    apply: (body, type) => answer("outcome", () => api.importText(body, type)),
  });

  const replayTrace = async () => (await forms.files()).openOpenb({
    t,
    start: (body) => answer("started", async () => {
      const started = await request("POST", `${api.session}/replays`, body, { timeoutMs: REPLAY_TIMEOUT_MS });
      const { created, unchanged } = started.nodes;
      const count = (/** @type {number} */ value) => number(ui().lang, value);
      say(t("openb_done", { nodes: count(created + unchanged), pods: count(started.pods) }));
    }),
  });

  return {
    openImport: ({ kind, text }) => attempt(kind === "yaml" ? () => importManifests(text) : replayTrace),
    openSave: () => attempt(async () => (await forms.save()).openSave({
      t,
      lesson: standsLesson(view()),
      hrefOf: (form) => (form === "handout" ? `${api.session}/handout?lang=${ui().lang === "zh-hans" ? "zh" : "en"}`
        : `${api.session}/export?format=${form}&language=${ui().lang}`),
    })),
    openFault: ({ identity, kind = "" }) => attempt(async () => (await forms.fault()).openFault({
      t,
      identity,
      kind,
      identities: replicas(view()).map((replica) => replica.metadata.name).sort(),
      begin: (target, body) => refused(async () => {
        await api.fault(target, body);
        say(t("fault.done", { identity: target, fault: t(`fault.name.${body.kind}`) }));
      }),
    })),
    openScheduler: () => attempt(async () => (await forms.scheduler()).openScheduler({
      t,
      scheduler: await api.scheduler(),
      apply: (body) => refused(async () => {
        const { title } = await api.setScheduler(body);
        say(t("done_scheduler", { title }));
      }),
    })),
    openExpression: () => attempt(async () => {
      const [{ openExpression, expressionsOf }, scheduler] = await Promise.all([forms.expression(), api.scheduler()]);
      openExpression({
        t,
        pods: podsToTry(view()),
        running: expressionsOf(scheduler),
        ask: (body) => answer("tried", () => api.tryExpression(body)),
      });
    }),
    showKeys: () => attempt(async () => (await forms.keys()).openKeys({ t })),
    showCode: () => attempt(async () => (await forms.code()).openCode({
      code: ui().join.code,
      join: ui().join,
      title: view().session?.title ?? "",
      t,
      door: refusedCluster(view().me) ? null : {
        read: () => api.door(),
        set: (open) => refused(async () => void await api.setDoor(open)),
      },
    })),
  };
}

/**
 * @param {View} view
 * @returns {string[]} namespace/name
 */
function podsToTry(view) {
  const pods = [...objectsOf(view, "pods")].map(([key, pod]) => ({ key, placed: pod.spec?.["nodeName"] ? 1 : 0 }));
  pods.sort((a, b) => a.placed - b.placed || (a.key < b.key ? -1 : 1));
  return pods.slice(0, PODS_TO_TRY).map(({ key }) => key);
}
