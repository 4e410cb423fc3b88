/** An answer of the session API that is asked for anew when something says that it is old; nothing asks by itself. */

import { paced } from "../lib/paced.js";

/** @template T */
export class Looked {
  /**
   * @param {() => Promise<T>} ask
   * @param {number} everyMs how often at most, in real milliseconds
   * @param {() => void} told there is an answer, or a problem
   */
  constructor(ask, everyMs, told) {
    /** @type {T | null} */
    this.value = null;
    /** Why there is none; "" while all is well. */
    this.problem = "";
    this.asking = false;
    this.again = false;
    this.ask = ask;
    this.told = told;
    this.want = paced(everyMs, () => void this.run());
  }

  async run() {
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    try {
      this.value = await this.ask();
      this.problem = "";
    } catch (problem) {
      this.problem = problem instanceof Error ? problem.message : String(problem);
    }
    this.asking = false;
    this.told();
    if (!this.again) return;
    this.again = false;
    this.want();
  }
}
