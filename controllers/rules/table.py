"""The table of rules that people believe in, a line each. Lessons, polls and homework name them by id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controllers.rules.rule import ENGINE, OTHER, Kind, Rule
from controllers.rules.scheduling import MISTAKES


def _rule(id: str, kind: Kind, en: tuple[str, str], zh: tuple[str, str], *, expiry: str | None = None) -> Rule:
    """Return a rule whose words are (title, because) in each language."""
    title, because = ({"en": english, "zh": chinese} for english, chinese in zip(en, zh, strict=True))
    return Rule(id, title, because, kind, MISTAKES.get(id), expiry)


# fmt: off
_ALL: Final = (
    # The engine itself, and what is on no list.
    _rule(ENGINE, "choice",
          ("what kube-scheduler does", "that is what the real scheduler's rules come to"),
          ("kube-scheduler 的做法", "按真实调度器的规则就是这样")),
    # Which node?
    _rule("emptiest-node", "node",
          ("the emptiest node wins", "the node with the most free room wins"),
          ("最空的节点胜出", "空闲最多的节点胜出")),
    _rule("fullest-node", "node",
          ("the fullest node wins", "nodes are filled up one after another"),
          ("最满的节点胜出", "节点是一个接一个填满的")),
    _rule("least-used", "node",
          ("the least busy node wins", "it looks at how busy nodes really are"),
          ("负载最低的节点胜出", "它看节点的实际负载")),
    _rule("first-in-list", "node",
          ("the first that fits", "it takes the first node that fits"),
          ("第一个放得下的", "它取第一个放得下的节点")),
    _rule("same-scale-same-winner", "node",
          ("new scale, same winner", "only the scale of the scores has changed"),
          ("分数换算，胜者不变", "变的只是分数的尺度")),
    _rule("soft-is-small", "node",
          ("a preference counts little", "a preference is only a small nudge"),
          ("软性偏好分量很小", "偏好只是轻轻推一下")),
    _rule("my-score-rules", "node",
          ("my own score decides", "my own plugin has the last word"),
          ("我的打分说了算", "我自己的插件一锤定音")),
    _rule("toleration-attracts", "node",
          ("a toleration attracts", "a pod goes to the nodes whose taint it tolerates"),
          ("容忍会吸引 Pod", "Pod 会去它所容忍的污点节点")),
    _rule("only-bound-counts", "node",
          ("only bound pods use room", "a pod without a node name uses no room yet"),
          ("只有已绑定的 Pod 占位置", "没有节点名的 Pod 还不占位置")),
    _rule("formula-is-code", "node",
          ("the formula is the code", "the formula compares with all that a node has"),
          ("公式就是代码", "公式比较的是节点的全部可分配量")),
    _rule("reserved-seat", "node",
          ("nominated means reserved", "the nominated node is reserved for it"),
          ("提名就是预留", "被提名的节点已经为它预留")),
    # Who dies, and where?
    _rule("fewest-victims", "node",
          ("fewest victims", "as few pods as possible should die"),
          ("牺牲者最少", "驱逐的 Pod 越少越好")),
    _rule("lowest-priority-node", "node",
          ("lowest priority dies", "the least important pods should die"),
          ("优先级最低者被驱逐", "该驱逐最不重要的 Pod")),
    _rule("lowest-first", "victims",
          ("lowest first until it fits", "it evicts from the lowest upwards until there is room"),
          ("从最低的开始，直到放得下", "从最低优先级往上驱逐，直到有空间")),
    _rule("always-preempts", "victims",
          ("high priority always gets in", "a high priority always makes room"),
          ("高优先级总能进来", "高优先级总能腾出位置")),
    _rule("pdb-forbids", "victims",
          ("a PDB forbids it", "a disruption budget protects its pods from this"),
          ("PDB 会禁止", "中断预算会保护它的 Pod")),
    # Who leads?
    _rule("instant-detection", "leader",
          ("failure is noticed at once", "somebody notices the failure at once"),
          ("故障立刻被发现", "故障会立刻被发现")),
    _rule("exact-expiry", "leader",
          ("the lease expires for all at once", "a lease ends for everybody at the same moment"),
          ("租约对所有人同时到期", "租约对所有人在同一刻到期"), expiry="stored"),
    _rule("needs-sync-clocks", "leader",
          ("clocks must agree", "it compares its own clock with the time in the lease"),
          ("时钟必须一致", "它拿自己的时钟与租约里的时间比较"), expiry="stored"),
    _rule("lease-means-one", "leader",
          ("a lease means one leader", "there can only be one leader at a time"),
          ("有租约就只有一个领导者", "同一时刻只能有一个领导者")),
    _rule("refused-means-stop", "leader",
          ("a refused write ends it", "whoever is refused stops at once"),
          ("写入被拒就停止", "被拒绝的一方立刻停止")),
    # How do the parts work together?
    _rule("scheduler-pushes", "choice",
          ("the scheduler calls the node", "components call one another"),
          ("调度器会调用节点", "组件之间互相调用")),
    _rule("choice-is-fact", "choice",
          ("chosen means written", "what is chosen stands in the object at once"),
          ("选中即写入", "选中的结果马上就在对象里")),
    _rule("system-moves-it", "choice",
          ("the system moves the pod", "something notices and moves the pod"),
          ("系统会搬走 Pod", "系统会发现并搬走 Pod")),
    _rule("last-write-wins", "choice",
          ("the last write wins", "the later write simply replaces the earlier"),
          ("后写者胜", "后一次写入直接覆盖前一次")),
    _rule("locks", "choice",
          ("objects are locked", "whoever opens an object first locks it"),
          ("对象会被锁住", "先打开对象的人锁住它")),
    _rule("surplus-queues", "choice",
          ("surplus pods wait in the queue", "what exceeds the quota waits its turn"),
          ("多出的 Pod 在排队", "超出配额的会排队等候")),
    _rule("all-reasons-told", "choice",
          ("the message lists all reasons", "the message names everything that is in the way"),
          ("消息列出全部原因", "消息会说出所有障碍")),
    _rule("first-timer", "choice",
          ("the first timer counts", "the shortest time limit ends the wait"),
          ("先到的计时器为准", "最短的时限结束等待")),
    _rule("greedy-is-optimal", "choice",
          ("best steps, best result", "if every step is the best, so is the result"),
          ("步步最优则结果最优", "每一步都最好，结果就最好")),
    _rule(OTHER, "choice",
          ("another reason", "for another reason"),
          ("其他原因", "其他原因")),
)
# fmt: on

RULES: Final[Mapping[str, Rule]] = {rule.id: rule for rule in _ALL}
"""Rule by id, in the order in which lists show them."""
