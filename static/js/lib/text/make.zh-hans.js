/** Chinese texts of making and undoing: the way back, the command line's answers, the keys. */

/** @type {Record<string, string>} */
export const ZH_HANS = {
  "undo.undo": "撤销",
  "undo.nothing": "你没有可以撤销的操作。",
  "undo.next_created": "撤销：创建 {kind} {name}",
  "undo.next_deleted": "撤销：删除 {kind} {name}",
  "undo.next_changed": "撤销：修改 {kind} {name}",
  "undo.next_imported": "撤销：从文件创建的 {count} 个对象",
  "undo.done_created": "已撤销：{kind} {name} 又被删除",
  "undo.done_deleted": "已撤销：{kind} {name} 已按原来的要求重新创建；随它一起删除的没有恢复",
  "undo.done_changed": "已撤销：{kind} {name} 的 {paths} 恢复原样",
  "undo.done_imported": "已撤销：文件中的 {count} 个对象又被删除",
  "undo.done_imported_part": "已撤销：文件中的 {count} 个对象又被删除；原来就有的 {changed} 个保留文件所做的修改",
  "undo.gone": "没有撤销：{kind} {name} 已经不在了。",
  "undo.other": "没有撤销：现在是另一个 {kind} {name}。",
  "undo.owned": "没有撤销：{owner} 会自己再建一个 Pod 代替 {name}。",
  "undo.leaving": "还不行：{kind} {name} 还在终止。等它消失后再撤销。",
  "undo.changed": "没有撤销：{kind} {name} 的 {paths} 后来又被改过。",
};
