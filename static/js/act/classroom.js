/** The class of one session: fetches the poll and the lesson that stand, sends votes and the teacher's commands. */

/** @import { ClassState, PollKept } from "../lib/class.d.ts" */
/** @import { Lang, View } from "../lib/types.d.ts" */
/** @import { ClassApi } from "../net/classroom.js" */
import { ApiError } from "../net/rest.js";
import { leads, LESSONS, standingPoll } from "../state/classroom.js";
import { keptFor, pick, voteOf } from "../state/votes.js";

/** Milliseconds before a vote that got no answer is sent again; the connection's return sends it at once. */
export const RETRY_MS = 3_000;

/** @typedef {{code: number, message: string}} Refusal */

/** @type {ClassState} */
const NOTHING = { poll: null, kept: null, lesson: null, looked: null, unread: "", busy: "", problem: "", frozen: false };

export class Classroom {
  /**
   * @param {ClassApi} api
   * @param {() => void} changed
   * @param {(ms: number, act: () => void) => void} after
   */
  constructor(api, changed, after) {
    this.api = api;
    this.changed = changed;
    this.after = after;
    this.state = NOTHING;
    /** What the log says that the answers should be of; what they are of. */
    this.wanted = { poll: "", lesson: "" };
    this.have = { poll: "", lesson: "" };
    this.loading = { poll: false, lesson: false };
    this.live = false;
    this.teacher = false;
    this.heard = 0;
    /** @type {Lang} */
    this.lang = "en";
  }

  /**
   * Compare what stands in the log with what was fetched.
   * @param {View} view
   * @param {Lang} lang
   * @param {boolean} live whether the connection stands
   */
  follow(view, lang, live) {
    const poll = standingPoll(view);
    const lesson = [...(view.objects.get(LESSONS)?.values() ?? [])][0];
    this.lang = lang;
    this.teacher = leads(view.me);
    this.wanted.poll = poll ? `${poll.metadata.name}@${poll.metadata.resourceVersion} ${this.teacher ? this.heard : 0}` : "";
    this.wanted.lesson = lesson ? `${lesson.metadata.resourceVersion} ${lang} ${poll?.metadata.resourceVersion ?? ""}` : "";
    if (live && !this.live && this.state.kept?.state === "waiting") void this.send();
    this.live = live;
    if (!poll && this.state.poll) this.set({ poll: null, kept: null });
    if (!lesson && (this.state.lesson || this.state.unread)) this.set({ lesson: null, looked: null, unread: "" });
    if (poll) void this.load("poll", () => this.api.poll(poll.metadata.name));
    if (lesson) void this.load("lesson", () => this.api.lesson(this.lang));
  }

  /**
   * Ask for what the log has more of than this page, one question at a time.
   * @param {"poll" | "lesson"} what
   * @param {() => Promise<any>} ask
   */
  async load(what, ask) {
    if (this.loading[what] || this.have[what] === this.wanted[what]) return;
    const wanted = this.wanted[what];
    this.loading[what] = true;
    try {
      const answer = await ask();
      this.have[what] = wanted;
      if (what === "lesson") this.tell(answer);
      else this.hold(answer);
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      // Without an answer it is asked again when the connection is back or the log goes on; one that is gone is not.
      this.have[what] = wanted;
      // The package may have been taken away or broken meanwhile.
      if (what === "lesson" && problem.status.code) this.set({ lesson: null, looked: null, unread: problem.message });
      if (problem.status.code === 0) this.after(RETRY_MS, () => {
        if (this.have[what] === wanted) this.have[what] = "";
        this.changed();
      });
    } finally {
      this.loading[what] = false;
    }
    this.changed();
  }

  /** @param {import("../lib/class.d.ts").Lesson} lesson as the server tells it */
  tell(lesson) {
    const { step } = lesson;
    // The class goes on: what somebody reads again is closed, and what was waited for is revealed.
    const goes = step?.id !== this.state.lesson?.step?.id;
    this.set({ lesson, unread: "", ...(goes ? { looked: null } : {}) });
    if (!step || step.phase !== "wait" || step.id !== this.revealing) {
      if (step?.id !== this.revealing || step.phase === "reveal" || step.phase === "so") this.revealing = "";
      return;
    }
    if (lesson.wait?.state !== "reached" || this.state.busy) return;
    this.revealing = "";
    void this.command("next", (api) => api.lead({ do: "next" }));
  }

  /** The step that whoever leads from this page has asked to be revealed. */
  revealing = "";

