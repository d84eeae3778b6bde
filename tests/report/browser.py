"""Drives headless Chromium through two pipes by its own protocol, with nothing but the standard library."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class BrowserError(RuntimeError):
    pass


class Browser:
    """Runs a Chromium with one page. Use it in a `with`: its end stops the process and removes its folder."""

    def __init__(self, program, seconds=240):
        self.deadline = time.monotonic() + seconds
        self.folder = tempfile.mkdtemp(prefix="kith-report-")
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars=false",
                 "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-sync",
                 "--force-color-profile=srgb", "--remote-debugging-pipe", "--user-data-dir=" + self.folder]
        # Chromium reads commands from descriptor 3 and writes answers to 4.
        line = 'exec "$@" 3<&%d 4>&%d' % (to_browser, from_browser)
        self.log = open(os.path.join(self.folder, "log"), "wb")
        self.process = subprocess.Popen(["sh", "-c", line, "sh", program, *flags, "about:blank"], stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log, pass_fds=(to_browser, from_browser))
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.send("Page.enable")
        self.send("Runtime.enable")
        self.send("Log.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pipe in (self.commands, self.answers):
            os.close(pipe)  # Chromium ends when its pipes close
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def read(self):
        while b"\0" not in self.buffer:
            left = self.deadline - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise BrowserError("chromium did not answer in time")
            piece = os.read(self.answers, 1 << 20)
            if not piece:
                with open(os.path.join(self.folder, "log"), errors="replace") as log:
                    raise BrowserError("chromium ended: " + log.read()[-800:])
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise BrowserError(method + ": " + answer["error"]["message"])
                return answer["result"]
            self.events.append(answer)

    def open(self, path):
        """Loads a file, and returns the addresses of everything else that the page requested."""
        self.events = []
        self.send("Network.enable")
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.read())
        asked = [event["params"]["request"]["url"] for event in self.events
                 if event.get("method") == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith(("file://" + os.path.abspath(path), "data:"))]

    def emulate(self, media="screen", dark=False, width=1200, height=900):
        self.send("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def run(self, script):
        """Returns the value of a JavaScript expression; a promise is awaited."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def accessible(self):
        """Returns the nodes of the accessibility tree that are not ignored."""
        return [node for node in self.send("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]

    def print_to(self, path, width, height):
        """Prints the page with its own style sheet, on paper of this size in inches."""
        self.send("Emulation.setEmulatedMedia", media="", features=[])
        self.send("Emulation.clearDeviceMetricsOverride")
        answer = self.send("Page.printToPDF", paperWidth=width, paperHeight=height, printBackground=True,
                           preferCSSPageSize=False)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def picture(self, path):
        """Saves a picture of the whole page."""
        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000), "scale": 1}
        answer = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))
