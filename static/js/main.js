/** Wiring of the session page: the socket feeds the view, each frame paints the newest one, intents go out. */

/** @import { Lang, Message, Stage, Theme, Ui } from "./lib/types.d.ts" */
import { Actions, refusalOf } from "./act/actions.js";
import { AddressBar } from "./act/address.js";
import { DecisionLoader } from "./act/decisions.js";
import { forms } from "./act/forms.js";
import { HandLoader } from "./act/hand.js";
import { LookTeller } from "./act/looks.js";
import { createIntents } from "./act/intents.js";
import { PastLoader } from "./act/past.js";
import { emptyTimeline, TimelineLoader } from "./act/timeline.js";
import { setAttribute } from "./dom/dom.js";
import { makeFrames } from "./dom/frames.js";
import { keepPresses } from "./dom/press.js";
import { addStyles } from "./dom/styles.js";
import { createGuests } from "./guests.js";
import { listenToHands } from "./hands.js";
import { tagOf } from "./lib/languages.js";
import { TICK_MS, untilNext } from "./lib/paced.js";
import { counted, loadTexts, text } from "./lib/text.js";
import { dockHeight, mayReloadFor, rememberSession, sharesLooks } from "./net/recent.js";
import { ApiError, SessionApi } from "./net/rest.js";
import { CLOSED_UNAUTHORIZED, openSocket } from "./net/socket.js";
import { mount as mountAnnouncer } from "./panels/announcer.js";
import { mount as mountInspector } from "./panels/inspector.js";
import { mount as mountPhone } from "./panels/phone.js";
import { mount as mountToast } from "./panels/toast.js";
import { mount as mountTopbar } from "./panels/topbar.js";
import { installProbe } from "./probe.js";
import { hasClass, sealedPod } from "./state/classroom.js";
import { saidName } from "./state/people.js";
import { nextTimeMs } from "./state/time.js";
import { applyMessage, emptyView } from "./state/view.js";

/** @type {{code: string, title: string, lang: Lang, release: string}} */
const START = JSON.parse(document.getElementById("start")?.textContent ?? "{}");
const PHONE = window.matchMedia("(max-width: 599px)");
const STILL = window.matchMedia("(prefers-reduced-motion: reduce)");

/** @param {string} id */
const region = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

keepPresses();
// Nothing is drawn without words.
await loadTexts(START.lang, "page");

const api = new SessionApi(START.code);
let view = emptyView();
/** @type {Ui} */
let ui = {
  lang: START.lang, theme: /** @type {Theme} */ (document.documentElement.dataset["theme"]),
  selected: null, enlarged: false, colourBy: "owner", nowMs: 0, reducedMotion: STILL.matches, connection: "connecting",
  phone: PHONE.matches, dockHeight: dockHeight(), sharesLooks: sharesLooks(), looksAsked: null,
  decisions: { pod: "", traces: [], selectedTraceId: "", pinned: "", loading: false },
  model: { pod: "", answer: null, problem: "", gone: false },
  past: { revision: 0, shown: 0, playing: 0 }, timeline: emptyTimeline(), leases: [], watches: { atMs: 0, revision: -1, watches: [] },
  parent: null, requestHints: 0, copyHints: 0, undo: null, redo: null, pastShows: "then", command: null, trial: null, lit: null, last: null,
  // Until the session has told: no warning that may be wrong.
  join: { url: `${location.origin}/join/${START.code}`, code: START.code, reachable: true, networkUrl: null },
};
/** Server time minus this browser's, so that simulated time agrees on every screen. */
let serverOffsetMs = 0;
const SECOND_MS = 1_000;
/** How often what is shown has changed; the last of these changes that the page shows. */
let changes = 1;
let painted = 0;

/** Something else is to be shown: by the next picture. */
function changed() {
  changes += 1;
  frames?.wake();
}

/** Null until the page is put together. @type {ReturnType<typeof makeFrames> | null} */
let frames = null;

/** @param {Partial<Ui>} change */
const setUi = (change) => {
  ui = { ...ui, ...change };
  changed();
};

/**
 * The one way into the view.
 * @param {Message} message
 */
function fold(message) {
  view = applyMessage(view, message);
  changed();
}

