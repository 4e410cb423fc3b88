/** Texts of the stage and of the Decision panel. */

export const STAGE = {
  /** @type {Record<string, string>} */
  en: {},
  /** @type {Record<string, string>} */
  "zh-hans": {},
};
