/** The class on the session page: what a poll or a lesson needs is fetched when there is one, for the role that it is for. */

/** @import { Dispatch, Ui, View } from "./lib/types.d.ts" */
/** @import { Lesson, Poll } from "./lib/class.d.ts" */
/** @import { Input } from "./class/poll/ballot.js" */
import { Classroom } from "./act/classroom.js";
import { placeIn } from "./class/place.js";
import { mountBallot } from "./class/poll/ballot.js";
import { element } from "./dom/dom.js";
import { addStyles } from "./dom/styles.js";
import { loadTexts, text } from "./lib/text.js";
import { ClassApi } from "./net/classroom.js";
import { leads, standingPoll } from "./state/classroom.js";
import { Guide, partOf } from "./state/guide.js";
import { isWall } from "./state/looks.js";

/**
 * @param {object} world
 * @param {string} world.code
 * @param {Dispatch} world.dispatch
 * @param {() => Ui} world.ui
 * @param {() => void} world.redraw
 * @param {() => boolean} world.makeRoom closes the dock to its tabs; false while there is none yet
 * @param {(message: string) => void} world.say
 * @param {(name: string, page: {element: HTMLElement, render: (view: View, ui: Ui) => void} | null) => void} world.offer
 *   a page of the phone
 * @param {ConstructorParameters<typeof Guide>[0] & {free: () => boolean, check: () => Promise<any>}} world.page what it shows; free:
 *   nobody else says what; check: who can reach it
 */
export async function createInClass({ code, dispatch, ui, redraw, makeRoom, say, offer, page }) {
  await Promise.all([loadTexts(ui().lang, "vote"), addStyles("class-vote", "class-outcome", "class-place")]);
  const classroom = new Classroom(new ClassApi(code), redraw, (ms, act) => void setTimeout(act, ms));
  /** @type {View | null} */
  let last = null;
  const ballot = mountBallot({
    pick: (id) => classroom.pick(id),
    vote: () => classroom.vote(),
    because: (id) => classroom.because(id),
    redraw,
    // A node that is voted for lights up on the stage.
    look: (id) => {
      if (!ui().phone && last?.objects.get("nodes")?.has(id)) dispatch({ type: "select", resource: "nodes", key: id });
    },
  });
  const column = later(redraw, async () => (await import("./class/column.js")).mountColumn({ ballot, dispatch }));
  const people = peopleDialog({ dispatch, ui, code, check: page.check });
  const parts = createParts({ classroom, redraw, ui, say, dispatch, openPeople: () => void people.open(), code, onWall: () => last?.onWall ?? "" });
  const guide = new Guide(page);
  const decision = revealedDecision(dispatch);
  let ruled = "";
  const phone = element("div", { class: "phone-class", tabindex: "0" });
  let offered = "";
  let second = 0;
  let lessonSeen = "";
  let toldAt = "";
  let begun = false;

  return {
    /** @param {{id: string, voted: number, present: number}} frame */
    counted: (frame) => classroom.counted(frame),
    /** @param {string} resource @param {string} key touched on the stage */
    touched: (resource, key) => leads(last?.me ?? null) && !classroom.state.lesson?.alone ? undefined : classroom.touched(resource, key),
    /**
     * @param {View} view
     * @param {number} unixMs by the server's clock
     * @returns {boolean} whether a second has passed of a vote that is open
     */
    follow(view, unixMs) {
      const { lang, connection } = ui();
      last = view;
      if (classroom.state.frozen !== view.frozen) classroom.set({ frozen: view.frozen });
      classroom.follow(view, lang, connection === "live");
      const now = Math.ceil(unixMs / 1000);
      const ticks = classroom.state.poll?.state === "open" && now !== second;
      second = now;
      return ticks;
    },
    /**
     * @param {View} view
     * @param {number} unixMs by the server's clock
     */
    render(view, unixMs) {
      const current = ui();
      const { poll, lesson } = classroom.state;
      const alone = Boolean(lesson?.alone || standingPoll(view)?.spec?.["alone"]);
      /** @type {Input} */
      const input = { view, ui: current, state: classroom.state, unixMs, alone };
      const onWall = isWall(view, current) && !current.phone;
      const teaching = leads(view.me) && !alone;
      const board = onWall && lesson && (lesson.step?.phase === "so" || !lesson.step || view.presenting.view?.scene === "lesson");
      if (lesson?.alone) rememberLesson(code, lesson);
      if (!current.phone && !onWall) decision.follow(poll, current, lesson);
      // The worlds under rules stand where the class looks: on the wall, and on the laptop of whoever leads.
      const rule = (onWall || (teaching && !current.phone)) && poll?.state === "revealed" ? (poll.rule ?? "") : "";
      if (rule !== ruled && poll) {
        ruled = rule;
        dispatch({ type: "showWorld", poll: poll.id, decision: poll.answer?.explain?.decision ?? "", rule, votes: poll.models ?? {}, before: poll.firstModels ?? {} });
      } else if (!poll && ruled) dispatch({ type: "showWorld", poll: (ruled = ""), decision: "", rule: "", votes: {}, before: {} });
      if (lesson && lesson.id !== lessonSeen && (current.phone || makeRoom())) lessonSeen = lesson.id;
      // What the first step opens is opened in the room that was made for the lesson.
      if (!current.phone && (!lesson || lesson.id === lessonSeen)) guide.follow(lesson, page.free() && (!onWall || view.me?.role === "viewer"));
      parts.board(board ? input : null);
      parts.wall(onWall && !board ? input : null);
      const texts = parts.lesson(onWall ? null : input);
      const panel = teaching && !onWall && (poll || lesson) ? parts.panel(input) : null;
      const voting = poll && !teaching && !onWall;
      if (voting) ballot.render(input);
      if (teaching && lesson && !begun) {
        begun = true;
        void people.begin();
      }
      // The remote has the run sheet; what is told stands on the wall.
      people.render(view, current);
      const standing = [...(panel && current.phone ? [] : texts.above), ...(panel ? [panel] : voting ? [ballot.element] : []), ...texts.below];
      if (current.phone) placeIn(phone, standing);
      const wanted = current.phone && standing.length ? (teaching ? "lead" : "vote") : "";
      if (wanted !== offered) offer(wanted, wanted ? { element: phone, render: () => {} } : null);
      offered = wanted;
      const place = lesson?.step ? `${lesson.step.id} ${lesson.step.phase}` : "";
      // What has just come to be told stands at the top.
      if (place !== toldAt) for (const one of [phone, document.getElementById("class-ask")]) one?.scrollTo(0, 0);
      toldAt = place;
      if (!current.phone) column.get()?.render(standing, current, behindOf(poll, lesson));
      else column.there()?.render([], current, null);
    },
  };
}