const toast = mountToast(region("toasts"));
const decisions = new DecisionLoader(api, () => setUi({ decisions: decisions.state }));
const hand = new HandLoader(api, fold);
const timeline = new TimelineLoader(api, () => setUi({ timeline: timeline.state }));
const past = new PastLoader(api, () => view, () => {
  setUi({ past: past.state, ...(past.state.revision ? {} : { pastShows: "then" }) });
  if (past.state.revision && !pastBar) void loadPast();
}, (problem) => toast.show(problem instanceof Error ? problem.message : String(problem), "bad", text(ui.lang, "close")));
/** What the page shows: the moment that it is held at, or now. */
const shown = () => past.view ?? view;
const actions = new Actions(api, shown);
const dispatch = createIntents({
  actions, decisions, setUi, past, timeline,
  view: shown,
  ui: () => ui,
  toast: toast.show,
  inspector: { openTab: (tab) => inspector.openTab(tab), focus: () => inspector.focus() },
  deeds: () => deeds,
  code: START.code,
  styles: addStyles,
});

const redraw = () => setUi({});

const topbar = mountTopbar(region("top-bar"), dispatch, START);
const phone = mountPhone(region("phone"), dispatch);
const announcer = mountAnnouncer(region("announcer"));
const inspector = mountInspector(region("inspector"), dispatch,
  createGuests({ actions, dispatch, view: shown, ui: () => ui, toast: toast.show, redraw }));

/** @type {ReturnType<typeof import("./panels/desktop.js").mountDesktop> | null} */
let desktop = null;
/** @type {ReturnType<typeof import("./presenting/presenting.js").mountPresenting> | null} */
let presenting = null;
/** @type {import("./act/undo.js").Deeds | null} */
let deeds = null;
/** @type {ReturnType<typeof import("./act/desk.js").deskAsks> | null} */
let desk = null;
/** @type {Stage | null} */
let stage = null;
/** Who wants to hear of the API server's requests. @type {Set<string>} */
const followers = new Set();
/** What a phone does without: palette, dock and stage, with their words and styles. Their dialogs follow when there is time. */
async function loadDesktop() {
  const [{ mountDesktop }, { mountStage }, { Deeds }, { deskAsks }, { mountPresenting }] = await Promise.all([
    import("./panels/desktop.js"), import("./stage/stage.js"), import("./act/undo.js"), import("./act/desk.js"),
    import("./presenting/presenting.js"), loadTexts(ui.lang, "stage"), loadTexts(ui.lang, "make"), loadTexts(ui.lang, "presenting"),
    addStyles("palette", "command", "dock", "stage", "lanes", "wall", "scheduler", "model", "presenting", "enlarged"),
  ]);
  const remembered = deeds ??= new Deeds(api, () => setUi({ undo: remembered.next, redo: remembered.again }));
  const asks = desk ??= deskAsks(api, setUi);
  desktop ??= mountDesktop({ palette: region("palette"), dock: region("dock") }, dispatch, {
    look: (path) => api.look(path),
    showConflict: asks.showConflict,
    followRequests: (who, wanted) => {
      if (wanted) followers.add(who);
      else followers.delete(who);
      socket?.follow("requests", followers.size > 0);
    },
  });
  stage ??= mountStage(region("stage"), (intent) => {
    if (intent.type === "select") inClass?.touched(intent.resource, intent.key);
    dispatch(intent);
  });
  presenting ??= mountPresenting({
    band: region("presenting"), bar: topbar.slot, dispatch, shown: presentable, take: takeStep,
    tell: (shows) => dispatch({ type: "present", view: shows }),
    check: () => api.look("check"), openRoom, qr: () => `/api/sessions/${ui.join.code}/qr.svg`, code: START.code,
  });
  redraw();
  requestIdleCallback(() => {
    for (const fetchForm of Object.values(forms)) fetchForm().catch(() => {});
  });
}
/** What this page shows, as a presenter tells it. */
function presentable() {
  const { selected } = ui;
  return {
    rv: ui.past.revision, select: selected ? `${selected.resource} ${selected.key}` : "", inspectorTab: selected ? inspector.tab : "",
    part: selected ? inspector.part : 0, dockTab: desktop?.dockTab ?? "", zoom: stage?.zoom() ?? 1,
  };
}
/**
 * One step after who presents.
 * @param {import("./state/presenting.js").Step} step
 */
