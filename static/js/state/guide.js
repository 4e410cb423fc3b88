/** What a lesson's step is about, as a page shows it: what its author wants selected and opened. Pure. */

/** @import { Lesson } from "../lib/class.d.ts" */
/** @import { Presented } from "../lib/types.d.ts" */
/** @import { Shown, Step } from "./presenting.js" */

/** Phases from which on a step shows what it came to. */
const TOLD = new Set(["reveal", "so"]);

/**
 * The part of a step that has one picture: until the reveal, and from it on; "" where the lesson is over.
 * @param {Lesson | null} lesson
 */
export function partOf(lesson) {
  const step = lesson?.step;
  return step ? `${step.id} ${TOLD.has(step.phase) ? "told" : "asked"}` : "";
}

/**
 * What a page has to do to show what a step is about. What the step does not name stays as its person has it; what the lesson had
 * selected and opened before is let go where the step needs none.
 * @param {Omit<Shown, "scene">} now
 * @param {Presented} view
 * @param {{select?: string | undefined, dockTab?: string | undefined}} before what the lesson showed before
 * @returns {Step[]}
 */
export function stepsFor(now, { select = "", inspectorTab = "", dockTab = "" }, before) {
  /** @type {Step[]} */
  const steps = [];
  if (select && (select !== now.select || (inspectorTab && inspectorTab !== now.inspectorTab))) {
    const at = select.indexOf(" ");
    steps.push({ do: "select", resource: select.slice(0, at), key: select.slice(at + 1), tab: inspectorTab });
  }
  if (!select && before.select && before.select === now.select) steps.push({ do: "deselect" });
  if (dockTab ? dockTab !== now.dockTab : before.dockTab && before.dockTab === now.dockTab) steps.push({ do: "dock", tab: dockTab });
  return steps;
}

export class Guide {
  /** @param {{shown: () => Omit<Shown, "scene">, take: (step: Step) => void, scene: (scene: string) => void}} page `scene`: of the wall */
  constructor(page) {
    this.page = page;
    this.part = "";
    /** @type {Presented} */
    this.before = {};
  }

  /**
   * Show a step once, when its part begins; from then on the page is its person's.
   * @param {Lesson | null} lesson
   * @param {boolean} free whether nobody else says what this page shows
   */
  follow(lesson, free) {
    const part = partOf(lesson);
    // What is selected has to be there first.
    if (part === this.part || lesson?.script?.state === "playing") return;
    const first = this.part === "";
    this.part = part;
    const view = /** @type {Presented | undefined} */ (lesson?.step?.view);
    if (free && !view) this.page.scene("");
    // Whoever comes with an address of their own, or by now follows somebody, stays there.
    if (!free || !view || (first && this.page.shown().select)) return;
    for (const step of stepsFor(this.page.shown(), view, this.before)) this.page.take(step);
    this.page.scene(view.scene ?? "");
    this.before = view;
  }
}
