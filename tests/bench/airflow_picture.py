"""A picture of Airflow's own page of a DAG run, taken by a browser without a window: docs/images/airflow.png.

Airflow's server is that of the throw-away home, on the loopback address, without a login. Where there is no Chromium
the old picture stays.
"""

import io
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

from PIL import Image

from bench import evidence

PICTURE = evidence.FOLDER.parent / "images" / "airflow.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE = (1280, 610)  # without the empty part below the tasks
PATIENCE_SECONDS = 120  # until the server answers; the browser's own wait is virtual


def take(airflow, env, page, *, output):
    """Take the picture of a page of Airflow; say so where it cannot be taken.

    Args:
        airflow: path of Airflow's command.
        env: variables of the home whose database has the runs.
        page: path behind the server's address.
        output: open file for what the server says.

    Returns:
        whether there is a new picture.
    """
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        print(f"no {BROWSERS[0]} here (apt-get install chromium): {PICTURE.name} stays as it was")
        return False
    with served(airflow, env, output) as address, tempfile.TemporaryDirectory() as folder:
        shot(browser, f"{address}{page}", folder)
        small(f"{folder}/page.png")
    print(f"docs/images/{PICTURE.name}: {PICTURE.stat().st_size >> 10} KB")
    return True


@contextmanager
def served(airflow, env, output):
    """Run Airflow's server on a free port of the loopback address; yields its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    open_to_all = {"AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True"}  # who can reach it is on this machine
    command = [airflow, "api-server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    server = subprocess.Popen(command, env=env | open_to_all, stdout=output, stderr=output)
    try:
        answers(server, address := f"http://127.0.0.1:{port}")
        yield address
    finally:
        server.terminate()
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def answers(server, address):
    """Wait until a server answers.

    Raises:
        RuntimeError: it ended, or did not in time.
    """
    end = time.monotonic() + PATIENCE_SECONDS
    while server.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{address}/api/v2/version", timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.5)
    raise RuntimeError(f"Airflow's server gave no answer within {PATIENCE_SECONDS} s; its log says more")


def shot(browser, url, folder):
    """Let a browser draw a page into page.png of a folder."""
    options = [
        "--headless=new", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile", "--no-first-run",
        f"--window-size={SIZE[0]},{SIZE[1]}", "--virtual-time-budget=20000", f"--screenshot={folder}/page.png",
    ]  # fmt: skip
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # Chromium refuses its sandbox to root
        options.append("--no-sandbox")
    subprocess.run([browser, *options, url], check=True, timeout=180, stdout=sys.stderr, stderr=subprocess.DEVNULL)


def small(file):
    """Keep a picture in few colours: a page has few, and a clone carries it."""
    with Image.open(file) as whole:
        few = whole.convert("RGB").quantize(128)
    few.save(buffer := io.BytesIO(), "PNG", optimize=True)
    PICTURE.write_bytes(buffer.getvalue())
