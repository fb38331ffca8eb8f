"""The stand-in as a child process: settings and controls come in, a JSON line each; it ends with us."""

import json
import sys

from workbench._base import children
from workbench_standins.google import server
from workbench_standins.google.store import Store


def main() -> None:
    """Serve as the child: read settings and controls from standard input until it ends."""
    settings = json.loads(sys.stdin.buffer.readline())
    service = server.Service(Store(settings["start"]), settings["key"].encode())
    try:
        with server.listening(service, settings["port"]) as port:
            children.say({"value": port})
            for line in sys.stdin.buffer:
                message = json.loads(line)
                try:
                    children.say({"value": service.control(message["control"], message["arguments"])})
                except (ValueError, TypeError) as error:
                    children.say({"error": str(error)})
    except ValueError as error:
        children.say({"error": str(error)})