  /**
   * Read a step again that is done.
   * @param {string} id "": back to the present one
   */
  async look(id) {
    if (!id) return this.set({ looked: null });
    try {
      this.set({ looked: (await this.api.lesson(this.lang, id)).shown ?? null });
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      this.set({ problem: problem.status.code === 0 ? "unreachable" : problem.message });
    }
  }

  /** @param {import("../lib/class.d.ts").Poll} poll as the server tells it */
  hold(poll) {
    const was = this.state.kept ?? /** @type {PollKept | null} */ (this.api.kept());
    const kept = keptFor(poll, was);
    this.set({ poll, kept });
    if (was === kept && this.state.kept?.state === "sending" && !this.sending) void this.send();
    if (kept.state === "waiting" && this.live) void this.send();
    if (kept.state === "sent") this.api.keep(null);
  }

  /** @param {{id: string, voted: number, present: number}} frame of the websocket */
  counted({ id, voted, present }) {
    const { poll } = this.state;
    this.heard += 1;
    if (poll?.id === id) this.set({ poll: { ...poll, voted, present } });
  }

  /**
   * What a poll asks about was touched on the stage: its answer is chosen, while one has not voted.
   * @param {string} resource
   * @param {string} key
   */
  touched(resource, key) {
    const { poll, kept } = this.state;
    if (poll?.state !== "open" || kept?.state || { node: "nodes", victims: "pods" }[/** @type {string} */ (poll.kind)] !== resource) return;
    if (poll.options.some(({ id }) => id === key)) this.pick(key);
  }

  /** @param {string} id of an option */
  pick(id) {
    const { poll, kept } = this.state;
    if (!poll || !kept) return;
    const next = pick(poll, kept, id);
    this.set({ kept: next.kept });
    if (next.send) void this.send();
  }

  vote() {
    const { poll, kept } = this.state;
    if (poll?.state === "open" && kept?.picked.length && !kept.state) void this.send();
  }

  /** @param {string} id of a reason */
  because(id) {
    const { poll, kept } = this.state;
    if (poll?.state !== "open" || !kept?.picked.length) return;
    this.set({ kept: { ...kept, because: id } });
    void this.send();
  }

  sending = false;

  /** Send what is kept; what gets no answer is kept and sent again, what is refused is said. */
  async send() {
    const { poll, kept } = this.state;
    if (!poll || !kept) return;
    this.set({ kept: { ...kept, state: "sending", problem: "" } });
    this.api.keep(this.state.kept);
    if (this.sending) return;
    this.sending = true;
    const sent = voteOf(poll, kept);
    /** @type {Partial<PollKept>} */
    let outcome = { state: "sent" };
    try {
      this.told(await this.api.vote(poll.id, sent, kept.round), sent);
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      outcome = problem.status.code === 0 || problem.status.code >= 500 ? { state: "waiting" } : { state: "", problem: problem.message };
    } finally {
      this.sending = false;
    }
    const now = this.state.kept;
    if (!now || now.poll !== kept.poll || now.round !== kept.round) return;
    // Another answer or reason was tapped meanwhile.
    const again = outcome.state === "sent" && JSON.stringify(voteOf(poll, now)) !== JSON.stringify(sent);
    this.set({ kept: again ? now : { ...now, ...outcome } });
    if (again) return void this.send();
    if (outcome.state === "waiting") this.after(RETRY_MS, () => this.state.kept?.state === "waiting" && void this.send());
    else this.api.keep(null);
  }

  /**
   * The server has a vote: it answers with the poll, or with nothing.
   * @param {import("../lib/class.d.ts").Poll | null} answer
   * @param {import("../lib/class.d.ts").PollVote} sent
   */
  told(answer, sent) {
    const { poll } = this.state;
    if (!poll) return;
    const mine = { ...poll.mine, [poll.round]: sent };
    this.set({ poll: answer?.id === poll.id && answer.round === poll.round ? answer : { ...poll, mine } });
  }

  /**
   * A command of whoever leads; the log brings what came of it.
   * @param {string} name shown in the button while it is on its way
   * @param {(api: ClassApi) => Promise<unknown>} work
   */
  async command(name, work) {
    if (this.state.busy) return;
    this.set({ busy: name, problem: "" });
    let problem = "";
    try {
      await work(this.api);
    } catch (refusal) {
      if (!(refusal instanceof ApiError)) throw refusal;
      problem = refusal.status.code === 0 ? "unreachable" : refusal.message;
    }
    this.heard += 1;
    this.set({ busy: "", problem });
  }

  /** @param {Partial<ClassState>} change */
  set(change) {
    this.state = { ...this.state, ...change };
    this.changed();
  }
}