/**
 * At the reveal the stage tells the decision as the engine made it, until the question leaves the page or somebody turns to
 * something else.
 * @param {Dispatch} dispatch
 */
function revealedDecision(dispatch) {
  let under = "";
  let wanted = "";
  let shown = "";
  return {
    /**
     * @param {Poll | null} poll
     * @param {Ui} ui
     * @param {Lesson | null} lesson
     */
    follow(poll, ui, lesson) {
      const asks = lesson && poll && lesson.poll === poll.id ? lesson : null;
      // A lesson says at its reveal what is to be looked at; until it does, nothing is.
      if (asks && poll?.state === "revealed" && !partOf(asks).endsWith(" told")) return;
      const select = asks?.step?.view?.["select"];
      if (poll && select && select !== `pods ${poll.pod}`) under = "";
      // What came true is not always about an attempt.
      if (asks && poll?.kind === "choice" && asks.step?.view?.["inspectorTab"] !== "decision") under = "";
      const id = poll?.state === "revealed" ? (poll.answer?.decision ?? "") : "";
      // Whoever opens the page after the reveal is not taken anywhere.
      if (poll && poll.state !== "revealed") under = poll.id;
      if (poll && id && under === poll.id) {
        under = "";
        wanted = id;
        dispatch({ type: "select", resource: "pods", key: poll.pod, tab: "decision" });
      }
      if (wanted && ui.decisions.pod === poll?.pod && ui.decisions.traces.some((trace) => trace.id === wanted)) {
        shown = wanted;
        wanted = "";
        dispatch({ type: "selectTrace", id: shown });
      }
      if (!poll && shown && ui.decisions.pinned === shown) dispatch({ type: "deselect" });
      if (!poll) wanted = shown = "";
    },
  };
}

