"""Runs the blocks of a page in a shell and in a Python, which keep their state from block to block."""

import json
import os
import signal
import subprocess
import threading
from pathlib import Path

SECONDS = 180  # limit for one block


def last_lines(file):
    return "\n".join(file.read_text(errors="replace").splitlines()[-15:]) if file.exists() else ""


class Session:
    """Runs one block after another in a process, which reports when each has ended."""

    def __init__(self, command, folder, environment):
        self.errors = Path(f"{folder}.{Path(command[0]).name}.errors")
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                text=True, start_new_session=True)

    def ask(self, line):
        """Returns the answer to a line, or "" if the process ended or took longer than SECONDS."""
        timer = threading.Timer(SECONDS, self.end)
        timer.start()
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            return self.process.stdout.readline()
        except BrokenPipeError:
            return ""
        finally:
            timer.cancel()

    def end(self):
        """Kills the process and everything that it started in the background."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except BrokenPipeError:
                pass



class Shell(Session):
    def __init__(self, folder, environment):
        super().__init__(["bash", "--norc", "-euo", "pipefail"], folder, environment)
        self.folder = folder

    def run(self, block):
        """Returns what the block prints, and why it failed, or ""."""
        script, out, errors = (Path(f"{self.folder}.{block.line}.{end}") for end in ("sh", "out", "errors"))
        script.write_text(block.text)
        command = f". '{script}' > '{out}' 2> '{errors}' < /dev/null"
        if block.needs:  # it may fail, and the shell must go on
            command = f"code=0; (trap - EXIT; {command}) & wait $! || code=$?"
        done = self.ask(f"code=0; {command}; echo $code")
        failed = "" if done == "0\n" else last_lines(errors) or "it failed"
        return out.read_text(errors="replace") if out.exists() else "", failed


class Python(Session):
    def __init__(self, python, folder, environment):
        super().__init__([str(python), "-B", str(Path(__file__).with_name("python_session.py"))], folder, environment)

    def run(self, block):
        answer = self.ask(json.dumps({"text": block.text, "page": block.page, "line": block.line}))
        if not answer:
            return "", last_lines(self.errors) or "Python ended"
        return tuple(json.loads(answer))