function takeStep(step) {
  switch (step.do) {
    case "hold": return dispatch({ type: "hold", revision: step.rv });
    case "release": return past.release();
    case "deselect": return dispatch({ type: "deselect" });
    case "select": return dispatch({ type: "select", resource: step.resource, key: step.key, tab: step.tab });
    case "dock": return step.tab ? desktop?.openDock(step.tab) : desktop?.foldDock();
    case "part": return inspector.showPart(step.part);
    case "zoom": return stage?.setZoom(step.zoom);
  }
}
/** @type {ReturnType<typeof import("./room/room.js").mountRoom> | null} */
let room = null;
/** The class's copies over the page; closing it leaves nothing to be followed. */
async function openRoom() {
  const [{ mountRoom }] = await Promise.all([import("./room/room.js"), loadTexts(ui.lang, "room"), addStyles("room")]);
  const close = () => {
    region("room").hidden = true;
    socket?.follow("copies", false);
  };
  room ??= mountRoom(region("room"), { dispatch, load: () => api.look("copies"), close });
  region("room").hidden = false;
  setUi({ copyHints: ui.copyHints + 1 });
  socket?.follow("copies", true);
}
/** Polls and lessons: null until there is one, and while what it needs is on its way. @type {Awaited<ReturnType<typeof import("./inclass.js").createInClass>> | null} */
let inClass = null;
let classAsked = false;
async function loadClass() {
  classAsked = true;
  try {
    const { createInClass } = await import("./inclass.js");
    inClass = await createInClass({ code: START.code, dispatch, ui: () => ui, redraw, offer: phone.offer, makeRoom: () => desktop?.foldDock() ?? false,
      say: (message) => toast.show(message, "done", text(ui.lang, "close")),
      page: { shown: presentable, take: takeStep, scene: (scene) => presenting?.setScene(scene), free: () => presenting?.free ?? false, check: () => api.look("check") } });
    redraw();
  } catch {
    // Without the network it is not there; what comes next asks again.
    classAsked = false;
  }
}
/** @type {ReturnType<typeof import("./panels/past.js").mount> | null} */
let pastBar = null;
/** What has changed since that moment. @type {ReturnType<typeof import("./panels/since.js").mountSince> | null} */
let since = null;
/** Changes of which the newest moments are told one by one. */
const SINCE_MARKS = 400;
/** The bar over a page that is held; few pages ever are. */
async function loadPast() {
  const [{ mount }, { mountSince }] = await Promise.all([
    import("./panels/past.js"), import("./panels/since.js"), loadTexts(ui.lang, "past"), addStyles("past", "since"),
  ]);
  pastBar ??= mount(region("past"), dispatch);
  since ??= mountSince(region("inspector"), dispatch, async (range, language) => {
    const [marks, { lanes }] = await Promise.all([api.timeline({ ...range, limit: SINCE_MARKS, language }), api.timelineCounts(1, range)]);
    return { marks, lanes };
  });
  redraw();
}

const address = new AddressBar(({ rv, pod, node, attempt, tab, dock: beside }) => {
  setUi({ selected: pod ? { resource: "pods", key: pod } : node ? { resource: "nodes", key: node } : null });
  // An address says nothing of the tabs that one sees anyway.
  const dock = tab.startsWith("dock-") ? tab.slice("dock-".length) : beside || (desktop?.dockTab ? "events" : "");
  if (dock && dock !== desktop?.dockTab) desktop?.openDock(dock);
  if (!tab.startsWith("dock-") && (pod || node)) inspector.openTab(tab || (pod ? "decision" : "summary"));
  decisions.wantedAttempt = attempt;
  if (!attempt && decisions.attempt) decisions.select("");
  if (rv) dispatch({ type: "hold", revision: rv });
  else past.release();
});
/** The homework that the address asks for, until it is shown. */
let homework = new URLSearchParams(location.search).get("homework") ?? "";
/** Show what the address says once there is something to show it in; from then on the address says what is shown. */
function followAddress() {
  if (homework && view.ready) {
    dispatch({ type: "openHomework", id: homework });
    homework = "";
  }
  if (!address.ready && view.ready && (ui.phone || desktop)) {
    const { rv, pod, node, tab, dock } = address.first;
    if (rv || pod || node || tab || dock) address.open(address.first);
    address.ready = true;
  }
  const { selected } = ui;
  const usual = selected?.resource === "pods" ? "decision" : "summary";
  const dock = desktop?.dockTab && desktop.dockTab !== "events" ? desktop.dockTab : "";
  address.follow({
    rv: ui.past.revision,
    pod: selected?.resource === "pods" ? selected.key : "",
    node: selected?.resource === "nodes" ? selected.key : "",
    attempt: decisions.attempt,
    tab: selected ? (inspector.tab === usual ? "" : inspector.tab) : dock && `dock-${dock}`,
    dock: selected ? dock : "",
  });
}

