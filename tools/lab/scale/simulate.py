#!/usr/bin/env python3
"""Simulates the tasks of a search by kith.dask on many machines, from measured parts.

simulate.py [--machines 100] [--cards 8] [--rows 1e11] [--queries 1e5] [--tile 1e4] [--shards-per-card 1] [--deaths 0]

The measurements are in docs/measured; tools/figures draws docs/charts/scale.svg.

Prints seconds from the first task to the last answer, with every shard open. The model:

* One scheduler hands out one task after another, each in a time drawn from `task`, which measure.py measured.
* A card is a worker with one thread: its searches and merges run one by one, in the order in which they come.
* A search takes as long per pair as sift_k10 on one H200, from host to answer, times a draw from `noise`. A merge or
  finish takes a draw from its samples.
* A merge runs where its first list is. Lists of other machines come over the network of the machine, one by one.
* A worker that dies loses its lists that nobody has used yet. After a draw from `recover` its tasks go to others, which
  open its shards again. A merge that has begun elsewhere has its lists already.

The network and the number of deaths are assumptions, not measurements: they are options.
"""

import argparse
import heapq
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path

PAIRS = 1e6 * 1e4  # of sift_k10
FILE_ROW, CARD_ROW = 128, 512  # bytes of a row in the file, and as float32
KEY = 12  # bytes


@dataclass
class Plan:
    machines: int = 100
    cards: int = 8  # of a machine
    rows: float = 1e11
    queries: int = 100_000
    tile: int = 10_000
    k: int = 10
    shards_per_card: int = 1
    network: float = 25e9 / 8  # bytes per second into a machine: an assumption
    deaths: int = 0  # at random times of the search
    seed: int = 1


@dataclass
class Task:
    kind: str
    work: int  # queries
    inputs: list = field(default_factory=list)
    user: int = -1
    shard: int = -1
    worker: int = -1
    run: int = 0  # how often it was handed out
    waits: int = 0
    done: bool = False


def tasks_of(plan, shards):
    """Returns searches, merges by eights and a finish for each tile, in the order in which they are handed out."""
    tasks = []

    def add(task):
        tasks.append(task)
        for one in task.inputs:
            tasks[one].user = len(tasks) - 1
        return len(tasks) - 1

    for first in range(0, plan.queries, plan.tile):
        work = min(plan.tile, plan.queries - first)
        lists = [add(Task("search", work, shard=shard)) for shard in range(shards)]
        while len(lists) > 1:
            lists = [add(Task("merge", work, lists[i : i + 8])) for i in range(0, len(lists), 8)]
        add(Task("finish", work, lists))
    return tasks


