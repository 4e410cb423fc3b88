/** Intents that change what this browser shows, and nothing else. */

/** @import { Table, World } from "./world.js" */
import { loadTexts } from "../lib/text.js";
import { splitKey } from "../lib/kinds.js";
import { rememberDockHeight, rememberLanguage, rememberLooks, rememberTheme } from "../net/recent.js";
import { saidKey } from "../state/people.js";
import { fetched } from "./forms.js";
import { speak } from "./world.js";

/**
 * @param {World} world
 * @returns {Pick<Table, "select" | "deselect" | "selectTrace" | "showTrial" | "light" | "colourBy" | "tab" | "enlarge" | "lang" | "theme" | "dockHeight"
 *   | "shareLooks" | "switchLooks" | "pointAt">}
 */
export function pageIntents(world) {
  const { decisions, inspector, setUi } = world;
  const { t, attempt } = speak(world);
  const learn = fetched(loadTexts);
  return {
    select({ resource, key, tab, focus }) {
      const { lit } = world.ui();
      setUi({ selected: { resource, key }, lit: lit?.pod === key ? lit : null });
      if (tab) inspector.openTab(tab);
      if (focus) inspector.focus();
    },
    deselect: () => setUi({ selected: null, enlarged: false, lit: null }),
    selectTrace: ({ id }) => {
      setUi({ lit: null });
      decisions.select(id);
    },
    showTrial: ({ trial }) => setUi({ trial }),
    light: ({ lit }) => setUi({ lit }),
    colourBy: ({ by }) => setUi({ colourBy: by }),
    // The panel has turned its own page; the next frame draws it.
    tab: () => setUi({}),
    enlarge: ({ on }) => setUi({ enlarged: on }),
    lang: ({ lang }) => attempt(async () => {
      await learn(lang);
      rememberLanguage(lang);
      setUi({ lang });
    }),
    theme({ theme }) {
      rememberTheme(theme);
      setUi({ theme });
    },
    shareLooks({ on }) {
      rememberLooks(on);
      setUi({ sharesLooks: on });
    },
    async switchLooks({ on }) {
      setUi({ looksAsked: { on, told: null } });
      const refusal = await attempt(() => world.actions.api.switchLooks(on));
      setUi({ looksAsked: refusal ? null : { on, told: world.view().looks } });
    },
    pointAt: ({ resource, key }) => attempt(
      () => world.actions.api.point({ resource, ...splitKey(key) }), t("pointed_done", { name: saidKey(world.view(), key) }),
    ),
    dockHeight({ height }) {
      rememberDockHeight(height);
      setUi({ dockHeight: height });
    },
  };
}