const onLayout = () => {
  setUi({ phone: PHONE.matches, reducedMotion: STILL.matches });
  // One main region at a time: the stage, or on a phone its pages.
  region("stage").hidden = PHONE.matches;
  region("phone").hidden = !PHONE.matches;
  region("skip").setAttribute("href", PHONE.matches ? "#phone" : "#stage");
  if (!PHONE.matches && !desktop) void loadDesktop();
};
PHONE.addEventListener("change", onLayout);
STILL.addEventListener("change", onLayout);

/** @type {ReturnType<typeof openSocket> | null} */
let socket = null;
const looks = new LookTeller((frame) => socket?.send(frame), { now: () => performance.now(), after: (ms, act) => void setTimeout(act, ms) });
/** Milliseconds that the offer to look at something stays. */
const OFFER_MS = 20_000;
let offered = 0;
/**
 * Somebody points at something: the page offers to show it, and stays where it is.
 * @param {Extract<import("./lib/types.d.ts").Frame, {type: "pointed"}>} frame
 */
function offerToLook({ id, by, resource, namespace, name }) {
  if (id === offered || by === view.me?.id) return;
  offered = id;
  const person = view.people.find((one) => one.id === by)?.name ?? "";
  const act = () => dispatch({ type: "select", resource, key: namespace ? `${namespace}/${name}` : name });
  toast.show(text(ui.lang, "pointed", { person, name: saidName(view, namespace, name) }), "note", text(ui.lang, "close"),
    { label: text(ui.lang, "pointed_go"), run: act, stayMs: OFFER_MS });
}
function connect() {
  socket = openSocket(START.code, {
    revision: () => (view.ready && !view.gone ? view.revision : null),
    onStatus: (connection) => setUi({ connection }),
    // A browser whose seat was joined with another finds itself on that one.
    onRefused: (code) => void location.replace(code === CLOSED_UNAUTHORIZED ? `/join/${START.code}` : "/"),
    onFrame: (frame) => {
      if (frame.type === "requests") return setUi({ requestHints: ui.requestHints + 1 });
      if (frame.type === "copies") return setUi({ copyHints: ui.copyHints + 1 });
      if (frame.type === "votes") return void inClass?.counted(frame);
      if (frame.type === "hello") {
        serverOffsetMs = frame.serverUnixMs - Date.now();
        looks.forget();
        // A page of another release would fold frames it may not understand. Once: a proxy may keep the old page.
        if (frame.release !== START.release && mayReloadFor(frame.release)) location.reload();
        rememberSession({
          code: START.code, title: frame.session.title, role: frame.me.role, revision: frame.revision, atMs: Date.now(),
        });
      }
      if (frame.type === "pointed") offerToLook(frame);
      const wasGone = view.gone;
      fold(frame);
      if (view.gone && !wasGone) socket?.resubscribe();
    },
  });
}

const probe = installProbe(shown, () => ui, () => changes);
let liveMs = 0;
/**
 * Shows what has changed since the last picture.
 * @returns {number} milliseconds after which there is something to show again if nobody changes anything
 */
function paint() {
  const unixMs = Date.now() + serverOffsetMs;
  liveMs = nextTimeMs(liveMs, view.clock, view.newestMs, unixMs);
  const showing = shown();
  const nowMs = past.view ? past.view.newestMs : liveMs;
  topbar.tick(showing, nowMs);
  const second = Math.floor(nowMs / 1000) !== Math.floor(ui.nowMs / 1000);
  ui = { ...ui, nowMs };
  if (!classAsked && hasClass(view)) void loadClass();
  const counted = inClass?.follow(view, unixMs);
  if (changes !== painted || second || counted) renderAll(showing);
  if (changes !== painted) return 0;
  if (view.clock && !view.clock.paused) return untilNext(performance.now(), TICK_MS);
  // The end of a vote is counted down in real seconds, held time or not.
  return inClass ? untilNext(unixMs, SECOND_MS) : Infinity;
}

