"""Send requests at a fixed rate from a JVM: a load that no lock of Python's interpreter holds up.

`latency.load` sends requests from Python's threads, which do for some hundred a second. From some thousand on they
would wait for each other, and that is not a latency of the server. Here threads of a JVM (java/OpenLoop.java) send
requests to a class of yours, which is compiled from its source when it starts; no Java compiler is needed.
"""

import dataclasses
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from workbench._base import jars, java
from workbench._base.bounds import Ge, Gt
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, ProcessError
from workbench.metrics.collectors import running
from workbench.metrics.collectors.latency import Load, kept
from workbench.metrics.collectors.options import Name
from workbench.metrics.collectors.reading import read
from workbench.metrics.collectors.running import OPTIONS, Trial

SOURCES = Path(__file__).with_name("java")
_RAISED = 1  # exit code of a Java whose main thread ended by an exception; where memory runs out it is 3


@checked
def command(
    target: str | Path,
    arguments: Sequence[str] = (),
    *,
    rate: Annotated[float, Gt(0)],
    seconds: Annotated[float, Gt(0)],
    warm_up_seconds: Annotated[float, Ge(0)] = 0.0,
    threads: Annotated[int, Ge(1)] = 64,
    patience_seconds: Annotated[float, Ge(0)] = 15.0,
    class_path: str = "",
    java_options: Sequence[str] = (),
    java_program: str | Path | None = None,
) -> list[str]:
    """Return the command of a load, for `run`.

    Args:
        target: Java source of a class that implements Target (java/Target.java), named as its file, without a
            package, lambdas or generics.
        arguments: of the target.
        rate: requests a second, evenly.
        seconds: for how long requests are due that count.
        warm_up_seconds: for how long requests are due before them: a JVM that compiles answers late.
        threads: that wait for answers; where all of them wait, requests begin late, and are timed from when they
            were due.
        patience_seconds: that answers may take beyond the last request. What has no answer then is an error,
            `Unanswered`.
        class_path: of the target's own jars.
        java_options: that the target needs of its JVM.
        java_program: path of `java`; None for the Java of sessions.

    Returns:
        list of words, `{options}` among them.

    Raises:
        ValueError: an argument is invalid, the source is missing, or HdrHistogram's jar is and cannot be fetched.
    """
    if not int(rate * seconds):
        raise ArgumentError(f"rate {rate:g} for {seconds:g} s is no request: expected at least one")
    source = Path(target)
    if not source.is_file() or source.suffix != ".java":
        raise ArgumentError(f"target {target} must be a file of Java source, and there is none")
    own = jars.fetch(jars.named("hdrhistogram"))
    spark = java.spark_home() / "jars"
    compiler = [next(iter(sorted(spark.glob(f"{name}-*.jar"))), None) for name in ("janino", "commons-compiler")]
    if None in compiler:
        raise ArgumentError(
            "the installed PySpark has no Janino, which compiles the load: install PySpark 3.5 or 4"
        )
    path = os.pathsep.join([*map(str, [*own, *compiler]), *([class_path] if class_path else [])])
    program = java.find() if java_program is None else java_program
    boot = ["org.codehaus.janino.SimpleCompiler", str(SOURCES / "Boot.java"), "Boot"]
    folders = os.pathsep.join(map(str, (SOURCES, source.absolute().parent)))
    figures = map(str, (rate, seconds, warm_up_seconds, threads, patience_seconds))
    words = [str(program), OPTIONS, *java_options, "-XX:+ExitOnOutOfMemoryError", "-cp", path, *boot, folders]
    return [*words, "OpenLoop", source.stem, *figures, *arguments]


@checked
def drive(
    target: str | Path, arguments: Sequence[str], collector: Name, *, rate: float, seconds: float,
    warm_up_seconds: float = 0.0, threads: int = 64, patience_seconds: float = 15.0, class_path: str = "",
    java_options: Sequence[str] = (), java_program: str | Path | None = None, folder: str | Path, heap_bytes: int,
    variant: str | None = None,
) -> Trial:  # fmt: skip
    """Run a load and wait for its end; the JVM that sends the requests runs under the collector.

    Args:
        target: as of `command`, and so are arguments, rate, seconds, warm_up_seconds, threads, patience_seconds,
            class_path, java_options and java_program.
        arguments: of the target.
        collector: as of `run`, and so are folder, heap_bytes and variant.
        rate: requests a second.
        seconds: that count.
        warm_up_seconds: that do not.
        threads: that send requests.
        patience_seconds: beyond the last request.
        class_path: of the target's own jars.
        java_options: that the target needs.
        java_program: path of `java`.
        folder: that takes the logs.
        heap_bytes: of the JVM.
        variant: name of what is tried.

    Returns:
        Trial with its `load`; its pauses and stalls are those from the first request on that counts. Where the JVM
        died there is no load, and they are all that it had.

    Raises:
        ValueError, TimeoutError: as of `run`.
        ChildProcessError: the target was not compiled, or its `open` failed; the message has the cause.
    """
    words = command(
        target, arguments, rate=rate, seconds=seconds, warm_up_seconds=warm_up_seconds, threads=threads,
        patience_seconds=patience_seconds, class_path=class_path, java_options=java_options,
        java_program=java_program,
    )  # fmt: skip
    limit = warm_up_seconds + seconds + patience_seconds + 600
    trial = running.run(
        words, collector, folder=folder, heap_bytes=heap_bytes, variant=variant, java_program=java_program,
        limit_seconds=limit,
    )  # fmt: skip
    if trial.exit_code == _RAISED:
        raise ProcessError(f"the load did not begin: {_cause(Path(folder) / 'errors.txt') or trial.death}")
    if trial.answer is None:
        return trial
    figures = _figures(trial.answer)
    collection = read(Path(folder) / running.LOG, since_seconds=figures["begin_uptime"])
    load = _load(figures, rate)
    answer = None if load.errors else figures["answer"]  # of some requests it compares nothing
    return dataclasses.replace(trial, load=load, answer=answer, collection=collection)


@checked
def ending(folder: str | Path) -> tuple[float, str]:
    """Return when the first request was due that counts, and what the target found at its end.

    Args:
        folder: of a `drive` that ended well.

    Returns:
        (seconds since 1970, what the target's `close` said).

    Raises:
        ValueError: there are no figures of a load.
    """
    path = Path(folder) / "out.txt"
    figures = _figures(running.last_line(path) if path.is_file() else "")
    return float(figures["begin_epoch"]), str(figures["answer"]).partition(" ")[2]


def _cause(errors: Path) -> str:
    """Return what a Java exception was caused by in the end, "" where there is none."""
    lines = errors.read_text(encoding="utf-8", errors="replace").splitlines()
    causes = [line.strip().removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return causes[-1][:400] if causes else ""


def _figures(line: str) -> dict[str, Any]:
    try:
        figures: dict[str, Any] = json.loads(line)
    except ValueError:
        raise ArgumentError(f"the load ended without its figures: {line[:200]}") from None
    return figures


def _load(figures: dict[str, Any], rate: float) -> Load:
    requests, errors = figures["requests"], dict(figures["errors"])
    if unanswered := figures["due"] - requests - sum(errors.values()):
        errors["Unanswered"] = unanswered
    return Load(
        requests=requests,
        errors=errors,
        seconds=figures["seconds"],
        rate=rate,
        reached=requests / figures["seconds"],
        service_seconds=kept(requests, figures["service"]),
        response_seconds=kept(requests, figures["response"]),
        late=figures["late"],
        canary_seconds=figures["canary_seconds"],
    )
