"""What the cluster asks of the world outside, and how the answers come in: calls to extenders.

The loop never waits. A call goes out once the tick that made it is committed; its answer comes in between two ticks,
like a command: `replicas.clustersim.io/<identity>` notes it with the place in the loop's run at which it took effect
(`status.answer`), so that a run from the log puts the same answer in at the same place and calls nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from controllers.log.operations import Result
from controllers.loop.loop import Loop
from controllers.replicatelling import ReplicaTeller
from controllers.stepping import Stepper
from scheduler_core.api.document import Document
from scheduler_core.extender.calls import NO_ANSWER, ExtenderCall, Record, failed

CarryOut = Callable[[int, ExtenderCall], Record | None]
"""Makes a call: returns its record, or None where that comes later, under the same number."""


def refuse(number: int, call: ExtenderCall) -> Record:
    """Answer calls where nothing carries them out."""
    return failed(call, NO_ANSWER)


def leave(number: int, call: ExtenderCall) -> None:
    """Leave calls to whoever puts the answers in: a run from the log."""


class Outside:
    """The calls of one loop."""

    def __init__(
        self, loop: Loop, teller: ReplicaTeller, stepper: Stepper, place: Callable[[], Document], carry_out: CarryOut
    ) -> None:
        """Hang into the loop.

        Args:
            loop: whose calls.
            teller: writes the answers down.
            stepper: has the steps that wait for an answer.
            place: returns the present place in the loop's run.
            carry_out: makes the calls.
        """
        self._loop = loop
        self._teller = teller
        self._stepper = stepper
        self._place = place
        self._carry_out = carry_out
        self.known: Mapping[int, Record] = {}
        """Answers that an earlier run got at once, by number: a run from its log takes them, and calls nobody."""
        loop.on_call = self._called

    def _called(self, number: int, call: ExtenderCall) -> None:
        known = self.known.get(number)
        if known is not None:
            self._hand_over(number, known)
            return
        record = self._carry_out(number, call)
        if record is not None:
            self._take(number, record, at_once=True)

    def answer(self, number: int, record: Record) -> None:
        """Take what came of a call; an answer that nobody waits for any more is dropped."""
        if self._take(number, record, at_once=False):
            self._stepper.go_on()

    def obey(self, answer: Document) -> None:
        """Take an answer again that an earlier run has written down (`answer` of a replica's status)."""
        self._hand_over(answer["call"], answer["records"][0])
        self._stepper.go_on()

    def _take(self, number: int, record: Record, *, at_once: bool) -> bool:
        identity = self._loop.awaits(number)
        if not identity:
            self._hand_over(number, record)
            return False
        # In a list, which a merge patch replaces whole.
        answer = {"call": number, "records": [record], "atOnce": at_once, "engine": self._place()}
        self._teller.tell_answer(identity, answer)
        self._hand_over(number, record)
        return True

    def _hand_over(self, number: int, record: Record) -> None:
        """Let the loop hand an answer over; it forgets the call in any case."""
        self._loop.answer(number, Result(None, record, None, 0))
