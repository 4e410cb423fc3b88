/** Shapes of the class: polls and lessons as the session API tells them (docs/session-api.md). */

/** A sentence in every language that its author wrote, or one for all. */
export type Said = string | { en?: string; zh?: string };

export type PollKind = "node" | "victims" | "leader" | "choice";
export type PollState = "opening" | "open" | "closed" | "revealed";

/** What the snapshot says of an option, never a verdict; cpu in millicores, memory in bytes. */
export interface PollFacts {
  zone?: string;
  ready?: boolean;
  unschedulable?: boolean;
  taints?: string[];
  free?: Record<string, number>;
  allocatable?: Record<string, number>;
  /** How many pods the node has, and their priorities, highest first. */
  pods?: number;
  priorities?: number[];
  /** How many of those that are less important a PodDisruptionBudget allows no disruption of. */
  guarded?: number;
  /** Of a pod. */
  node?: string;
  priority?: number;
  requests?: Record<string, number>;
}

export interface PollOption {
  id: string;
  label: Said;
  facts?: PollFacts;
}

export interface PollReason {
  id: string;
  label: Said;
}

/** `choice`: one id; of victims, all of them. */
export interface PollVote {
  choice: string | string[];
  because?: string;
}

/** The engine's own words for what it did; `failed`, `candidates` and the like by node. */
export interface PollExplain {
  decision?: string;
  message?: string;
  feasible?: string[];
  total?: Record<string, number>;
  plugins?: Record<string, Record<string, number>>;
  failed?: Record<string, { plugin: string; reasons: string[] }>;
  candidates?: Record<string, string[]>;
  criterion?: string;
  rows?: Record<string, { eliminatedBy: string }>;
}

/** The answer; there is none before the reveal. */
export interface PollAnswer {
  right: string[];
  /** Every set of options that is right. */
  alternatives?: string[][];
  chosen: string | null;
  tie?: string[];
  victims?: string[];
  lot?: { draw: number; below: number; of: string[] } | number | null;
  /** The attempt that shows why; "" where there is none. */
  decision?: string;
  explain?: PollExplain | null;
}

/** `GET …/polls/<id>` as this person may see it. */
export interface Poll {
  id: string;
  kind: PollKind;
  pod: string;
  question: Said;
  state: PollState;
  round: number;
  options: PollOption[];
  because?: PollReason[];
  /** Seconds of a round; 0: until the teacher closes it. */
  limit: number;
  endsUnixMs: number | null;
  voted: number;
  present: number;
  mine?: Record<string, PollVote>;
  /** By round, then option: to the teacher always, to others after the reveal. */
  counts?: Record<string, Record<string, number>>;
  /** By round: how many voted, and how many of them were right. */
  votes?: Record<string, number>;
  rightCounts?: Record<string, number>;
  /** To the teacher, before the reveal: what a dry run on the held snapshot says is right. */
  expected?: string[][] | null;
  advice?: "few" | "hint" | "talk" | "reveal";
  answer: PollAnswer | null;
  changed?: { toRight: number; fromRight: number; other: number };
  models?: Record<string, number>;
  /** In a second round: the same of the first. */
  firstModels?: Record<string, number>;
  becauseCounts?: Record<string, Record<string, number>>;
  /** After the reveal: the rule whose world walls show, and all that differ from the engine, most believed first. */
  rule?: string;
  rules?: string[];
}

/** What this browser knows of its own votes beyond what the server has said. */
export interface PollKept {
  poll: string;
  round: number;
  /** What is picked, voted for or not; a list where several may be. */
  picked: string[];
  because: string;
  /** sent: the server has it; sending; waiting: no answer came, it is tried again; "": not voted for yet. */
  state: "" | "sending" | "waiting" | "sent";
  /** Why the server would not take it. */
  problem: string;
}

/** What the page shows of the class: the poll that stands, the lesson that runs. */
export interface ClassState {
  poll: Poll | null;
  kept: PollKept | null;
  lesson: Lesson | null;
  /** A step that is done, read again; null: the present one is shown. */
  looked: Looked | null;
  /** Why the lesson cannot be read. */
  unread: string;
  /** A command of the teacher is on its way. */
  busy: string;
  problem: string;
  /** Students' writes are refused. */
  frozen: boolean;
}

/** A piece of prose under the name of its kind. */
export type Part = { text?: string; strong?: string; em?: string; code?: string; number?: string | number };

/** A paragraph, item, quotation or code of a lesson's prose. */
export interface Block {
  kind: "p" | "li" | "quote" | "code";
  parts: Part[];
}

export type Phase = "scene" | "ask" | "wait" | "reveal" | "so";

/** A step that is done, to be read again. */
export interface Looked {
  id: string;
  title: string;
  scene?: Block[];
  ask?: Block[];
  hint?: Block[];
  reveal?: Block[];
  so?: Block[];
}

/** `GET …/lesson`. */
export interface Lesson {
  id: string;
  title: string;
  /** The seed that it is about; null: none. */
  document?: number | null;
  number: number;
  of: number;
  /** null: the lesson is over. */
  step: {
    id: string;
    title: string;
    index: number;
    minutes: number;
    minimum: boolean;
    phase: Phase;
    phases: Phase[];
    hasHint?: boolean;
    scene?: Block[];
    ask?: Block[];
    hint?: Block[];
    reveal?: Block[];
    so?: Block[];
    view?: Record<string, any>;
  } | null;
  steps: { id: string; title: string; minutes: number; minimum: boolean; done: boolean; current: boolean; so?: Block[] }[];
  poll: string | null;
  /** All texts of a step that is done, which somebody looks at again. */
  shown?: Looked | null;
  wait: { until: string | null; seconds: number | null; state: string; message?: string; makeItSo: boolean } | null;
  /** What is being played: a scene, or what is waited for. */
  script?: { state: string; done: number; of: number; message: string };
  next: { do: string; label: string } | null;
  alone: boolean;
  ticket?: boolean;
  hasTicket?: boolean;
  /** The step that is another lesson's exit ticket, asked again, and that lesson's title. */
  again?: { step: string; title: string } | null;
  minutesLeft: number;
}
