"""A JupyterLab of `workbench lab` in a folder of its own, with a lake that has an unknown table."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from contextlib import contextmanager
from pathlib import Path

import websocket

TOKEN = "a-token-of-the-tests"
ENVIRONMENT = """\
description: "a lake of the tests <script>window.stolen = 1</script>"
catalog:
  type: embedded
  folder: lake
"""
DOWN = """\
description: a catalog that does not answer
catalog:
  type: rest
  uri: http://127.0.0.1:9/
"""


class Lab:
    """A running server: its address, the folder it serves and its process."""

    def __init__(self, address, folder, process):
        self.address, self.folder, self.process = address, folder, process

    def ask(self, path, token=TOKEN):
        """Return status and JSON of an answer."""
        request = urllib.request.Request(f"{self.address}{path}")
        if token:
            request.add_header("Authorization", f"token {token}")
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            body = error.read()
            return error.code, json.loads(body) if body.startswith(b"{") else body.decode()

    def post(self, path, body=None, method="POST"):
        """Post JSON; return that of the answer, None where it has none."""
        data = json.dumps(body or {}).encode()
        request = urllib.request.Request(f"{self.address}{path}", method=method, data=data)
        request.add_header("Authorization", f"token {TOKEN}")
        with urllib.request.urlopen(request, timeout=300) as answer:
            text = answer.read()
            return json.loads(text) if text else None


class Kernel:
    """A kernel of a running server, asked as a page of it asks."""

    def __init__(self, lab, path="notebooks"):
        self.lab = lab
        self.id = lab.post("api/kernels", {"name": "python3", "path": path})["id"]
        self.connect()

    def connect(self):
        address = self.lab.address.replace("http", "ws", 1)
        self.socket = websocket.create_connection(
            f"{address}api/kernels/{self.id}/channels?token={TOKEN}", timeout=300
        )

    def restart(self):
        """Begin the kernel anew, as the button of a notebook does."""
        self.lab.post(f"api/kernels/{self.id}/restart")
        self.socket.close()
        self.connect()

    def await_spare(self, seconds=600):
        """Wait until a spare JVM is there for the next kernel."""
        end = time.monotonic() + seconds
        while self.run("from workbench_ops.lab.spare import taking; print(taking.ready())") != "True":
            assert time.monotonic() < end, (self.lab.folder / "lab.log").read_text()[-3000:]
            time.sleep(0.3)

    def end(self):
        """Let the server end it, as closing a notebook does."""
        self.socket.close()
        self.lab.post(f"api/kernels/{self.id}", method="DELETE")

    def run(self, code):
        """What a cell printed, that of its error included."""
        id, text, states = uuid.uuid4().hex, "", set()
        header = {
            "msg_id": id,
            "msg_type": "execute_request",
            "session": id,
            "username": "",
            "version": "5.3",
            "date": "",
        }
        asked = {
            "code": code,
            "silent": False,
            "store_history": False,
            "user_expressions": {},
            "allow_stdin": False,
        }
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": asked, "channel": "shell"}
        self.socket.send(json.dumps(message))
        while states != {"idle", "reply"}:
            answer = json.loads(self.socket.recv())
            if answer["parent_header"].get("msg_id") != id:
                continue
            kind, content = answer["msg_type"], answer["content"]
            text += content["text"] if kind == "stream" else ""
            text += "\n".join(content["traceback"]) if kind == "error" else ""
            states |= {"reply"} if kind == "execute_reply" else set()
            states |= {"idle"} if kind == "status" and content["execution_state"] == "idle" else set()
        return text.strip()


def home(folder):
    """A folder with environments of its own, and notebooks."""
    (folder / "params" / "environments").mkdir(parents=True)
    (folder / "notebooks").mkdir()
    (folder / "params" / "environments" / "own.yml").write_text(ENVIRONMENT)
    (folder / "params" / "environments" / "down.yml").write_text(DOWN)
    return folder


@contextmanager
def running(folder, *, spare=False, **variables):
    """`workbench lab` as a user starts it, with a spare JVM or without; ended by SIGTERM."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {
        name: value for name, value in os.environ.items() if not name.startswith(("WORKBENCH_", "JUPYTER", "JPY"))
    }
    for name in ("CONFIG", "DATA", "RUNTIME"):
        env[f"JUPYTER_{name}_DIR"] = str(folder / "jupyter" / name.lower())
    (folder / "jupyter" / "config").mkdir(parents=True, exist_ok=True)
    exposed = {"LabApp": {"expose_app_in_browser": True}}  # so that a test presses a command by its name
    (folder / "jupyter" / "config" / "jupyter_lab_config.json").write_text(json.dumps(exposed))
    env |= {
        "JUPYTER_TOKEN": TOKEN,
        "IPYTHONDIR": str(folder / "ipython"),
        "WORKBENCH_HOME": str(folder),
    } | variables
    command = [sys.executable, "-m", "workbench_ops.cli", "lab", "--port", str(port), "--no-browser"]
    command += [] if spare else ["--no-spare"]
    with (folder / "lab.log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)
    lab = Lab(f"http://127.0.0.1:{port}/", folder, process)
    try:
        _await(lab)
        yield lab
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()


def _await(lab):
    end = time.monotonic() + 300
    while time.monotonic() < end:
        assert lab.process.poll() is None, (lab.folder / "lab.log").read_text()[-3000:]
        try:
            if lab.ask("api/status")[0] == 200:
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError((lab.folder / "lab.log").read_text()[-3000:])


def fill(folder):
    """Make an unknown table without Spark: three snapshots, a tag, a column that came; names that look like HTML."""
    import pyarrow as pa
    from pyiceberg.catalog import load_catalog

    from workbench import session

    before = {name: os.environ.get(name) for name in ("WORKBENCH_HOME",)}
    os.environ["WORKBENCH_HOME"] = str(folder)
    try:
        catalog = load_catalog(**session.catalog_properties(folder / "params" / "environments" / "own.yml"))
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)
    catalog.create_namespace("sales")
    rows = pa.table(
        {"order_id": pa.array([1, 2, 10], pa.int64()), "room": ["a", "<script>window.stolen = 1</script>", None]}
    )
    table = catalog.create_table("sales.orders", schema=rows.schema)
    table.append(rows)
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "first").commit()
    table.append(pa.table({"order_id": pa.array([30], pa.int64()), "room": ["d"]}))
    with table.update_schema() as update:
        from pyiceberg.types import LongType

        update.add_column("price", LongType(), doc="in cents <b>")
    table.append(
        pa.table({"order_id": pa.array([2**60], pa.int64()), "room": ["e"], "price": pa.array([700], pa.int64())})
    )
    catalog.create_table("sales.<script>window", schema=rows.schema)
    return catalog


def folder_of(path):
    """A home with its table, made in a folder."""
    folder = home(Path(path))
    fill(folder)
    return folder