/** @param {import("./lib/types.d.ts").View} showing */
function renderAll(showing) {
  painted = changes;
  presenting?.follow(view);
  if (!past.view) hand.follow(view);
  timeline.follow(view, showing, desktop?.dockTab === "timeline", ui.lang);
  const asked = ui.selected?.resource === "pods" && inspector.decides ? ui.selected.key : "";
  // What is sealed is not asked for: the answer would be a refusal.
  decisions.follow(showing, asked === sealedPod(view) ? "" : asked);
  const pod = ui.selected?.resource === "pods" ? ui.selected.key : "";
  desk?.follow({ view, showing, liveMs, tab: desktop?.dockTab ?? "", pod, hints: ui.requestHints });
  looks.follow(view, ui.selected, ui.sharesLooks);
  renderFrame(showing);
  presenting?.render(view, ui);
  if (!region("room").hidden) room?.render(view, ui);
  const compares = Boolean(past.view) && ui.pastShows === "difference";
  stage?.render(past.view && ui.pastShows === "now" ? view : showing, ui, compares ? view : null);
  // Without its stage a desk shows next to nothing of a change.
  if (ui.phone || stage) probe.painted(showing.revision, painted);
  followAddress();
}

/** @param {import("./lib/types.d.ts").View} showing */
function renderFrame(showing) {
  // Written only where they differ: another theme has the whole page styled anew.
  setAttribute(document.documentElement, "lang", tagOf(ui.lang));
  setAttribute(document.documentElement, "data-theme", ui.theme);
  const banner = region("banner");
  const key = ui.connection === "offline" ? "offline" : view.ready ? "" : ui.connection === "live" ? "loading" : "connecting";
  banner.hidden = !key;
  if (key) banner.textContent = counted(ui.lang, key, { revision: view.revision });
  banner.classList.toggle("bad", key === "offline");
  topbar.render(showing, ui);
  announcer.render(showing, ui);
  pastBar?.render(showing, view, ui);
  since?.render(showing, view, ui);
  inClass?.render(view, Date.now() + serverOffsetMs);
  if (ui.phone) phone.render(showing, ui);
  else desktop?.render(showing, ui);
  inspector.render(showing, ui);
  document.body.classList.toggle("has-selection", ui.selected !== null);
  // Said in classes: a `:has()` of the body has the whole page styled anew at each element that comes or goes.
  document.body.classList.toggle("has-whatif", inspector.tab === "whatif" && region("inspector").querySelector(".wi") !== null);
  document.body.classList.toggle("enlarged", ui.enlarged);
  // The stage makes way: what the page is about is the inspector then.
  setAttribute(region("inspector"), "role", ui.enlarged ? "main" : "complementary");
}

listenToHands({
  ui: () => ui, view: () => view, held: () => past.view !== null, dispatch,
  leave: () => presenting?.leave() ?? false, back: () => presenting?.back() ?? false,
  fold: () => document.body.classList.contains("dock-tall") && (desktop?.foldDock() ?? false),
  search: () => desktop?.focusSearch(), ready: () => ({ desk: desktop !== null, undo: deeds !== null }),
  refuse: (reason) => toast.show(reason, "bad", text(ui.lang, "close")),
});
window.addEventListener("pagehide", () => {
  if (view.session && view.me)
    rememberSession({
      code: START.code, title: view.session.title, role: view.me.role, revision: view.revision, atMs: Date.now(),
    });
});

async function start() {
  const secret = decodeURIComponent(location.hash.slice(1));
  if (secret) {
    await refusalOf(() => api.enter(secret), "");
    // The secret signs in whoever has it, so it must not stay in the bar on the wall.
    history.replaceState(null, "", location.pathname + location.search);
  }
  try {
    const session = await api.read();
    const { reachable, joinUrl: networkUrl } = session.network;
    setUi({ join: { url: session.joinUrl, code: session.joinCode, reachable, networkUrl }, parent: session.parent });
  } catch (problem) {
    const code = problem instanceof ApiError ? problem.status.code : 0;
    if (code === 401 || code === 403) return location.replace(`/join/${START.code}${location.search}`);
    if (code === 404) return location.replace("/");
  }
  connect();
}

onLayout();
frames = makeFrames(paint);
void start();