/**
 * What the inspector has to tell after a reveal, where the class's column stands before it: the decision, else what the lesson
 * wants looked at.
 * @param {Poll | null} poll
 * @param {Lesson | null} lesson
 */
function behindOf(poll, lesson) {
  if (poll?.state === "revealed" && poll.answer?.decision) return { key: "vote.decision" };
  const select = partOf(lesson).endsWith(" told") ? lesson?.step?.view?.["select"] : "";
  return select ? { key: "vote.selected", values: { name: select.slice(Math.max(select.lastIndexOf("/"), select.indexOf(" ")) + 1) } } : null;
}

/**
 * What not every page of a class shows, fetched when it is first asked for.
 * @param {{classroom: Classroom, redraw: () => void, ui: () => Ui, say: (message: string) => void, dispatch: Dispatch, openPeople: () => void,
 *   code: string, onWall: () => string}} world
 */
function createParts({ classroom, redraw, ui, say, dispatch, openPeople, code, onWall }) {
  /** @param {string} id @param {Record<string, number>} [counts] */
  const act = (id, counts) => {
    if (id === "class") openPeople();
    else if (id === "copies") dispatch({ type: "handOut", people: "all", seeds: "same", until: "" });
    else if (id === "homework") dispatch({ type: "openHomework", id: "" });
    else void lead(classroom, id, counts, onWall());
  };
  const panel = later(redraw, async () => {
    const [{ mountPanel }] = await Promise.all([
      import("./class/remote/panel.js"), loadTexts(ui().lang, "class"), loadTexts(ui().lang, "lesson"), addStyles("class-lead"),
    ]);
    return mountPanel(act, code);
  });
  const wall = later(redraw, async () => {
    const [{ mountWall }] = await Promise.all([import("./class/poll/wall.js"), addStyles("class-wall")]);
    const made = mountWall();
    document.getElementById("stage")?.after(made.element);
    return made;
  });
  const board = later(redraw, async () => {
    const [{ mountBoard }] = await Promise.all([
      import("./class/lesson/board.js"), loadTexts(ui().lang, "lesson"), addStyles("class-wall", "class-board", "class-lesson"),
    ]);
    const made = mountBoard();
    document.getElementById("stage")?.after(made.element);
    return made;
  });
  const lesson = later(redraw, async () => {
    const [{ mountLesson }] = await Promise.all([
      import("./class/lesson/page.js"), loadTexts(ui().lang, "lesson"), loadTexts(ui().lang, "class"), addStyles("class-steps", "class-lesson", "class-lead"),
    ]);
    return mountLesson({
      act,
      redraw,
      dispatch: (intent) => {
        if (intent.type === "select") classroom.touched(intent.resource, intent.key);
        dispatch(intent);
      },
      look: (id) => void classroom.look(id),
      play: () => dispatch({ type: "myCopy" }),
      handout: () => classroom.api.handout(ui().lang),
      copy: (words) => void navigator.clipboard?.writeText(words).then(() => say(text(ui().lang, "lesson.copied"))),
    });
  });
  return {
    /** @param {Input | null} input null: something else is shown */
    board(input) {
      if (input) board.get();
      board.there()?.render(input);
    },
    /** @param {Input | null} input null: this is no wall */
    wall(input) {
      if (input?.state.poll) wall.get();
      const made = wall.there();
      if (input) made?.render(input);
      else if (made) made.element.hidden = true;
    },
    /** @param {Input | null} input null: nothing is told here */
    lesson(input) {
      if (input?.state.lesson || input?.state.unread) lesson.get();
      return (input && lesson.there()?.render(input)) ?? { above: [], below: [] };
    },
    /** @param {Input} input */
    panel(input) {
      const made = panel.get();
      made?.render(input);
      return made?.element ?? null;
    },
  };
}

/**
 * The people of the class, from the remote: the dialog that the laptop has in its bar.
 * @param {{dispatch: Dispatch, ui: () => Ui, code: string, check: () => Promise<any>}} world
 */
