/** What a phone is told over its tabs' pages, whichever is open: who stopped its person, a copy handed out, where the class looks. */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
/** @import { T } from "./phone.js" */
import { element, icon, setAttribute, setText } from "../dom/dom.js";
import { opensLater } from "../state/classroom.js";
import { stopped } from "../state/presenting.js";

/** @param {Dispatch} dispatch */
export function mountTold(dispatch) {
  const title = element("b");
  const note = element("span");
  const stop = element("p", { class: "phone-stopped", "data-testid": "phone-stopped" }, [icon("lock"), element("span", {}, [title, " ", note])]);
  const words = element("span");
  const open = element("button", { class: "button", type: "button", "data-testid": "phone-copy", onclick: () => dispatch({ type: "myCopy" }) });
  const close = element("button", { class: "ghost", type: "button" }, icon("close"));
  const copy = element("p", { class: "phone-handed" }, [icon("copy"), words, open, close]);
  let onWall = "";
  const wallWords = element("span");
  const go = element("button", { class: "primary", type: "button", "data-testid": "phone-wall", onclick: () => dispatch({ type: "goToWall", code: onWall }) });
  const wall = element("p", { class: "phone-handed" }, [icon("screen"), wallWords, go]);
  const overWords = element("span");
  const back = element("a", { class: "button", "data-testid": "phone-wall-over" });
  const over = element("p", { class: "phone-handed" }, [icon("screen"), overWords, back]);
  let handed = 0;
  /** When the copies were made of which one has read enough. */
  let read = 0;
  close.addEventListener("click", () => {
    read = handed;
    dispatch({ type: "tab", tab: "phone-handed" });
  });
  return {
    element: element("div", { class: "phone-told" }, [stop, copy, wall, over]),
    /**
     * @param {View} view
     * @param {Ui} ui
     * @param {T} t
     */
    render(view, ui, t) {
      const reason = stopped(view);
      stop.hidden = !reason;
      if (reason) {
        setText(title, t(`stopped_${reason}`));
        setText(note, t(`stopped_${reason}_note`));
      }
      handed = view.handed;
      copy.hidden = view.me?.role !== "student" || Boolean(ui.parent) || handed <= read;
      setText(words, t("handed"));
      open.disabled = opensLater(view);
      setText(open, t("handed_open"));
      setAttribute(close, "aria-label", t("close"));
      onWall = view.onWall;
      wall.hidden = !onWall && !view.yours;
      go.hidden = !onWall;
      setText(wallWords, t(view.yours ? "walled_yours" : "walled"));
      setText(go, t("walled_open"));
      over.hidden = !view.home;
      setText(overWords, t("walled_over"));
      setText(back, t("walled_back"));
      if (view.home) setAttribute(back, "href", `/s/${view.home}`);
    },
  };
}
