/** Shapes shared by the browser's modules. Wire names are camelCase, as in Kubernetes; frames are in docs/protocol.md. */

export type Role = "teacher" | "student" | "viewer" | "component";
export type Verb = "ADDED" | "MODIFIED" | "DELETED";
export type StepBy = "point" | "cycle" | "event" | "seconds";
export type Lang = "en" | "zh-hans";
export type Theme = "light" | "dark" | "projector";

export interface OwnerReference {
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
}

export interface Metadata {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
}

/**
 * An object as the page reads it: `resource` is the group resource string (`pods`, `deployments.apps`); spec and status
 * are cut per resource by the server. Read through the narrower types below.
 */
export interface Slim {
  resource: string;
  metadata: Metadata;
  spec?: Record<string, any>;
  status?: Record<string, any>;
  /** Texts, lists and mappings were cut to fit a frame: the whole object is one GET away. */
  cut?: true;
  [field: string]: any;
}

export interface Taint {
  key: string;
  value?: string;
  effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  timeAdded?: string;
}

export interface Condition {
  type: string;
  status: "True" | "False" | "Unknown";
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface Container {
  name: string;
  image?: string;
  restartPolicy?: string;
  resources?: { requests?: Record<string, string> };
}

export interface PodSlim extends Slim {
  /** Numbers of the hues it is drawn in; absent where the server gave none. */
  hues?: { owner?: number; priority?: number; namespace?: number };
  /**
   * What its running containers use on average: millicores, bytes; absent while none runs. Where requests add to it: what
   * one a second takes, and what a limit leaves of all.
   */
  usage?: { cpu: number; memory: number; perRequest?: number; most?: number };
  /** Where its command sends requests again and again, and how many a second. */
  sends?: { host: string; rate: number }[];
  /** What the scheduler counts for it where that does not follow from its containers' requests: during a resize, or asked as a whole. */
  counts?: Record<string, string>;
  spec: {
    nodeName?: string;
    priority?: number;
    priorityClassName?: string;
    schedulerName?: string;
    schedulingGates?: { name: string }[];
    containers?: Container[];
    initContainers?: Container[];
    overhead?: Record<string, string>;
    [field: string]: any;
  };
  status: {
    phase?: string;
    reason?: string;
    nominatedNodeName?: string;
    podIP?: string;
    startTime?: string;
    conditions?: Condition[];
    containerStatuses?: {
      name: string;
      ready?: boolean;
      restartCount?: number;
      state?: { waiting?: { reason?: string; message?: string }; running?: object; terminated?: { reason?: string; exitCode?: number } };
    }[];
    initContainerStatuses?: {
      name: string;
      restartCount?: number;
      state?: { waiting?: { reason?: string; message?: string }; running?: object; terminated?: { reason?: string; exitCode?: number } };
    }[];
    [field: string]: any;
  };
}

export interface NodeSlim extends Slim {
  /** What runs there beside its pods uses: millicores, bytes. */
  usage?: { cpu: number; memory: number };
  spec: { unschedulable?: boolean; taints?: Taint[]; [field: string]: any };
  status: {
    allocatable?: Record<string, string>;
    capacity?: Record<string, string>;
    conditions?: Condition[];
    [field: string]: any;
  };
}

/** Spec of the simulated clock as its owner obeys it, and the anchor from which the page reckons simulated time. */
export interface Clock {
  paused: boolean;
  rate: number;
  /** Simulated milliseconds a scheduling cycle spends at each extension point; 0 = straight through. */
  pace: number;
  /** Simulated milliseconds since the session began, at `anchorUnixMs`. */
  simTimeMs: number;
  anchorUnixMs: number;
  /** Simulated per real second at which the page carries time on from there; 0 while the owner is behind. */
  carryRate: number;
  effectiveRate: number;
  held: { pod: string; point: string; replica: string } | null;
  /** Present while only one cycle in `oneIn` is told at that pace. */
  narrated?: { oneIn: number } | null;
  hibernated?: boolean;
}

export interface CodeReasons {
  code: string;
  plugin?: string;
  reasons?: string[];
}

/** The outcome of a cycle: FORMAT of docs/trace.md. Present as far as the cycle has gone. */
export interface TraceResult {
  id?: string;
  result?: "scheduled" | "unschedulable" | "error" | "gated" | "no_nodes";
  preEnqueue?: CodeReasons;
  preFilter?: CodeReasons & { allNodes?: boolean; nodeNames?: string[]; skip?: string[] };
  filters?: Record<string, Record<string, CodeReasons>>;
  firstFail?: Record<string, CodeReasons>;
  /** Nodes that were not asked any more because another one's answer was an Error. */
  notRun?: string[];
  feasible?: string[];
  usedNominatedNode?: boolean;
  scores?: {
    nodes: string[];
    skip?: string[];
    plugins: Record<string, { raw: number[]; normalized: number[]; weighted: number[] }>;
    total: number[];
  };
  best?: string[];
  fitError?: string;
  preemption?: {
    code?: string;
    reasons?: string[];
    eligible?: boolean;
    candidates?: Record<string, { victims: string[]; numPDBViolations: number }>;
    nodeStatus?: Record<string, CodeReasons>;
    ties?: string[];
    nominatedNode?: string;
    victims?: string[];
    clearsNomination?: boolean;
  };
  chosen?: string;
  lot?: { draw: number; below: number; of: string[] };
  /** Only in the status of the cycle in hand: elsewhere it stands beside the result. */
  explanation?: Explanation;
}

/** What a trace tells beyond the outcome: docs/trace.md "Explanation". */
export interface Explanation {
  /** Node → the amounts behind its refusal. */
  refusals?: Record<string, RefusalDetail[]>;
  /** Behind a no of PreFilter, which is for every node. */
  preFilter?: RefusalDetail[];
  nominated?: { node: string; pods: string[]; with: CodeReasons; without: CodeReasons }[];
  preemption?: Account;
  /** What plugins kept from one extension point to the next, in order of writing; values in short. */
  cycleState?: { key: string; writer: string; value: string; cloned: boolean }[];
  /** Calls to HTTP extenders, in order. */
  extenders?: ExtenderCall[];
}

/** One amount behind a filter's no; cpu in millicores, other resources in whole units. */
export type RefusalDetail =
  | { kind: "resource"; resource: string; asked: number; free: number; missing: number; size: number }
  | { kind: "taint"; key: string; value: string; effect: string }
  | {
    kind: "label"; source: string; term: number; key: string; operator: string; values: string[]; value: string | null;
    error?: string;
  }
  | { kind: "name"; asked: string }
  | { kind: "port"; protocol: string; ip: string; port: number; holder: string }
  | {
    kind: "spread"; topologyKey: string; value: string | null; matching: number; fewest: number; skew: number | null;
    maxSkew: number; domains: number; minDomains: number;
  }
  | {
    kind: "podAffinity"; rule: "affinity" | "antiAffinity" | "existing"; topologyKey: string; value: string | null;
    matching: number;
  }
  | { kind: "volume"; claim: string; class: string; volume: string; asked: number; largest: number | null }
  | { kind: "held"; source: "disk" | "claim"; name: string; holder: string }
  | {
    kind: "devices"; claim: string; request: string; class: string; asked: number | null; there: number; fitting: number;
    free: number;
  };

/** One filter's no to a node, of all filters asked. */
export interface Refusal extends CodeReasons {
  plugin: string;
  reasons: string[];
  details: RefusalDetail[];
}

/** One call to an HTTP extender. */
export interface ExtenderCall {
  extender: string;
  verb: "filter" | "prioritize" | "preempt" | "bind";
  url: string;
  durationMs: number;
  nodesIn: number;
  nodesOut?: number;
  failedNodes?: Record<string, string>;
  failedAndUnresolvableNodes?: Record<string, string>;
  error?: string;
  ignored?: boolean;
}

/** A preemption's account. */
export interface Account {
  eligible: boolean;
  whyNot: string;
  asked: string[];
  draw: number | null;
  candidates: {
    node: string;
    costs: Record<string, number | null>;
    eliminatedBy: string;
    fates: {
      pod: string;
      uid: string;
      priority: number;
      startTime: string | null;
      breaksBudget: boolean;
      fate: "reprieved" | "victim";
      plugin: string;
      reasons: string[];
    }[];
  }[];
  steps: { step: string; node?: string; pod?: string; count?: number; text?: string; error?: string }[];
  /** In an era with a static list: each reason given and whether evicting pods mends it. */
  reasons?: { reason: string; error: string; predicate: string; helps: boolean; nodes: string[] }[];
}

export interface Trace {
  id: string;
  revision: number;
  seenRevision: number;
  /** Simulated seconds since the session began. */
  simTime: number;
  pod: string;
  uid: string;
  replica: string;
  profile: string;
  era?: string;
  /** What the best node gets from one plugin, before its weight: 100 today, 10 in eras before the framework. */
  scoreMax?: number;
  attempt: number;
  point: string;
  result: TraceResult;
  explanation?: Explanation;
  /** A node was chosen and then given up; `result` says the same. */
  undone?: { result: string; fitError: string };
  undoneBy?: string;
  /** Set by the page: what the cycle in hand found at its newest point is still on the way. */
  coming?: boolean;
  detail?: "compacted";
}

export type Point =
  | "PreEnqueue"
  | "QueueSort"
  | "PreFilter"
  | "Filter"
  | "PostFilter"
  | "PreScore"
  | "Score"
  | "Reserve"
  | "Permit"
  | "PreBind"
  | "Bind"
  | "PostBind";

/** A scheduling cycle while it is held or paced, in its replica's status. `point` is the last one that ran. */
export interface Cycle {
  pod: string;
  uid: string;
  attempt: number;
  point: Point;
  startedAtMs: number;
  dueAtMs?: number;
  profile: string;
  era?: string;
  /** As in `Trace`. */
  scoreMax?: number;
  seenRevision: number;
  traceId: string;
  trace?: TraceResult;
  /** Extenders whose answer it waits for. */
  calls?: { extender: string; verb: string }[];
}

export interface ReplicaSlim extends Slim {
  spec: { component: "kube-scheduler" | "kube-controller-manager"; fault?: { id: number; kind: string } | null };
  status: {
    state?: "Running" | "Crashed";
    leading?: boolean;
    lease?: { holder: string; observedAtMs: number; renewedAtMs: number; durationMs: number };
    seenRevision?: number;
    clockSkewMs?: number;
    clockRate?: number;
    /** What it has now, one of itself and one of its clock at most; members that say nothing are null. */
    faults?: { id?: number; kind: string; seconds?: number | null; rate?: number | null; untilMs?: number | null }[];
    lastBranch?: string;
    restarts?: number;
    /** Writes of it that were refused because another one was faster; told when the count has doubled. */
    refused?: number;
    /** 0: it was asked to end; 1: it lost its lease. */
    lastExit?: { code: number; reason: string; atMs: number } | null;
    callbacks?: { callback: string; atMs: number; identity: string }[];
    /** When it believed that it leads; without `toMs` while it does. */
    beliefs?: { fromMs: number; toMs?: number | null }[];
    /** Its tries for the lease that say more than the lease does, in simulated milliseconds. */
    tries?: {
      atMs: number;
      branch: string;
      leading: boolean;
      /** Refused because somebody else was faster. */
      conflict: boolean;
      holder: string;
      seenMs: number;
      expiresMs: number;
    }[];
    refusals?: { atMs: number; message: string }[];
    cycle?: Cycle | null;
  };
}

export interface QueuedPod {
  pod: string;
  uid: string;
  /** Label of what put the pod where it is, as upstream's metrics name it. */
  movedBy?: string;
  priority?: number;
  attempts?: number;
  readyAtMs?: number;
  plugins?: string[];
  plugin?: string;
  message?: string;
  wakes?: string[];
}

/** The queue of one scheduler replica as it last wrote it: lists are cut at 50, `counts` are whole. */
export interface QueueStatus {
  active: QueuedPod[];
  backoff: QueuedPod[];
  unschedulable: QueuedPod[];
  gated: QueuedPod[];
  waiting: { pod: string; uid: string; node: string; plugins: { name: string; untilMs: number }[] }[];
  binding: { pod: string; uid: string; node: string }[];
  /** Counted on a node though the watch does not show them there yet; in some eras for so long and no longer. */
  assumed: { pod: string; uid: string; node: string; expiresAtMs?: number }[];
  counts: Record<string, number>;
}

export interface EventSlim extends Slim {
  type?: string;
  reason?: string;
  message?: string;
  note?: string;
  count?: number;
  involvedObject?: { kind?: string; namespace?: string; name?: string; uid?: string };
  firstTimestamp?: string;
  lastTimestamp?: string;
  eventTime?: string;
  source?: { component?: string };
  reportingComponent?: string;
}

export interface SessionInfo {
  code: string;
  title: string;
  /** the same in each language, where it is called after a lesson */
  titles?: Record<string, string>;
  template: string;
  seed: number | string;
}

export interface Me {
  id: string;
  name: string;
  role: Role;
  namespace: string;
  slug: string;
  /** Number of the seat, from 1. */
  color: number;
  /** The view is one of the past: nobody writes into it. */
  past?: boolean;
  /** Who looks at a recording: there is no server. */
  recorded?: boolean;
}

/** What the cluster of one revision has other than that of another: `GET …/changes/<from>/<to>`. */
export interface Changes {
  from: number;
  to: number;
  simTimeMs: number;
  objects: Slim[];
  gone: { resource: string; namespace: string; name: string }[];
}

/** What one component watches: `GET …/watches`. */
export interface Watch {
  name: string;
  count: number;
  running: boolean;
  connected: boolean;
  lateMs: number;
  revision: number;
  lag: number | null;
  gones: number;
  relistAtMs: number | null;
  /** How often one that polls lists, simulated milliseconds; 0: it watches. */
  pollMs: number;
  /** Of a watch from outside: whose it is; namespace null: all. */
  client?: { user: string; name: string; agent: string; namespace: string | null };
  resources: {
    resource: string;
    rows: number;
    revision: number;
    lag: number | null;
    lists: number;
    listedObjects: number;
    watchEvents: number;
  }[];
}

/** One answer, with the moment of the session at which it was asked for; revision -1: none yet. */
export interface WatchesTold {
  atMs: number;
  revision: number;
  watches: readonly Watch[];
}

/** A row of the log on the timeline: `GET …/timeline`. */
export interface Mark {
  rv: number;
  simTime: number;
  lane: "pods" | "scheduler" | "controllers" | "nodes" | "leases" | "people";
  kind: string;
  verb: Verb;
  object: string;
  actor: string;
  text: string;
}

/** The timeline's window: what stands in it, and how many marks there are in each part of the time that was counted. */
export interface TimelineState {
  /** Simulated milliseconds across; 0: all that is kept. */
  spanMs: number;
  from: number;
  to: number;
  fromMs: number;
  toMs: number;
  countedFromMs: number;
  countedToMs: number;
  newest: number;
  newestMs: number;
  compacted: number;
  /** All that is kept: how many marks fall into each part of its time, and marks that tell which revisions those are. */
  whole: { fromMs: number; toMs: number; counts: readonly number[]; marks: readonly Mark[] };
  marks: readonly Mark[];
  counts: Readonly<Record<string, readonly number[]>>;
}

/** The moment that the page is held at; `shown` is what it shows until that has come. 0: now. */
export interface PastState {
  revision: number;
  shown: number;
  playing: -1 | 0 | 1;
}

export interface Person {
  id: string;
  name: string;
  role: Role;
  slug: string;
  /** A student's own is theirs alone. */
  namespace: string;
  /** Number of the seat, from 1: hues 1 to 7, then again with a ring. */
  color: number;
  online: boolean;
  /** The seat was given up: they are known by what they did. */
  left?: true;
  /** What they write is refused. */
  muted?: true;
  /** Their name is the number of their seat: this page is a wall. */
  nameless?: true;
}

/** What a teacher shows the class; what is absent is as it is without: docs/session-api.md, Presenting. */
export interface Presented {
  rv?: number;
  /** `<resource> <namespace>/<name>`. */
  select?: string;
  inspectorTab?: string;
  /** How far the inspector is read: a part of the tab, from 0, and the share of it. */
  part?: number;
  dockTab?: string;
  scene?: "stage" | "decision" | "preemption" | "election" | "poll" | "lesson";
  zoom?: number;
}

/** At what somebody looks. */
export interface Look extends Selection {
  id: string;
}

/** One row of the log as it came over the websocket. */
export interface LogRow {
  revision: number;
  verb: Verb;
  simTimeMs: number;
  actor: string;
  resource: string;
  object: Slim;
}

/** A scheduling attempt in a line, as it came over the websocket: docs/protocol.md. */
export interface DecisionLine {
  id: string;
  /** The log row that came with it. */
  revision: number;
  simTimeMs: number;
  pod: string;
  uid: string;
  attempt: number;
  replica: string;
  result?: string;
  feasible?: number;
  node?: string;
  /** Of a node without points: why it was asked alone; absent where no other one fits. */
  alone?: "nominated" | "turn";
  points?: number;
  /** How many nodes have those points, and up to 12 of their names. */
  best?: number;
  of?: string[];
  preemption?: { node: string; candidates: number; criterion: string; victims: string[]; count: number };
}

export type Frame =
  | {
      type: "hello";
      protocol: number;
      release: string;
      revision: number;
      compacted: number;
      epochMs: number;
      /** The server's real time at sending. */
      serverUnixMs: number;
      /** Simulated time of the newest row of the log. */
      newestMs: number;
      session: SessionInfo;
      me: Me;
      clock: Clock | null;
    }
  | { type: "list"; revision: number; objects: Slim[]; last: boolean }
  | { type: "events"; from: number; to: number; events: LogRow[]; decisions?: DecisionLine[] }
  | { type: "gone" }
  | { type: "people"; people: Person[] }
  | { type: "requests" }
  | { type: "looks"; on: boolean; looks: Look[] }
  | { type: "pointed"; id: number; by: string; resource: string; namespace?: string; name: string }
  | { type: "class"; frozen: boolean; names: boolean; handed: Record<string, number>; wall: string; home: string; yours: boolean }
  | { type: "copies" }
  | { type: "presenting"; view: Presented | null; by: string; at: number }
  | { type: "votes"; id: string; voted: number; present: number; round: number; state: string }
  | { type: "ping"; id: number };

/** What changes a view: the server's frames, and what the page fetched beside them. */
export type Message = Frame | { type: "hand"; id: string; point: string; trace: TraceResult };

export type Objects = ReadonlyMap<string, ReadonlyMap<string, Slim>>;

/**
 * The browser's folded state at one revision. Never changed in place: every frame gives a new view, and a resource's
 * map keeps its identity while nothing in it changes, so that selectors can remember what they computed from it.
 */
export interface View {
  revision: number;
  /** Unix milliseconds of simulated time zero. */
  epochMs: number;
  /** Simulated time of the newest row of the log that this page knows of. */
  newestMs: number;
  release: string;
  session: SessionInfo | null;
  me: Me | null;
  clock: Clock | null;
  /** resource → (`namespace/name`, or `name` when cluster-scoped) → object. */
  objects: Objects;
  people: readonly Person[];
  /** At what people look; `on` false: the teacher has switched it off. */
  looks: { on: boolean; looks: readonly Look[] };
  /** What the teacher `by` shows; a null view: nobody presents. */
  presenting: { view: Presented | null; by: string; at: number };
  /** What students write is refused. */
  frozen: boolean;
  /** Viewers' screens tell names. */
  wallNames: boolean;
  /** When this person's newest copy was handed out, Unix milliseconds; 0: it was not, or there is none. */
  handed: number;
  /** The code of the copy that the whole class looks at; "" none. */
  onWall: string;
  /** Whether this person came to what hangs there: nobody else is told. */
  yours: boolean;
  /** The class on whose wall this session hung and does no longer; "" otherwise. */
  home: string;
  /** Newest log rows of this connection, oldest first, at most ROWS_KEPT. Empty after a fresh list. */
  rows: readonly LogRow[];
  /** Newest decisions of this connection, oldest first, at most DECISIONS_KEPT. */
  decisions: readonly DecisionLine[];
  /** False until the first list is whole. */
  ready: boolean;
  /**
   * The trace of a cycle in hand whose status carries none (large clusters), fetched beside the log; it may be that of
   * an earlier `point` for a moment.
   */
  hand: { id: string; point: string; trace: TraceResult } | null;
  /** What has arrived of a list under way; replaces `objects` when whole. */
  listing: ReadonlyMap<string, Map<string, Slim>> | null;
  /** The server has compacted our place: subscribe again without a revision. */
  gone: boolean;
}

/** One step of a request to the API server. */
export interface RequestStep {
  step: "authentication" | "authorization" | "mutating" | "validating" | "quota" | "registry" | "store";
  plugin?: string;
  ms: number;
  result: "ok" | "changed" | "refused";
  message?: string;
}

/** `GET …/requests`, see docs/session-api.md. */
export interface ApiRequest {
  id: string;
  user: string;
  verb: string;
  path: string;
  key: string;
  code: number;
  message: string;
  simTime: number;
  /** resourceVersions: the one it was made on, the object's before and after it; "" where there is none. */
  rvAsked: string;
  rvBefore: string;
  rvAfter: string;
  steps: RequestStep[];
}

/** One reconciliation of one key. */
export interface Reconciled {
  object: string;
  reason: string;
  desired: Record<string, unknown>;
  actual: Record<string, unknown>;
  calls: { verb: string; resource: string; subresource: string; name: string; code: number; message: string }[];
  callCount: number;
  beganMs: number;
  endedMs: number | null;
  error: string | null;
}

/** `GET …/controllers`, see docs/session-api.md. */
export interface ControllerPanel {
  name: string;
  replica: string;
  leading: boolean;
  flags: Record<string, string>;
  caches: Record<string, { objects: number; revision: number; lag: number | null; lists: number; synced: boolean }>;
  queue: {
    length: number;
    adds: number;
    retries: number;
    ready: string[];
    working: string[];
    waiting: { key: string; inMs: number; failures: number }[];
  };
  workers: { busy: number; limit: number };
  last: Reconciled | null;
  recent: Reconciled[];
}

/** What a tab of the dock asks the session API for, below `/api/sessions/<code>/`. */
export interface Looks {
  look: (path: string) => Promise<any>;
  /** The server tells of new requests (`Ui.requestHints`) while anybody wants it. */
  followRequests: (who: string, wanted: boolean) => void;
  /** Have two writers of one object meet, in the asker's namespace. */
  showConflict: (namespace: string) => Promise<void>;
}

export interface Selection {
  resource: string;
  key: string;
}

/** What belongs to this browser alone. Panels and the stage read it beside the view. */
export interface Ui {
  lang: Lang;
  theme: Theme;
  selected: Selection | null;
  /** What is selected takes the page. */
  enlarged: boolean;
  colourBy: "owner" | "priority" | "namespace" | "person";
  /** Simulated milliseconds now, reckoned from the clock's anchor for this frame. */
  nowMs: number;
  reducedMotion: boolean;
  connection: "connecting" | "live" | "offline";
  /** 900 × 700 and the like decide the layout in CSS; the phone layout leaves out the stage. */
  phone: boolean;
  /** `pinned`: the attempt that somebody has chosen; "" while the newest is shown as it comes. */
  decisions: { pod: string; traces: Trace[]; selectedTraceId: string; pinned: string; loading: boolean };
  model: ModelState;
  past: PastState;
  timeline: TimelineState;
  watches: WatchesTold;
  /** Renewals from before the page was opened. */
  leases: readonly Mark[];
  /** How others join: of what hangs on the wall that is by the class's code; `networkUrl` is what they open, once the server listens to more than this computer. */
  join: { url: string; code: string; reachable: boolean; networkUrl: string | null };
  /** The session that this one is a copy of: the way back. */
  parent: { code: string; title: string } | null;
  /** How often the server has told that there are new requests; it tells while somebody follows them. */
  requestHints: number;
  /** How often the server has told that copies of the class look otherwise; it tells while the room is open. */
  copyHints: number;
  /** Whether others are told what is selected here. */
  sharesLooks: boolean;
  /**
   * Whether everybody's looks are told, as it was asked of the server; `told`: what the session had told when it was
   * answered, null before. null: nothing was asked, or it was refused.
   */
  looksAsked: { on: boolean; told: View["looks"] | null } | null;
  /** In CSS pixels; null: as high as the page's size says. */
  dockHeight: number | null;
  /** What the stage shows while the page is held. */
  pastShows: PastShows;
  undo: UndoState;
  redo: UndoState;
  command: Commanded | null;
  /** What a what-if of the selected pod changes on the nodes; null: none is looked at. */
  trial: Trial | null;
  /** Nodes that are to be seen among the others; null: none. */
  lit: Lit | null;
  /** The newest decision, where it was made before this page was there to see it. */
  last: Trace | null;
}

/** Nodes that one reason of an attempt refused. */
export interface Lit {
  /** The pod whose attempt it was, `namespace/name`. */
  pod: string;
  /** Id of the attempt. */
  attempt: string;
  reason: string;
  nodes: ReadonlySet<string>;
}

/** A what-if as the stage shows it: one attempt taken again, or the newest `last` decisions together. */
export interface Trial {
  /** The pod that it was asked of, `namespace/name`. */
  pod: string;
  /** Id of the attempt that it was asked of. */
  attempt: string;
  /** 0: one attempt. */
  last: number;
  /** Where the attempt's pod went, and would go; of many decisions, how many would have gone elsewhere and of how many. */
  chosen: readonly [string | null, string | null];
  elsewhere: readonly [number, number];
  nodes: ReadonlyMap<string, TrialNode>;
}

/** `was`, `now`: points, or pods of many decisions; null where there are none. */
export interface TrialNode {
  was: number | null;
  now: number | null;
  /** "in": refused before, fits now; "out": the other way round, for `reason` (a filter's own words). */
  verdict: "" | "in" | "out";
  reason: string;
  /** Of one attempt: the node that would be chosen, the one that was, or both in one. */
  role: "" | "would" | "had" | "stays";
}

/** What the line that was typed last came to; `id` counts them. An empty `error`: it was done. */
export interface Commanded {
  id: number;
  line: string;
  error: string;
  output: Output | null;
}

/** What a command answers. `name`: the column of the object's name; `total` may be more than there are rows. */
export type Output =
  | { kind: "help"; rows: readonly { example: string; about: string }[] }
  | { kind: "table"; resource: string; columns: readonly string[]; name: number; total: number;
      rows: readonly { key: string; cells: readonly string[] }[] };

export type PastShows = "then" | "difference" | "now";

/** What the next undo takes back, or the next redo does again, as it is told; null: nothing. `count`: objects. */
export type UndoState = { did: "created" | "deleted" | "changed" | "imported"; kind: string; name: string; count: number } | null;

/** What the Model tab shows: the pod asked about, and the answer or why there is none. */
export interface ModelState {
  pod: string;
  answer: ModelAnswer | null;
  problem: string;
  /** There is no such pod any more. */
  gone: boolean;
}

/** `GET …/model`, see docs/model.md. */
export interface ModelAnswer {
  pod: string;
  bound: boolean;
  boundTo: string | null;
  above: string[];
  mayGo: boolean;
  case: "Scheduling" | "Preemption" | "UNCHANGED" | "Bound" | null;
  schedulingEnabled: boolean;
  preemptionEnabled: boolean | null;
  casualty: { brokenBudgets: number; pods: number } | null;
  possible: string[];
  feasible: string[];
  viable: string[];
  engine: { step: { kind: string; node: string | null; victims: string[] }; deviations: string[] | null } | null;
  formulas: Record<string, string>;
  named: Record<string, { section: string; model: string; engine: string; why: string; example: string }>;
  nodes: ModelNode[];
  trace: string | null;
}

export interface ModelNode {
  node: string;
  boundTo: boolean;
  feasible: boolean;
  filters: { section: string; holds: boolean; today: boolean; deviations: string[] }[];
  viability: number;
  preemption: { jeopardy: string[]; enabled: boolean | null; pods: string[] | null };
  engine: { feasible: boolean; plugin: string; reasons: string[]; total: number | null } | null;
}

/** One change of a what-if: docs/session-api.md. */
export type Change =
  | { weight: { plugin: string; weight: number } }
  | { disable: string }
  | { scheduler: Record<string, any> }
  | { request: Record<string, string> }
  | { add: Record<string, any> }
  | { remove: { kind: string; namespace?: string; name: string } }
  | { patch: { kind: string; namespace?: string; name: string; patch: Record<string, any> } };

/** A single change with which a pod would have found a node. */
export interface Fit {
  changes: Change[];
  text: { en: string; zh: string };
  node: string;
  checked: true;
}

/** What differs between a decision and the same one on changed input. */
export interface WhatIfAnswer {
  before: Trace;
  after: Trace;
  difference: {
    chosen: [string | null, string | null];
    verdicts: { node: string; before: "fits" | CodeReasons | null; after: "fits" | CodeReasons | null }[];
    scores: {
      node: string;
      before: number | null;
      after: number | null;
      plugins: { plugin: string; before: number | null; after: number | null }[];
    }[];
  };
}

/** How many of the newest decisions each weight of a plugin, changed alone, would have moved: docs/session-api.md. */
export interface WeightsAlone {
  asked: number;
  decided: number;
  weights: number[];
  plugins: { plugin: string; decided: number; elsewhere: number[] }[];
  left: { id: string; pod: string; why: string }[];
}

/** The newest decisions under the same changes: docs/session-api.md. */
export interface WhatIfLast {
  asked: number;
  decided: number;
  elsewhere: number;
  decisions: {
    id: string;
    pod: string;
    before: string | null;
    after: string | null;
    points: [number | null, number | null];
  }[];
  left: { id: string; pod: string; why: string }[];
}

/** What a comparison asks for: docs/session-api.md. */
export interface CompareAsk {
  a: Record<string, unknown>[];
  b: Record<string, unknown>[];
  input: string | { last: number };
  optimum: boolean;
}

export interface CompareSums {
  pods: number;
  placed: number;
  evicted: number;
  spread: { skew: number; group: string; over: "zones" | "nodes" } | null;
  room: { size: { cpu: number; memory: number }; fits: number; cpuFree: number; stranded: number };
  waited: { half: number | null; longest: number | null };
  simTime: number;
  atRest: boolean;
}

export interface CompareWhere {
  node: string | null;
  waited: number | null;
  evicted: boolean;
}

export interface CompareRow {
  pod: string;
  uid: string;
  a: CompareWhere;
  b: CompareWhere;
  points: [number | null, number | null];
  why:
    | null
    | { kind: "none"; side: "a" | "b"; message: string }
    | { kind: "refused"; side: "a" | "b"; node: string; plugin: string; reasons: string[] }
    | { kind: "score"; plugin: string; by: number }
    | { kind: "lot" }
    | { kind: "unseen" };
}

/** Two schedulers on the same pods: docs/session-api.md. */
export interface Compared {
  revision: number;
  seed: number;
  pods: number;
  elsewhere: number;
  sums: [CompareSums, CompareSums];
  nodes: { node: string; zone: string; cpu: number; pods: [number, number]; used: [number, number] }[];
  rows: CompareRow[];
  optimum: null | { problem: string } | { placed: number; proven: boolean; gap: number; placement: Record<string, string> };
}

/** What a click means. act/ turns intents into requests, dialogs or changes of Ui. */
export type Intent =
  /** `focus`: the keyboard goes along to the inspector. */
  | { type: "select"; resource: string; key: string; tab?: string; focus?: boolean }
  | { type: "deselect" }
  | { type: "play" }
  | { type: "pause" }
  | { type: "step"; by: StepBy; count?: number }
  | { type: "clock"; rate?: number; pace?: number }
  | { type: "selectTrace"; id: string }
  | { type: "showTrial"; trial: Trial | null }
  | { type: "light"; lit: Lit | null }
  | { type: "colourBy"; by: Ui["colourBy"] }
  | { type: "tab"; tab: string }
  /** What is selected takes the page, or stands beside the stage again. */
  | { type: "enlarge"; on: boolean }
  | { type: "create"; item: string; values?: Record<string, string> }
  | { type: "openForm"; item: string }
  /** `text`: what a file that was dropped says. */
  | { type: "openSave" }
  | { type: "openImport"; kind: "yaml" | "openb"; text?: string }
  /** `typed`: by hand, so that the answer stands at the line. */
  | { type: "command"; line: string; typed?: boolean }
  | { type: "delete"; resource: string; key: string }
  | { type: "undo" }
  | { type: "redo" }
  | { type: "fault"; identity: string; kind: "crash" | "recover" }
  | { type: "fault"; identity: string; kind: "rate"; rate: number }
  | { type: "openFault"; identity: string; kind?: string }
  | { type: "openScheduler" }
  | { type: "openExpression" }
  /** What wrong rules make of a decision, beside what the engine does. */
  | { type: "openRules"; decision: string; pod: string }
  /** What a class is shown under a rule; "": no longer. */
  | { type: "showWorld"; poll: string; decision: string; rule: string; votes: Record<string, number>; before: Record<string, number> }
  /** A round in which people place pods. */
  | { type: "openByHand" }
  /** Tasks to take home; `id`: the one that the address names, "" the newest. */
  | { type: "openHomework"; id: string }
  | { type: "judge"; uid: string; plugin: string; verdict: "allow" | "reject" }
  | { type: "lang"; lang: Lang }
  | { type: "theme"; theme: Theme }
  | { type: "dockHeight"; height: number | null }
  | { type: "hold"; revision: number }
  /** What the stage shows while the page is held. */
  | { type: "showPast"; shows: PastShows }
  | { type: "release" }
  | { type: "playPast"; direction: -1 | 1 }
  | { type: "zoomTime"; spanMs: number }
  | { type: "forkHere" }
  | { type: "bookmark"; name: string }
  | { type: "unbookmark"; name: string }
  | { type: "copyAddress" }
  | { type: "compare"; ask: CompareAsk; told: (answer: { answer?: Compared; refusal?: { message: string; causes?: { field: string; message: string }[] } }) => void }
  | { type: "eras"; told: (eras: { name: string; title: string }[]) => void }
  | { type: "showKeys" }
  | { type: "showCode" }
  | { type: "shareLooks"; on: boolean }
  | { type: "switchLooks"; on: boolean }
  | { type: "pointAt"; resource: string; key: string }
  /** Show everybody this, or (null) nothing any more. */
  | { type: "present"; view: Presented | null }
  | { type: "freeze"; on: boolean }
  | { type: "wallNames"; on: boolean }
  | { type: "renamePerson"; id: string; name: string }
  | { type: "mutePerson"; id: string; on: boolean }
  | { type: "undoPerson"; id: string; name: string }
  /** Two seats are one person's: `other` goes. */
  | { type: "mergePeople"; id: string; other: string; name: string }
  | { type: "removePerson"; id: string; name: string }
  /** A copy of now for these people's seats; done where the predicate `until` holds, if there is one. */
  | { type: "handOut"; people: "all" | string[]; seeds: "same" | "each"; until: string }
  /** Look into a copy, in a window of its own. */
  | { type: "enterCopy"; code: string }
  /** Go on in one's own copy, which is made where there is none. */
  | { type: "myCopy" }
  /** Say that a copy lies ready. */
  | { type: "copyHanded" }
  | { type: "goToWall"; code: string }
  /** Say that something hangs on the wall. */
  | { type: "wallHung"; code: string; yours: boolean }
  /** Somebody has come to look into this copy, in words. */
  | { type: "lookedInto"; words: string }
  /** Show the class what somebody came to, without saying who, and ask about it. */
  | { type: "putOnWall"; code: string }
  | { type: "askClass"; pod: string };

export type Dispatch = (intent: Intent) => void;

/** A Kubernetes Status: the one shape of every refusal. */
export interface ApiStatus {
  kind: "Status";
  status?: string;
  code: number;
  reason: string;
  message: string;
  said?: NamedSentence;
  details?: { name?: string; kind?: string; causes?: { field?: string; message?: string; reason?: string; said?: NamedSentence }[] };
}

/** Which sentence a refusal says, and what stands in its blanks; a value may be a sentence itself. */
export interface NamedSentence {
  key: string;
  values: Readonly<Record<string, string | number | NamedSentence>>;
}

/** A node with the numbers the stage draws, reckoned once per change. */
export interface NodeSummary {
  name: string;
  key: string;
  zone: string;
  ready: boolean;
  unschedulable: boolean;
  taints: readonly Taint[];
  allocatable: Resources;
  requested: Resources;
  pods: readonly PodSlim[];
  node: NodeSlim;
}

export interface Resources {
  cpuMilli: number;
  memoryBytes: number;
  pods: number;
  /** Extended resources by name, `nvidia.com/gpu` and others. */
  extended: Readonly<Record<string, number>>;
}

export type PodState =
  | "queued"
  | "gated"
  | "assumed"
  | "bound"
  | "pulling"
  | "running"
  | "succeeded"
  | "terminating"
  | "nominated"
  | "failed";

/** What stage/stage.js and decision/decision.js give main.js. `render` may be called any number of times. */
export interface Stage {
  /** `other`: the newest view, where its difference from the one that is held is asked for; what that comes to in sum. */
  render(view: View, ui: Ui, other?: View | null): void;
  /** How near the nodes are shown; 1 is what fits. */
  zoom(): number;
  setZoom(wanted: number): void;
  destroy(): void;
}

export interface DecisionPanel {
  render(state: {
    traces: readonly Trace[];
    selectedTraceId: string;
    loading: boolean;
    theme: Theme;
    lang: Lang;
    /** Numbers of the hues of plugins. */
    hues: Readonly<Record<string, number>>;
    /** Unix milliseconds of simulated time zero. */
    epochMs: number;
    /** A pod's name as it is said; `people`: another one where it may be said otherwise. */
    say: (key: string) => string;
    people?: unknown;
    lit?: Lit | null;
    /** Why no cycle has run, where it is not only a matter of the pod's turn. */
    why?: string;
  }): void;
  destroy(): void;
}
