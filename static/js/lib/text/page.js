/** Texts of the home page, the top bar, palette, forms, inspector and dock. */

import { EN } from "./page.en.js";
import { ZH_HANS } from "./page.zh-hans.js";

export const PAGE = { en: EN, "zh-hans": ZH_HANS };
