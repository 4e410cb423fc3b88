/** Texts of the stage and of the Decision panel. */

import { EN } from "./stage.en.js";
import { ZH_HANS } from "./stage.zh-hans.js";

export const STAGE = { en: EN, "zh-hans": ZH_HANS };
