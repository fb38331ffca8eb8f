"""`workbench local`: stand-ins that run until they are interrupted."""

from typing import Annotated

import typer

from workbench._base.errors import ArgumentError

KAFKA_PORT = 9092
local = typer.Typer(help="Stand-ins that run on this machine, on loopback only.", no_args_is_help=True)


@local.command("kinesis")
def local_kinesis(
    port: Annotated[int, typer.Option(min=0, max=65535, help="port on 127.0.0.1; 0: a free one")] = 4567,
    faults: Annotated[str | None, typer.Option(metavar="FILE", help="fault script, see docs/kinesis.md")] = None,
    limits: Annotated[bool, typer.Option(help="throttle and refuse as the service does")] = True,
) -> None:
    """Serve Kinesis on this machine until interrupted."""
    from workbench_standins import kinesis

    kinesis.serve_forever(
        port=port,
        limits=None if limits else kinesis.UNLIMITED,
        faults=faults or (),
        ready=lambda endpoint: print(f"Kinesis on {endpoint}; Ctrl-C ends it", flush=True),
    )


@local.command("s3")
def local_s3(
    folder: Annotated[
        str | None, typer.Option(help="folder that keeps the data; without it nothing is kept")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="port of S3 on 127.0.0.1; 0: a free one")] = 8333,
    catalog_port: Annotated[int, typer.Option(min=0, max=65535, help="port of the catalog; 0: a free one")] = 8181,
    faults: Annotated[str | None, typer.Option(metavar="FILE", help="proxy script, docs/proxy.md")] = None,
) -> None:
    """Serve S3 and an Iceberg REST catalog on this machine until interrupted."""
    from workbench_standins import by_hand

    by_hand.s3(folder, port=port, catalog_port=catalog_port, faults=faults)


@local.command("cluster")
def local_cluster(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="port of the master on 127.0.0.1; 0: a free one")
    ] = 7077,
    workers: Annotated[int, typer.Option(min=1, max=16, help="number of workers")] = 2,
    cores: Annotated[
        int, typer.Option(min=1, max=64, help="tasks that a worker runs at once for one session")
    ] = 1,
    memory: Annotated[str, typer.Option(help="memory of a worker for one session, such as 1g")] = "1g",
    applications: Annotated[int, typer.Option(min=1, max=16, help="sessions that may run side by side")] = 2,
) -> None:
    """Serve a standalone Spark cluster on this machine until interrupted."""
    from workbench_standins import by_hand

    by_hand.cluster(port=port, workers=workers, cores=cores, memory=memory, applications=applications)


@local.command("hbase")
def local_hbase(
    folder: Annotated[
        str | None, typer.Option(help="folder that keeps the data; without it nothing is kept")
    ] = None,
    heap: Annotated[int, typer.Option(min=128, max=65536, help="MiB of its JVM's heap")] = 512,
    fetch: Annotated[bool, typer.Option("--fetch", help="only fetch the jars")] = False,
) -> None:
    """Serve HBase, standalone, on this machine until interrupted."""
    from workbench_standins import by_hand

    by_hand.fetch_hbase() if fetch else by_hand.hbase(folder, heap_mib=heap)


@local.command("kafka")
def local_kafka(
    folder: Annotated[
        str | None, typer.Option(help="folder that keeps the data; without it nothing is kept")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="port on 127.0.0.1; 0: a free one")] = KAFKA_PORT,
    fetch: Annotated[bool, typer.Option("--fetch", help="only fetch the broker's jars")] = False,
    users: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="users, with commas between: a broker that asks who is there"),
    ] = None,
    grants: Annotated[
        list[str] | None,
        typer.Option("--grant", metavar="USER:OPERATION:TOPIC", help="of --users: a right; may be repeated"),
    ] = None,
) -> None:
    """Serve Kafka on this machine until interrupted."""
    from workbench_standins import by_hand

    if users is not None or grants:
        from workbench_standins.kafka import secured

        if folder is not None or port != KAFKA_PORT or fetch or users is None:
            raise ArgumentError(
                "--grant needs --users, which takes free ports and keeps nothing: no --folder, --port or --fetch"
            )
        secured.serve_by_hand(users.split(","), grants or ())
        return

    by_hand.fetch_kafka() if fetch else by_hand.kafka(folder, port=port)
