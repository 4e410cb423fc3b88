"""Somebody writes an object just before the engine does, which has decided without knowing of it."""

from __future__ import annotations

from random import Random

from controllers.log.operations import Delete, Operation, Patch
from tests.sim.whole.books import LEASES
from tests.sim.whole.world import PEOPLE, World, Write


def get_there_first(world: World, random: Random, asked: Write) -> None:
    """Write, or take away, what the engine is about to write: it has decided without knowing of it."""
    if asked.resource.endswith(".clustersim.io") or asked.resource == LEASES:
        # By these a component shows itself: nobody else writes them.
        return
    place = asked.resource, asked.namespace, asked.name
    choices: list[Operation] = [Patch(*place, {"metadata": {"annotations": {"raced": str(random.randrange(9))}}})]
    if asked.resource == "pods":
        choices += [Delete(*place), Delete(*place, grace_period_seconds=0)]
    world.write(PEOPLE[0], random.choice(choices))
