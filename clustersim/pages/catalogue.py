"""What the server-made pages say, in each language; the browser's own sentences are in static/js/lib/text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from django.conf import settings

LANGUAGES: Final = {"en": "English", "zh-hans": "简体中文"}

EN: Final[Mapping[str, str]] = {
    "tagline": "A Kubernetes control plane you can stop, question and rewind",
    "checked": "Decisions checked against kube-scheduler v1.34.1",
    "description": "A live Kubernetes control plane for classrooms: watch it schedule, stop it, ask why.",
    "language": "Language",
    "theme": "Theme",
    "light": "Light",
    "dark": "Dark",
    "projector": "Projector",
    "start_title": "Start a session",
    "start_hint": "You lead. Others join with the code.",
    "start": "Start “{template}”",
    "templates": "Template",
    "pass_phrase": "Pass phrase",
    "pass_phrase_hint": "Clustersim printed it when it started.",
    "choose_file": "Choose a file",
    "join_title": "Join with a code",
    "join_hint": "Your teacher shows six characters and a QR code.",
    "code": "Code",
    "name": "Your name",
    "join": "Join",
    "no_account": "No account. The name is shown beside what you do.",
    "recent": "Recent in this browser",
    "at_revision": "seen at rv {revision}",
    "recent_none": "Sessions that you start or join appear here.",
    "open": "Open",
    "forget": "Forget “{title}”",
    "role_teacher": "teacher",
    "role_student": "student",
    "role_viewer": "viewer",
    "role_component": "component",
    "code_incomplete": "A code has six characters; look again at the wall.",
    "name_missing": "Write the name that others will see.",
    "unreachable": "The server did not answer. Is the computer that runs Clustersim still on this network?",
    "importing": "Sending {file} …",
    "starting": "Starting …",
    "joining": "Joining …",
    "lessons": "Lessons",
    "lessons_hint": "Predict first, then the engine decides. Alone, or with a class that joins by code.",
    "lessons_short": "20-minute version",
    "lessons_again": "A class is first asked the exit ticket of",
    "lessons_again_none": "no lesson",
    "lessons_none": "No lessons in this installation.",
    "lesson_whole": "{minutes} min, {steps} steps",
    "lesson_short": "20-minute version: {steps} steps",
    "lesson_document": "Document {number}",
    "lesson_alone": "Alone",
    "lesson_class": "With a class",
    "lesson_go_on": "Go on: step {step}",
    "lesson_finished": "Finished",
    "lesson_forget": "Start again",
    "lesson_write": "Write a lesson",
    "write_title": "Write a lesson",
    "write_hint": "Three files make a lesson: a folder named like its id, in lessons/ of the data folder.",
    "write_play": "Check and play",
    "write_check": "Check the text",
    "write_save": "Save the files",
    "write_found": "Result",
    "write_nothing": "Nothing was checked yet.",
    "write_checking": "Checking …",
    "write_playing": "Playing all steps …",
    "write_problems": "Problems: {count}",
    "write_readable": "It can be read. Play it to see whether all that it states holds.",
    "write_holds": "Played: all that it states holds.",
    "write_expected": "expected {expected}, found {found}",
    "write_scene": "Scene",
    "write_ask": "Question",
    "write_hint_part": "Hint",
    "write_reveal": "Reveal",
    "write_so": "So",
    "no_page_title": "There is no page at this address",
    "no_page_hint": "Start a session or join one with its code from the home page.",
    "refused_title": "This cannot be opened",
    "refused_hint": "{why}",
    "broken_title": "Something broke on the server",
    "broken_hint": "Its log has the details. Try again; if it breaks again, tell whoever runs Clustersim.",
    "not_found_title": "No session with the code {code}",
    "not_found_hint": "Compare it with the wall: codes have six letters and digits, and none that look alike.",
    "to_home": "To the home page",
    "skip_stage": "Skip to the stage",
    "noscript": "This page needs JavaScript: it draws the cluster as it changes.",
    "empty": "Empty",
    "empty_hint": "no nodes yet",
    "three-nodes": "Three nodes",
    "three-nodes_hint": "3 nodes, 6 pods",
    "gpu-lab": "GPU lab",
    "gpu-lab_hint": "9 plain and 6 GPU nodes",
    "ha": "High availability",
    "ha_hint": "3 schedulers, 1 lease",
    "two-masters": "Two masters",
    "two-masters_hint": "2 masters, 3 workers",
    "zones": "Zones and spreading",
    "zones_hint": "12 nodes in 3 zones",
    "nodes-100": "100 nodes",
    "nodes-100_hint": "1,000 pods, 4 zones",
    "nodes-1000": "1,000 nodes",
    "nodes-1000_hint": "10,000 pods, 5 zones",
    "import": "Import a file",
    "import_hint": "YAML, or kubectl JSON of a real cluster; drop it here",
}

ZH_HANS: Final[Mapping[str, str]] = {
    "tagline": "可以暂停、追问和回放的 Kubernetes 控制平面",
    "checked": "调度结果与 kube-scheduler v1.34.1 逐例核对",
    "description": "面向课堂的实时 Kubernetes 控制平面：看它调度，让它停下，问它为什么。",
    "language": "语言",
    "theme": "主题",
    "light": "浅色",
    "dark": "深色",
    "projector": "投影",
    "start_title": "新建课堂",
    "start_hint": "由你主持，其他人用课堂码加入。",
    "start": "开始 “{template}”",
    "templates": "模板",
    "pass_phrase": "通行短语",
    "pass_phrase_hint": "Clustersim 启动时在终端里显示过它。",
    "choose_file": "选择文件",
    "join_title": "用课堂码加入",
    "join_hint": "老师会展示六位课堂码和二维码。",
    "code": "课堂码",
    "name": "你的名字",
    "join": "加入",
    "no_account": "无需注册。你的操作旁会显示这个名字。",
    "recent": "本浏览器最近打开",
    "at_revision": "看到 rv {revision}",
    "recent_none": "你新建或加入的课堂会出现在这里。",
    "open": "打开",
    "forget": "移除 “{title}”",
    "role_teacher": "教师",
    "role_student": "学生",
    "role_viewer": "观众",
    "role_component": "组件",
    "code_incomplete": "课堂码有六位，请再看一眼大屏幕。",
    "name_missing": "请写下别人会看到的名字。",
    "unreachable": "服务器没有回应。运行 Clustersim 的电脑还在这个网络里吗？",
    "importing": "正在发送 {file} …",
    "starting": "正在开始 …",
    "joining": "正在加入 …",
    "lessons": "课程",
    "lessons_hint": "先预测，再由引擎裁决。可以独自学习，也可以让全班用课堂码加入。",
    "lessons_short": "20 分钟版",
    "lessons_again": "上课前先问全班的课后题：",
    "lessons_again_none": "不问",
    "lessons_none": "此处没有安装课程。",
    "lesson_whole": "{minutes} 分钟，{steps} 步",
    "lesson_short": "20 分钟版：{steps} 步",
    "lesson_document": "文档 {number}",
    "lesson_alone": "独自学习",
    "lesson_class": "全班上课",
    "lesson_go_on": "继续第 {step} 步",
    "lesson_finished": "已完成",
    "lesson_forget": "重新开始",
    "lesson_write": "编写课程",
    "write_title": "编写课程",
    "write_hint": "一课由三个文件组成：放进以其 id 命名的文件夹，再放到数据目录的 lessons/ 里。",
    "write_play": "检查并试演",
    "write_check": "检查文本",
    "write_save": "保存文件",
    "write_found": "结果",
    "write_nothing": "还没有检查。",
    "write_checking": "正在检查……",
    "write_playing": "正在试演所有步骤……",
    "write_problems": "问题：{count}",
    "write_readable": "可以读取。试演一遍，看看其中的陈述是否都成立。",
    "write_holds": "已试演：所有陈述都成立。",
    "write_expected": "应为 {expected}，实为 {found}",
    "write_scene": "场景",
    "write_ask": "提问",
    "write_hint_part": "提示",
    "write_reveal": "揭晓",
    "write_so": "记下",
    "no_page_title": "这个地址没有页面",
    "no_page_hint": "请从首页开始一个课堂，或输入课堂码加入。",
    "refused_title": "无法打开",
    "refused_hint": "{why}",
    "broken_title": "服务器出错了",
    "broken_hint": "日志里有详情。请再试一次；如果还是出错，请告诉运行 Clustersim 的人。",
    "not_found_title": "没有课堂码为 {code} 的课堂",
    "not_found_hint": "请与大屏幕核对：课堂码由六位字母和数字组成，不含容易混淆的字符。",
    "to_home": "回到首页",
    "skip_stage": "跳到舞台",
    "noscript": "此页面需要 JavaScript：它随集群的变化实时绘制。",
    "empty": "空集群",
    "empty_hint": "还没有节点",
    "three-nodes": "三个节点",
    "three-nodes_hint": "3 个节点，6 个 Pod",
    "gpu-lab": "GPU 实验室",
    "gpu-lab_hint": "9 个普通节点，6 个 GPU 节点",
    "ha": "高可用控制平面",
    "ha_hint": "3 个调度器，1 个租约",
    "two-masters": "两个主节点",
    "two-masters_hint": "2 个主节点，3 个工作节点",
    "zones": "可用区与打散",
    "zones_hint": "3 个可用区，12 个节点",
    "nodes-100": "100 个节点",
    "nodes-100_hint": "1,000 个 Pod，4 个可用区",
    "nodes-1000": "1,000 个节点",
    "nodes-1000_hint": "10,000 个 Pod，5 个可用区",
    "import": "导入文件",
    "import_hint": "YAML，或真实集群的 kubectl JSON；拖到这里",
}

TEXTS: Final = {"en": EN, "zh-hans": ZH_HANS}


def texts(language: str) -> Mapping[str, str]:
    """Return the catalogue of a language as Django names it; English for one we do not speak."""
    return TEXTS.get(language, EN)


REFUSED: Final = settings.BASE_DIR / "static" / "js" / "lib" / "text" / "refused.zh-hans.js"
"""The Chinese of named sentences, where the pages' scripts have it."""

