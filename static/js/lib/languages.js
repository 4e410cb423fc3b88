/** The page's languages: what each is called in texts, in markup and to people. */

/** @import { Lang } from "./types.d.ts" */

/**
 * `lang` names its texts, `tag` is what `<html lang>` says of it, `name` and `short` are in itself.
 * @type {readonly {lang: Lang, tag: string, name: string, short: string}[]}
 */
export const LANGUAGES = [{ lang: "en", tag: "en", name: "English", short: "EN" }, { lang: "zh-hans", tag: "zh-Hans", name: "简体中文", short: "中" }];

/** The language of a tag; English for one that is no language of the page. @param {string} tag @returns {Lang} */
export const langOf = (tag) => LANGUAGES.find((one) => one.tag === tag)?.lang ?? "en";

/** @param {Lang} lang */
export const tagOf = (lang) => LANGUAGES.find((one) => one.lang === lang)?.tag ?? "en";