function peopleDialog({ dispatch, ui, code, check }) {
  /** @type {ReturnType<typeof import("./presenting/class.js").openClass> | null} */
  let dialog = null;
  /** @param {boolean} first before the lesson begins */
  const open = async (first) => {
    try {
      const [{ openClass }] = await Promise.all([import("./presenting/class.js"), loadTexts(ui().lang, "presenting"), addStyles("presenting")]);
      dialog = openClass({ dispatch, check, qr: `/api/sessions/${ui().join.code}/qr.svg`, code, first });
      dispatch({ type: "tab", tab: "class" });
    } catch {
      // Without the network: the next tap asks again.
    }
  };
  return {
    open: () => open(false),
    /** Shows whether phones get here, where a lesson has just been opened with a class. */
    async begin() {
      const { awaitsCheck } = await import("./state/before.js");
      if (awaitsCheck(code)) await open(true);
    },
    /** @param {View} view @param {Ui} ui */
    render(view, ui) {
      if (dialog?.open) dialog.render(view, ui);
    },
  };
}

/**
 * Something that is fetched at the first question for it; without the network the next question asks again.
 * @template T
 * @param {() => void} come
 * @param {() => Promise<T>} load
 */
function later(come, load) {
  /** @type {T | null} */
  let made = null;
  let asked = false;
  return {
    there: () => made,
    /** @returns {T | null} null while it is on its way */
    get() {
      if (!asked) {
        asked = true;
        load().then((one) => {
          made = one;
          come();
        }, () => {
          asked = false;
        });
      }
      return made;
    },
  };
}

/**
 * What a button of whoever leads does: to the poll, or to the lesson that asks it.
 * @param {Classroom} classroom
 * @param {string} id
 * @param {Record<string, number>} [counts] of hands
 * @param {string} [onWall] the copy that hangs there
 */
function lead(classroom, id, counts, onWall = "") {
  const { poll, lesson } = classroom.state;
  const inLesson = lesson && poll && lesson.poll === poll.id;
  return classroom.command(id, (api) => {
    if (lesson && id === "ticket") return openTicket(lesson.id);
    if (poll && id === "hands") return api.hands(poll.id, counts ?? {});
    if (id === "freeze") return api.freeze(!classroom.state.frozen);
    if (poll && id === "done") return api.cancel(poll.id);
    if (poll && (id === "close" || id === "reopen")) return api.turn(poll.id, id);
    if (poll && id === "reveal" && !inLesson) return api.turn(poll.id, "reveal");
    // What takes longer than the answer is revealed when it has come about.
    if (lesson?.step && (id === "reveal" || (id === "next" && lesson.step.phase === "ask"))) classroom.revealing = lesson.step.id;
    if (poll && (id === "world" || id === "worldNext")) return api.showRule(poll.id, "next");
    if (poll && id === "worldClose") return api.showRule(poll.id, "close");
    if (poll && id === "worldPlay") return api.hangWorld(poll.id, poll.rule ?? "");
    if (id === "wallDown") return api.takeDown(onWall);
    if (id.startsWith("start:")) return api.lead({ do: "start", step: id.slice("start:".length) });
    return api.lead({ do: id });
  });
}

let remembered = "";

/**
 * How far somebody who learns alone has come, for the card on Home.
 * @param {string} code
 * @param {import("./lib/class.d.ts").Lesson} lesson
 */
function rememberLesson(code, { id, of, step }) {
  const progress = { code, step: step ? step.index + 1 : of, of, done: step === null };
  const key = JSON.stringify([id, progress]);
  if (key === remembered) return;
  remembered = key;
  void import("./net/lessons.js").then(({ rememberProgress }) => rememberProgress(id, { ...progress, atMs: Date.now() }), () => {
    remembered = "";
  });
}

/**
 * The exit ticket, in a session of its own with another seed.
 * @param {string} lesson
 */
async function openTicket(lesson) {
  const { openLesson } = await import("./net/lessons.js");
  const { code } = await openLesson({ lesson, alone: true, ticket: true });
  location.assign(`/s/${code}`);
}
