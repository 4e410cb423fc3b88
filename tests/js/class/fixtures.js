// Step 3 of the lesson on preemption, as the session API tells it: 32 people, first vote 11 13 6 2, second 6 22 3 1.
export const LABELS = { n1: "n1", n2: "n2", n3: "n3", none: { en: "None, it stays pending", zh: "都不选，继续等待" } };

const node = (...priorities) => ({
  taints: [], free: { cpu: 0, memory: 4 * 2 ** 30 }, allocatable: { cpu: 4000, memory: 16 * 2 ** 30 }, pods: priorities.length, priorities,
});
const FACTS = { n1: node(20000, 500), n2: node(20000, 100, 0, 0), n3: node(20000, 0), none: {} };

/** The poll while the first vote runs, as a student sees it. */
export function openPoll(change = {}) {
  return {
    id: "poll-3", kind: "node", pod: "default/vip", state: "open", round: 1, limit: 60, endsUnixMs: 60_000, voted: 24, present: 32,
    question: { en: "Which node will it choose for vip?", zh: "它会为 vip 选择哪个节点？" },
    options: Object.entries(LABELS).map(([id, label]) => ({ id, label, facts: FACTS[id] })),
    because: [
      { id: "fewest-victims", label: { en: "it evicts the fewest pods", zh: "驱逐的 Pod 最少" } },
      { id: "engine", label: { en: "no broken PDB first, then the least important victims", zh: "先不违反 PDB，再看被驱逐者的重要性" } },
      { id: "lowest-first", label: { en: "the lowest priority dies first", zh: "优先级最低者先被驱逐" } },
      { id: "other", label: { en: "another reason …", zh: "其他理由……" } },
    ],
    mine: {}, answer: null, ...change,
  };
}

export const COUNTS = { 1: { n1: 11, n2: 13, n3: 6, none: 2 }, 2: { n1: 6, n2: 22, n3: 3, none: 1 } };

/** The same after the reveal. */
export function revealedPoll(change = {}) {
  return openPoll({
    state: "revealed", round: 2, voted: 32, endsUnixMs: null, counts: COUNTS, changed: { toRight: 10, fromRight: 1, other: 0 },
    mine: { 1: { choice: ["n1"], because: "fewest-victims" }, 2: { choice: ["n2"], because: "engine" } },
    answer: {
      right: ["n2"], chosen: "n2", tie: [], victims: ["default/web", "default/batch-a", "default/batch-b"], lot: null,
      alternatives: [["n2"]],
      explain: {
        total: {}, failed: Object.fromEntries(["n1", "n2", "n3"].map((name) => [name, { plugin: "NodeResourcesFit", reasons: ["Insufficient cpu"] }])),
        candidates: { n1: ["default/api"], n2: ["default/web", "default/batch-a", "default/batch-b"], n3: ["default/cart"] },
        criterion: "highestPriority", message: "0/3 nodes are available: 3 Insufficient cpu.",
        rows: { n1: { eliminatedBy: "highestPriority" }, n2: { eliminatedBy: "" }, n3: { eliminatedBy: "pdbViolations" } },
      },
    },
    votes: { 1: 32, 2: 32 }, rightCounts: { 1: 13, 2: 22 },
    ...change,
  });
}

/** A poll that points decided, with a tie that the lot broke. */
export function scoredPoll() {
  const options = ["n2", "n4", "n6", "n9", "n11", "none"].map((id) => ({ id, label: id === "none" ? "stays pending" : id, facts: {} }));
  return openPoll({
    state: "revealed", round: 2, options, voted: 30, present: 30,
    counts: { 1: { n2: 5, n4: 13, n6: 3, n9: 6, n11: 2, none: 1 }, 2: { n2: 12, n4: 7, n6: 8, n9: 2, n11: 0, none: 1 } },
    changed: { toRight: 12, fromRight: 0, other: 3 },
    answer: {
      right: ["n2", "n6"], chosen: "n2", tie: ["n2", "n6"], victims: [], lot: 1,
      explain: {
        total: { n2: 691, n6: 691, n4: 688, n9: 585 },
        plugins: { n2: { TaintToleration: 300, NodeResourcesFit: 391 }, n6: { TaintToleration: 300, NodeResourcesFit: 391 } },
        failed: { n11: { plugin: "TaintToleration", reasons: ["node(s) had untolerated taint {gpu: true}"] } }, candidates: {}, criterion: "", message: "",
      },
    },
  });
}

const PROSE = {
  scene: [
    { kind: "p", parts: [{ text: "Three nodes, all full. Each carries one pod that vip may not touch: " }, { number: "20,000" }, { text: " is above its own " }, { number: "10,000" }, { text: "." }] },
    { kind: "li", parts: [{ text: "n1: api, priority " }, { number: 500 }] },
    { kind: "li", parts: [{ text: "n2: web with " }, { number: 100 }] },
    { kind: "p", parts: [{ code: "vip" }, { text: " asks for 2 CPU and no node has room. Somebody may have to go. Where?" }] },
  ],
  reveal: [{ kind: "p", parts: [{ text: "First criterion, broken budgets: n3 is out." }] }],
  so: [{ kind: "p", parts: [{ text: "First whose budget breaks, then how important; how many comes fourth." }] }],
};
const STEPS = ["Does it help?", "Who dies on one node?", "Which node?", "PDB is no shield", "Is the seat reserved?", "Somebody more important"];

/** Step 3 of a lesson in one of its phases. */
export function lessonAt(phase = "ask", change = {}) {
  const told = phase === "reveal" || phase === "so" ? { reveal: PROSE.reveal, so: PROSE.so } : {};
  return {
    id: "preemption", title: "Preemption", number: 3, of: 6, alone: false, minutesLeft: 18, poll: phase === "ask" ? "poll-3" : null,
    step: { id: "which-node", title: "Which node?", index: 2, minutes: 5, minimum: true, phase, phases: ["scene", "ask", "wait", "reveal", "so"], hasHint: true, scene: PROSE.scene, ...told },
    steps: STEPS.map((title, index) => ({ id: `step-${index + 1}`, title, minutes: 5, minimum: index > 0 && index < 5, done: index < 2, current: index === 2 })),
    wait: phase === "wait" ? { until: "pod('vip').nominated != ''", seconds: 20, state: "running", makeItSo: true } : null,
    next: { do: "next", label: "Next: PDB is no shield" }, ...change,
  };
}
