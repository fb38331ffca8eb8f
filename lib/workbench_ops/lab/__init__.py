"""JupyterLab with a panel of tables, tables of results that sort, and the progress of Spark; no Node, no build.

`workbench lab` starts Jupyter's own server on loopback and adds to it what is here; a plain `jupyter lab` is left
as it is. The browser's part is written by hand and served as it stands.

serving        the server begun: what it is told, and the kernels it starts
server         the routes that the panel asks, in threads, so that a slow catalog holds nobody up
looking        what the panel is answered: plain values of `tables.browse`
inserting      the cells that a click writes
kernel         loaded into each Python kernel: what Spark is doing, told on request; where the spare is asked for
spare          a JVM that is started ahead, for the next kernel that is its like
labextensions  the browser's part, a file a feature; one that is broken takes no other with it
    remoteEntry  what Lab loads: it takes Lab's own classes and loads the others
    panel        environments, namespaces, tables and what they are
    pages        what the panel's tabs show
    table        results as a typed table, also where no kernel runs
    progress     what Spark is doing under the cell that runs; nothing of it is stored
    colours      SQL cells coloured as SQL
"""

from typing import Any


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """Say to Jupyter's server where its extension is."""
    return [{"module": "workbench_ops.lab.server"}]
