/** Texts of the home page, the top bar, palette, forms, inspector and dock. */

export const PAGE = {
  /** @type {Record<string, string>} */
  en: {},
  /** @type {Record<string, string>} */
  "zh-hans": {},
};