_ENTRY: Final = re.compile(r"""^  "([\w.]+)": ("|')(.*)\2,$""", re.MULTILINE)
_BLANK: Final = re.compile(r"\{(\w+)\}")


@cache
def chinese() -> Mapping[str, str]:
    """Return the Chinese of each named sentence by its key."""
    return {key: text for key, _, text in _ENTRY.findall(REFUSED.read_text(encoding="utf-8"))}


def sentence(status: Mapping[str, Any], language: str) -> str:
    """Return what a Status says to a person; what is not named stays as it was said."""
    message = str(status.get("message", ""))
    if language != "zh-hans":
        return message
    causes = (status.get("details") or {}).get("causes") or ()
    told = [_told(cause) for cause in causes]
    named = any("said" in cause for cause in causes)
    return _in_chinese(status.get("said")) or ("；".join(told) if named else message)


def _told(cause: Mapping[str, Any]) -> str:
    words = _in_chinese(cause.get("said")) or str(cause.get("message", ""))
    return f"{cause['field']}：{words}" if cause.get("field") else words


def _in_chinese(said: Any) -> str:
    if not isinstance(said, dict):
        return ""
    values = {name: _in_chinese(value) or str(value) for name, value in said["values"].items()}
    return _BLANK.sub(lambda blank: values.get(blank[1], blank[0]), chinese().get(said["key"], ""))
