/** The class on the session page: what a poll or a lesson needs is fetched when there is one, for the role that it is for. */

/** @import { Dispatch, Ui, View } from "./lib/types.d.ts" */
/** @import { Input } from "./class/poll/ballot.js" */
import { Classroom } from "./act/classroom.js";
import { mountBallot } from "./class/poll/ballot.js";
import { addStyles } from "./dom/styles.js";
import { loadTexts } from "./lib/text.js";
import { ClassApi } from "./net/classroom.js";
import { leads, standingPoll } from "./state/classroom.js";
import { isWall } from "./state/looks.js";
import { mountColumn } from "./class/column.js";

/** @typedef {{element: HTMLElement, render: (input: Input) => void}} Panel */

/**
 * @param {object} world
 * @param {string} world.code
 * @param {Dispatch} world.dispatch
 * @param {() => Ui} world.ui
 * @param {() => void} world.redraw
 * @param {(name: string, page: {element: HTMLElement, render: (view: View, ui: Ui) => void} | null) => void} world.offer
 *   a page of the phone
 */
export async function createInClass({ code, dispatch, ui, redraw, offer }) {
  await Promise.all([loadTexts(ui().lang, "vote"), addStyles("class-vote")]);
  const classroom = new Classroom(new ClassApi(code), redraw, (ms, act) => void setTimeout(act, ms));
  const ballot = mountBallot({
    pick: (id) => classroom.pick(id),
    vote: () => classroom.vote(),
    because: (id) => classroom.because(id),
    look: (id) => lookAt(id),
  });
  const column = mountColumn({ ballot, dispatch });
  /** @type {Panel | null} */
  let panel = null;
  /** @type {Panel | null} */
  let wall = null;
  /** What is on its way or there. @type {Set<string>} */
  const asked = new Set();
  let offered = false;
  let second = 0;
  /** @type {View | null} */
  let last = null;

  /** A node that is voted for lights up on the stage. @param {string} id */
  function lookAt(id) {
    if (!ui().phone && last?.objects.get("nodes")?.has(id)) dispatch({ type: "select", resource: "nodes", key: id });
  }

  /**
   * @param {string} name
   * @param {() => Promise<void>} load
   */
  function once(name, load) {
    if (asked.has(name)) return;
    asked.add(name);
    load().then(redraw, () => asked.delete(name));
  }

  const loadPanel = async () => {
    const [{ mountPanel }] = await Promise.all([
      import("./class/remote/panel.js"), loadTexts(ui().lang, "class"), addStyles("class-lead"),
    ]);
    panel = mountPanel((id) => void lead(classroom, id));
  };
  const loadWall = async () => {
    const [{ mountWall }] = await Promise.all([import("./class/poll/wall.js"), addStyles("class-wall")]);
    wall = mountWall();
    document.getElementById("stage")?.after(wall.element);
  };

  return {
    /** @param {{id: string, voted: number, present: number}} frame */
    counted: (frame) => classroom.counted(frame),
    /**
     * @param {View} view
     * @param {number} unixMs by the server's clock
     * @returns {boolean} whether a second has passed of a vote that is open
     */
    follow(view, unixMs) {
      const { lang, connection } = ui();
      last = view;
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
      const alone = Boolean(classroom.state.lesson?.alone || standingPoll(view)?.spec?.["alone"]);
      /** @type {Input} */
      const input = { view, ui: current, state: classroom.state, unixMs, alone };
      const onWall = isWall(view, current) && !current.phone;
      const teaching = leads(view.me) && !alone;
      const shown = classroom.state.poll !== null;
      if (onWall && shown) once("wall", loadWall);
      if (teaching && !onWall) once("panel", loadPanel);
      wall?.render(onWall ? input : { ...input, state: { ...classroom.state, poll: null } });
      const part = teaching ? panel : ballot;
      if (shown && !onWall && part) part.render(input);
      if (current.phone) {
        if (shown !== offered && part) offer(teaching ? "lead" : "vote", shown ? { element: part.element, render: () => {} } : null);
        offered = shown && part !== null;
      }
      column.render(shown && !onWall && !current.phone ? (part?.element ?? null) : null, current);
    },
    state: () => classroom.state,
  };
}

/**
 * What a button of whoever leads does: to the poll, or to the lesson that asks it.
 * @param {Classroom} classroom
 * @param {string} id
 */
function lead(classroom, id) {
  const { poll, lesson } = classroom.state;
  const inLesson = lesson && poll && lesson.poll === poll.id;
  return classroom.command(id, (api) => {
    if (poll && id === "done") return api.cancel(poll.id);
    if (poll && (id === "close" || id === "reopen")) return api.turn(poll.id, id);
    if (poll && id === "reveal" && !inLesson) return api.turn(poll.id, "reveal");
    return api.lead({ do: id });
  });
}