class Cluster:
    """Holds the state of a simulation; `run` returns seconds and counts."""

    def __init__(self, plan, measured):
        self.plan, self.measured = plan, measured
        self.random = random.Random(plan.seed)
        self.workers = plan.machines * plan.cards
        self.shards = self.workers * plan.shards_per_card
        self.tasks = tasks_of(plan, self.shards)
        self.scheduler = self.busy = 0.0
        self.free = [0.0] * self.workers  # when a worker becomes free
        self.net = [0.0] * plan.machines  # when a machine's network is free
        self.alive = set(range(self.workers))
        self.opened = {(shard, shard // plan.shards_per_card) for shard in range(self.shards)}
        self.home = [shard // plan.shards_per_card for shard in range(self.shards)]
        self.events, self.number = [], 0
        self.counted = {"tasks": len(self.tasks), "again": 0, "moved": 0.0}

    def draw(self, name):
        return self.random.choice(self.measured[name])

    def push(self, when, *event):
        self.number += 1  # events at the same time come in the order in which they were made
        heapq.heappush(self.events, (when, self.number, event))

    def hand_out(self, now, number):
        """Gives a task to a worker, which gets its lists and begins when it is free."""
        task = self.tasks[number]
        cost = self.draw("task")
        self.scheduler = max(self.scheduler, now) + cost
        self.busy += cost
        task.worker = self.home[task.shard] if task.kind == "search" else self.tasks[task.inputs[0]].worker
        if task.worker not in self.alive:
            task.worker = self.random.choice(sorted(self.alive))
        task.run += 1
        self.push(self.fetched(self.scheduler, task), "ready", number, task.run)

    def fetched(self, now, task):
        """Returns when the lists of other machines have arrived."""
        machine = task.worker // self.plan.cards
        size = sum(
            self.tasks[one].work * self.plan.k * KEY
            for one in task.inputs
            if self.tasks[one].worker // self.plan.cards != machine
        )
        if not size:
            return now
        self.counted["moved"] += size
        self.net[machine] = max(self.net[machine], now) + size / self.plan.network
        return self.net[machine]

    def seconds_of(self, task):
        scale = task.work / 10_000  # of a measured merge
        if task.kind != "search":
            return self.draw(task.kind) * scale
        rows = self.plan.rows / self.shards
        seconds = rows * task.work / PAIRS * self.measured["search"] * self.draw("noise")
        if (task.shard, task.worker) not in self.opened:
            self.opened.add((task.shard, task.worker))
            seconds += rows * FILE_ROW / self.measured["disk"] + rows * CARD_ROW / self.measured["upload"]
        return seconds

    def run(self):
        for number, task in enumerate(self.tasks):
            task.waits = len(task.inputs)
            if not task.inputs:
                self.hand_out(0.0, number)
        ideal = ideal_seconds(self.plan, self.measured)
        for _ in range(self.plan.deaths):
            self.push(self.random.uniform(0, ideal), "death", self.random.randrange(self.workers), 0)
        left, now = len(self.tasks), 0.0
        while left:
            now, _, (kind, number, run) = heapq.heappop(self.events)
            if kind == "death":
                left += self.die(now, number)
                continue
            task = self.tasks[number]
            if run != task.run or task.done:
                continue  # it was lost, and runs elsewhere
            if kind == "ready":
                self.free[task.worker] = max(self.free[task.worker], now) + self.seconds_of(task)
                self.push(self.free[task.worker], "end", number, run)
                continue
            task.done = True
            left -= 1
            self.tell_user(now, task)
        return now, self.counted

    def tell_user(self, now, task):
        if task.user < 0 or self.tasks[task.user].done:
            return
        user = self.tasks[task.user]
        user.waits -= 1
        if user.waits == 0 and user.run == 0:
            self.hand_out(now, task.user)

    def die(self, now, worker):
        """Loses what a worker had; returns how many finished tasks must run again."""
        if worker not in self.alive or len(self.alive) == 1:
            return 0
        self.alive.remove(worker)
        others = sorted(self.alive)
        for shard, home in enumerate(self.home):
            if home == worker:
                self.home[shard] = self.random.choice(others)
        lost = [
            number
            for number, task in enumerate(self.tasks)
            if task.run and task.worker == worker and not (task.done and self.used(task))
        ]
        finished = 0
        for number in lost:
            task = self.tasks[number]
            finished += task.done
            if task.done and self.tasks[task.user].run == 0:
                self.tasks[task.user].waits += 1
            task.done = False
        again = now + self.draw("recover")
        self.counted["again"] += len(lost)
        for number in lost:
            self.restart(again, number, worker)
        return finished

    def used(self, task):
        """Returns whether nobody needs the task's list: the task that takes it is done, or already has it on another worker."""
        user = self.tasks[task.user] if task.user >= 0 else None
        return user is None or user.done or (user.run > 0 and user.worker != task.worker)

    def restart(self, when, number, dead):
        task = self.tasks[number]
        task.waits = sum(not self.tasks[one].done for one in task.inputs)
        if task.waits:
            task.run = 0  # it is handed out when its lists exist again
            return
        if task.worker == dead:
            self.hand_out(when, number)


def ideal_seconds(plan, measured):
    """Returns the seconds of the cards alone."""
    return plan.rows * plan.queries / PAIRS * measured["search"] / (plan.machines * plan.cards)


def opening_seconds(plan, measured):
    """Returns the seconds in which each machine reads its rows."""
    return plan.rows / plan.machines * FILE_ROW / measured["disk"]


def simulate(plan, measured):
    """Returns the seconds to the last answer, and a dict of counts: tasks, tasks that ran again, bytes that moved."""
    cluster = Cluster(plan, measured)
    seconds, counted = cluster.run()
    counted["ideal"] = ideal_seconds(plan, measured)
    counted["scheduler"] = cluster.busy
    return seconds, counted


def report(plan, measured):
    seconds, counted = simulate(plan, measured)
    shard = plan.rows / (plan.machines * plan.cards * plan.shards_per_card)
    return "\n".join(
        [
            f"{plan.rows:.0e} rows of {FILE_ROW} bytes, {plan.queries} queries, k = {plan.k}: {plan.machines} machines with {plan.cards} cards",
            f"open: {opening_seconds(plan, measured):.1f} s (each machine reads {plan.rows / plan.machines * FILE_ROW / 1e9:.0f} GB), once",
            f"search: {seconds:.2f} s; cards alone {counted['ideal']:.2f} s, the scheduler alone {counted['scheduler']:.2f} s",
            f"{counted['tasks']} tasks, {counted['again']} of them again; {shard:.3g} rows a shard; "
            f"{counted['moved'] / 1e9:.2f} GB of lists from machine to machine",
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    whole = lambda text: int(float(text))  # noqa: E731 - 1e5 is a whole number
    for name in ("machines", "cards", "queries", "tile", "k", "shards_per_card", "deaths", "seed"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=whole, default=getattr(Plan, name))
    parser.add_argument("--rows", type=float, default=Plan.rows)
    parser.add_argument("--network", type=float, default=Plan.network, help="bytes a second into a machine")
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "measured"))
    from results import FOLDER, Results

    print(report(Plan(**vars(parser.parse_args())), Results(FOLDER).parts()))


if __name__ == "__main__":
    main()
