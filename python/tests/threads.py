"""Runs threads that start together."""

import sys
import threading
from contextlib import contextmanager


@contextmanager
def often_switched():
    """With a GIL, makes threads switch as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def together(count, work, seconds=120):
    """Runs `work(number)` on `count` threads that start at once. Returns their answers, or raises the first error."""
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
