"""Routes of Jupyter's server that the panel asks: a sentence for all that cannot be answered, in time."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web

from workbench_ops.lab import looking

THREADS = 8
SECONDS = 60  # after which a catalog counts as one that does not answer
_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="workbench-lab")


class Look(APIHandler):
    """GET workbench/NAME?environment=…&table=…: JSON, or a sentence with status 400."""

    seconds = SECONDS

    @web.authenticated
    async def get(self, name: str) -> None:
        """Answer one look; without a token the server says 403 itself."""
        asked = {key: self.get_query_argument(key) for key in self.request.query_arguments}
        if name == "environments":  # the panel has just been opened
            _pool.submit(looking.prepare)
        look = asyncio.get_running_loop().run_in_executor(_pool, looking.answer, name, asked)
        try:
            self.finish(await asyncio.wait_for(look, self.seconds))
        except TimeoutError:
            what = f"environment {asked['environment']}" if "environment" in asked else name
            self._refused(504, f"{what} did not answer within {self.seconds:g} seconds; try again later")
        except (ValueError, ModuleNotFoundError) as error:
            self._refused(400, str(error))
        except Exception as error:
            self.log.error("workbench/%s failed", name, exc_info=True)
            self._refused(500, f"this is a defect of the workbench: {type(error).__name__}: {error}")

    def _refused(self, status: int, sentence: str) -> None:
        self.set_status(status)
        self.finish(json.dumps({"sentence": sentence}, ensure_ascii=False))


def _load_jupyter_server_extension(app: Any) -> None:
    """Add the routes to a server that begins."""
    base = app.web_app.settings["base_url"]
    app.web_app.add_handlers(".*$", [(url_path_join(base, r"/workbench/([a-z]+)"), Look)])
