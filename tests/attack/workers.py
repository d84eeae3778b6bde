"""Runs cases in several processes side by side, and survives cases that crash or hang."""
import collections
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

MOST_DEATHS = 20
SEED_BYTES = 20


def seed_text(seed):
    return b"%*d" % (SEED_BYTES, seed)


class Worker:
    """Runs every step-th seed in one process; if a case ends the process, a new one goes on behind it."""

    def __init__(self, options, first, cases):
        self.options, self.first, self.cases = options, first, cases
        self.state = tempfile.TemporaryFile()  # its current seed, and at the end its counts
        self.start()

    def start(self):
        options, words = self.options, []
        if options.plant:
            words = ["--plant", options.plant]
        self.state.truncate(0)
        os.pwrite(self.state.fileno(), seed_text(self.first), 0)
        self.began_at, self.seed, self.since = time.monotonic(), self.first, time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-B", sys.argv[0], "--device", options.device, "--first", str(self.first),
             "--cases", str(self.cases), "--step", str(options.workers), "--seconds", str(options.seconds),
             "--state", str(self.state.fileno()), *words],
            pass_fds=[self.state.fileno()])

    def look(self):
        """Returns whether the process still runs. Kills it if a case takes too long."""
        seed = int(os.pread(self.state.fileno(), SEED_BYTES, 0))
        if seed != self.seed:
            self.seed, self.since = seed, time.monotonic()
        self.hangs = self.process.poll() is None and time.monotonic() - self.since > self.options.patience
        if self.hangs:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        return self.process.poll() is None

    def counted(self):
        """Returns the counts, or None if the process did not finish."""
        said = os.pread(self.state.fileno(), 1 << 20, SEED_BYTES)
        return json.loads(said) if said else None

    def go_on(self):
        """Starts a new process behind the case that ended the old one, whose counts are lost."""
        done = (self.seed - self.first) // self.options.workers + 1
        self.first, self.cases = self.seed + self.options.workers, self.cases - done
        self.options.seconds -= time.monotonic() - self.began_at
        if self.cases > 0 and self.options.seconds > 0:
            self.start()
            return done - 1, True
        return done - 1, False


class Workers:
    def __init__(self, options, again):
        self.options, self.again = options, again
        options.workers = max(1, min(options.workers, options.cases))
        self.result = {"cases": 0, "failures": 0, "crashes": 0, "hangs": 0, "done": collections.Counter(),
                       "answers": collections.Counter()}

    def run(self):
        step = self.options.workers
        working = [Worker(self.options, self.options.first + i, len(range(i, self.options.cases, step)))
                   for i in range(step)]
        while working:
            time.sleep(0.02)
            working = [one for one in working if one.look() or self.ended(one)]
            if self.result["crashes"] + self.result["hangs"] >= MOST_DEATHS:
                for one in working:
                    one.process.kill()
                break
        return self.result

    def ended(self, one):
        """Returns whether the worker goes on."""
        counts, code, result = one.counted(), one.process.returncode, self.result
        if code in (0, 1) and counts:
            result["cases"] += counts["cases"]
            result["failures"] += counts["failures"]
            result["done"].update(counts["done"])
            result["answers"].update({int(block): digest for block, digest in counts["answers"].items()})
            return False
        kind = "hangs" if one.hangs else "crashes"
        result[kind] += 1
        ended = f"signal {-code}" if code < 0 else f"exit code {code}"
        how = f"takes longer than {self.options.patience:.0f} s" if one.hangs else f"ended the process: {ended}"
        print(f"WRONG: seed {one.seed} on {self.options.device} {how}\n  again: {self.again(one.seed)}", flush=True)
        before, goes_on = one.go_on()
        result["cases"] += before
        return goes_on
