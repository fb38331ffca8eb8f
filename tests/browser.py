"""A headless Chromium, spoken to by its own protocol: no package is needed but a WebSocket's."""

import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import websocket

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Page:
    """One page of a browser."""

    def __init__(self, address):
        self.socket, self.calls, self.events = websocket.create_connection(address, timeout=60), 0, []
        self.instead = {}  # how an address ends, to what the browser gets for it
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **given):
        self.calls += 1
        id = self.calls
        self.socket.send(json.dumps({"id": id, "method": method, "params": given}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == id:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)
            if answer.get("method") == "Fetch.requestPaused":
                self._paused(answer["params"])

    def _paused(self, paused):
        address = paused["request"]["url"].partition("?")[0]
        body = next((text for end, text in self.instead.items() if address.endswith(end)), None)
        given = {"requestId": paused["requestId"]}
        method = "Fetch.continueRequest"
        if body is not None:
            method = "Fetch.fulfillRequest"
            given |= {"responseCode": 200, "body": base64.b64encode(body.encode()).decode()}
            given["responseHeaders"] = [{"name": "Content-Type", "value": "text/javascript"}]
        self.calls += 1
        self.socket.send(json.dumps({"id": self.calls, "method": method, "params": given}))

    def replace(self, end, text):
        """Let the browser have another text for an address that ends so."""
        self.instead[end] = text
        self.call("Fetch.enable", patterns=[{"urlPattern": f"*{name}*"} for name in self.instead])

    def run(self, code):
        """The value of an expression of JavaScript; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, code, seconds=60):
        """Wait for an expression to be true."""
        end = time.monotonic() + seconds
        while True:
            if self.run(f"!!({code})"):
                return
            assert time.monotonic() < end, f"{code} did not become true; the page says: {self.text()[-1500:]}"
            time.sleep(0.1)

    def text(self):
        return self.run("document.body ? document.body.innerText : ''")

    def size(self, width, height):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    def go(self, address):
        self.call("Page.navigate", url=address)

    def picture(self, path):
        Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def requested(self):
        """The addresses that the page asked for."""
        self.run("0")
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]


@contextmanager
def opened(width=1400, height=900):
    """A page of a browser with a folder of its own; it ends with the context."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # children of Chromium end later
        options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
            f"--user-data-dir={folder}", "--remote-allow-origins=*", "about:blank",
        ]  # fmt: skip
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen([PROGRAM, *options], **quiet) as process:
            try:
                page = Page(_address(Path(folder), process))
                page.size(width, height)
                yield page
            finally:
                process.terminate()
                try:
                    process.wait(timeout=20)
                except subprocess.TimeoutExpired:
                    process.kill()


def _address(folder, process):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        assert process.poll() is None, "Chromium ended at once"
        ports = folder / "DevToolsActivePort"
        if ports.is_file() and (text := ports.read_text().split()):
            with urllib.request.urlopen(f"http://127.0.0.1:{text[0]}/json", timeout=30) as answer:
                pages = [each for each in json.load(answer) if each["type"] == "page"]
            if pages:
                return pages[0]["webSocketDebuggerUrl"]
        time.sleep(0.1)
    raise AssertionError("Chromium did not begin within a minute")
