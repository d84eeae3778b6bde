"""Compares the simulation of tools/lab/scale with cases that can be computed by hand."""

import os
import sys
from pathlib import Path

import pytest

SOURCE = Path(os.environ.get("KITH_SOURCE") or Path(__file__).parents[2])
FOLDER = SOURCE / "tools" / "lab" / "scale"
if not FOLDER.exists():
    pytest.skip("tools/lab/scale is not here", allow_module_level=True)
sys.path.insert(0, str(FOLDER))
import simulate  # noqa: E402
from simulate import Plan  # noqa: E402

FLAT = {"task": [0.25], "merge": [2.0], "finish": [4.0], "noise": [1.0], "recover": [0.5]}
FLAT |= {"search": 0.01, "disk": 2e9, "upload": 5e10}
# 1,000 s on one card.
ONE = {"rows": 1000 * simulate.PAIRS / FLAT["search"] / 10_000, "queries": 10_000, "tile": 10_000}


def test_one_card():
    seconds, counted = simulate.simulate(Plan(machines=1, cards=1, **ONE), FLAT)
    assert seconds == 0.25 + 1000 + 0.25 + 4  # hand out, search, hand out, finish
    assert counted["tasks"] == 2 and counted["again"] == 0 and counted["moved"] == 0


@pytest.mark.parametrize("cards, merges", [(8, [1]), (64, [8, 1]), (65, [9, 2, 1])])
def test_merges_go_by_eights(cards, merges):
    tasks = simulate.tasks_of(Plan(**ONE), cards)
    assert [task.kind for task in tasks].count("merge") == sum(merges)
    assert len(tasks) == cards + sum(merges) + 1
    assert all(len(task.inputs) <= 8 for task in tasks)


def test_eight_cards_and_their_network():
    plan = Plan(machines=8, cards=1, network=1e6, **ONE)
    seconds, counted = simulate.simulate(plan, FLAT)
    last = 8 * 0.25 + 125  # the eighth search starts last
    moved = 7 * 10_000 * 10 * 12
    assert counted["moved"] == moved
    assert seconds == pytest.approx(last + 0.25 + moved / 1e6 + 2 + 0.25 + 4, rel=1e-12)
    near, counted = simulate.simulate(Plan(machines=1, cards=8, network=1e6, **ONE), FLAT)
    assert counted["moved"] == 0 and near < seconds


def test_a_death_costs_what_was_lost():
    plan = Plan(machines=2, cards=4, **ONE)
    calm, _ = simulate.simulate(plan, FLAT)
    plan.deaths = 1
    seconds, counted = simulate.simulate(plan, FLAT)
    assert counted["again"] == 1 and seconds > calm
    rows = plan.rows / 8
    opening = rows * (simulate.FILE_ROW / FLAT["disk"] + simulate.CARD_ROW / FLAT["upload"])
    assert seconds >= 125 + 125 + opening  # another card repeats the whole search after its own


@pytest.mark.parametrize("seed", range(20))
def test_all_tasks_end_whoever_dies(seed):
    plan = Plan(machines=3, cards=3, queries=40_000, tile=10_000, shards_per_card=2, deaths=6, seed=seed)
    plan.rows = ONE["rows"]
    cluster = simulate.Cluster(plan, FLAT)
    seconds, counted = cluster.run()
    assert all(task.done for task in cluster.tasks) and len(cluster.alive) >= 3
    assert counted["again"] > 0 and seconds > plan.rows * plan.queries / simulate.PAIRS * FLAT["search"] / 9
