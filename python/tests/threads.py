"""Threads that begin together."""

import sys
import threading
from contextlib import contextmanager


@contextmanager
def often_switched():
    """With a GIL: threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def together(count, work, seconds=120):
    """What `work(number)` gives on `count` threads that begin at one moment; raises what the first of them raised."""
    answers, errors, start = [None] * count, [], threading.Barrier(count)

    def run(number):
        try:
            start.wait(60)
            answers[number] = work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    with often_switched():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(seconds)
    if errors:
        raise errors[0]
    assert not any(thread.is_alive() for thread in threads), "a thread waits for something that never comes"
    return answers
