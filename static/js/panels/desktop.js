/** What stands around the stage and not on a phone: the palette and the dock, fetched together. */

/** @import { Dispatch, Looks, Ui, View } from "../lib/types.d.ts" */
import { electionRecorder } from "../election/recorder.js";
import { roving } from "../dom/roving.js";
import { paced } from "../lib/paced.js";
import { SAMPLE_EVERY_MS, recorder } from "../streams/recorder.js";
import { mount as mountDock } from "./dock.js";
import { mountDrop } from "./drop.js";
import { mount as mountPalette } from "./palette.js";

/**
 * @param {{palette: HTMLElement, dock: HTMLElement}} regions
 * @param {Dispatch} dispatch
 * @param {Looks} looks
 */
export function mountDesktop(regions, dispatch, looks) {
  const palette = mountPalette(regions.palette, dispatch);
  const dock = mountDock(regions.dock, dispatch, looks);
  const drop = mountDrop(dispatch);
  // Beside a keyboard; a phone's bar has room for few of them, and none of these files.
  for (const bar of document.querySelectorAll(".top-bar [role=toolbar]")) roving(/** @type {HTMLElement} */ (bar)).refresh();
  const record = paced(SAMPLE_EVERY_MS, (/** @type {View} */ view, /** @type {Ui} */ ui) => {
    recorder.take(view, ui);
    electionRecorder.take(view, ui);
  });
  return {
    focusSearch: palette.focusSearch,
    openDock: dock.open,
    foldDock: dock.fold,
    /** The dock's open tab; "" while it is folded. */
    get dockTab() {
      return dock.tab;
    },
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      record(view, ui);
      palette.render(view, ui);
      dock.render(view, ui);
      drop.render(view, ui);
    },
  };
}
