"""The stand-in as a child process: settings and controls come in, a JSON line each; it ends with us."""

import json
import sys
from contextlib import ExitStack

from workbench._base import children
from workbench_standins.google import rpc, server
from workbench_standins.google.service import Service
from workbench_standins.google.store import Store


def main() -> None:
    """Serve as the child: read settings and controls from standard input until it ends."""
    settings = json.loads(sys.stdin.buffer.readline())
    service = Service(Store(settings["start"]), settings["key"].encode())
    try:
        with ExitStack() as stack:
            port = stack.enter_context(server.listening(service, settings["port"]))
            rpc_port = stack.enter_context(rpc.listening(service)) if settings["grpc"] else None
            children.say({"value": {"port": port, "grpc": rpc_port}})
            for line in sys.stdin.buffer:
                message = json.loads(line)
                try:
                    children.say({"value": service.control(message["control"], message["arguments"])})
                except (ValueError, TypeError) as error:
                    children.say({"error": str(error)})
    except ValueError as error:
        children.say({"error": str(error)})
