"""Watch a session: Spark's own event log and Iceberg's reports, kept in a folder, never in the way of its job.

Nothing of ours runs in the session's JVM: Spark's EventLoggingListener has a queue of its own on the listener bus,
whose events are dropped, and counted, where the disk is slower than the job; Log4j writes the reports in a thread
of its own.
"""

import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbench._base.door import checked
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench._base.typing import Java, SparkSession

REPORTS = "iceberg-reports.log"  # in the folder of a watched session
APPENDER = "workbench-metrics"
LOGGERS = {  # to the level and whether the session's own log gets the lines, too
    "org.apache.iceberg.metrics.LoggingMetricsReporter": ("INFO", False),
    "org.apache.iceberg.util.Tasks": ("WARN", True),
    "org.apache.spark.scheduler.AsyncEventQueue": ("WARN", True),
}
PATTERN = r"%d{UNIX_MILLIS}%replace{ %c %m}{[\r\n\t]+}{ }%ex{none}%n"
_SECRET = "(?i)secret|password|token|access[.]?key|credential"  # Spark's own, and what Iceberg calls it
_REDACTION = "spark.redaction.regex"
_EVENT_LOG = {
    "spark.eventLog.rolling.enabled": "false",  # Spark 4 begins a folder of parts otherwise
    "spark.eventLog.compress": "true",
    "spark.eventLog.compression.codec": "zstd",  # the others are forms of Java's alone
}
_DRAIN_SECONDS = 30
_WAITING_LINES = 4096


class Watch:
    """A session that is being watched; ended by `stop`, by the end of a `with` block, or with the session.

    Attributes:
        folder: what is kept there can be read at any time, also after the session was killed.
        failure: why nothing is kept, or not all of it; None where all is well.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.failure: str | None = None
        self._stops: list[Any] = []

    def stop(self) -> None:
        """End watching: what was posted until now is in the folder. A second call does nothing."""
        while self._stops:
            try:
                self._stops.pop()()
            except Exception as error:  # the session is gone, or the disk: its job has its own verdict
                self.failure = self.failure or f"watching did not end well: {_first_line(error)}"

    def __enter__(self) -> "Watch":
        """Return the watch."""
        return self

    def __exit__(self, *_: object) -> None:
        """End watching; what the block raised goes on."""
        self.stop()


@checked
def watch(spark: SparkSession, folder: str | Path) -> Watch:
    """Watch a running session from now on: its event log and Iceberg's reports, into a folder.

    One line in a script of one's own. The session and its job go on whatever happens to the watch: where it cannot
    begin, a warning says so, and `Watch.failure`.

    Args:
        spark: a classic session; one of Spark Connect has no listeners of ours.
        folder: made where it is not there. Each application has a log of its own in it; the reports of sessions
            that have one folder would be mixed, so that it should be this session's own.

    Returns:
        Watch, whose folder `events.read` and `reports.read` take.

    Raises:
        ValueError: the folder is a file, or its name is empty.
    """
    if not str(folder).strip():
        raise ArgumentError("folder is empty, expected where the event log and the reports are to be kept")
    folder = Path(folder).absolute()
    if folder.exists() and not folder.is_dir():
        raise ArgumentError(f"{folder} is a file, expected a folder for the event log and the reports")
    watching = begin(spark, folder, APPENDER)
    if watching.failure:
        warnings.warn(watching.failure, stacklevel=3)  # behind @checked: the caller's line
    else:
        _until_stopped(spark.sparkContext, watching)
    return watching


def _until_stopped(context: Any, watching: Watch) -> None:
    """End a watch before its session's context stops: Log4j would report the JVM's next session, too."""

    def stop() -> None:
        watching.stop()
        type(context).stop(context)

    context.stop = stop
    watching._stops.append(lambda: vars(context).pop("stop", None))


def begin(spark: SparkSession, folder: Path, appender: str) -> Watch:
    """Watch a session as `watch` does, without a warning.

    Args:
        spark: as of `watch`.
        folder: as of `watch`, absolute.
        appender: name of the appender of reports. A session has one watch of a name at a time: that of its script
            and that of the runner of its notebook do not know of each other.
    """
    watching = Watch(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _keep_reports(spark, watching, appender)
        _keep_events(spark, watching)
    except Exception as error:
        watching.stop()
        watching.failure = f"the session is not watched: {_first_line(error)}"
    return watching


@checked
def settings(folder: str | Path, *, java_options: str = "", log4j: str | Path | None = None) -> dict[str, str]:
    """Return the settings with which a session keeps its event log and Iceberg's reports from its first event on.

    For `spark-submit --conf`, a SparkSession's builder or an environment's `spark: conf`. The folder must be there
    when the session starts.

    Args:
        folder: on the driver's disk.
        java_options: the driver's other JVM options, which would be replaced otherwise.
        log4j: the Log4j file that the session has; left out, Spark's default, which writes warnings on the
            console.

    Returns:
        dict of Spark's settings, texts.

    Raises:
        ValueError: the path has a space, which Spark would split the JVM's options at; or java_options name a
            Log4j configuration: give it as `log4j`.
    """
    folder = Path(folder).absolute()
    if any(" " in str(path) for path in (folder, log4j or "")):
        raise ArgumentError(f"the path has a space, at which Spark splits the JVM's options: {folder}, {log4j}")
    if "log4j2.configurationFile" in java_options or "log4j.configurationFile" in java_options:
        raise ArgumentError("java_options name a Log4j configuration; give its file as log4j=, and both are read")
    first = f"file:{Path(log4j).absolute()}" if log4j else "classpath:org/apache/spark/log4j2-defaults.properties"
    ours = f"file:{Path(__file__).with_name('log4j2-metrics.properties')}"
    options = f"-Dlog4j2.configurationFile={first},{ours} -Dworkbench.metrics={folder / REPORTS}"
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.as_uri(),
        **_EVENT_LOG,
        "spark.driver.extraJavaOptions": f"{java_options} {options}".strip(),
    }


def _keep_events(spark: SparkSession, watching: Watch) -> None:
    """Give Spark's own event log a place on the bus, in the queue that Spark has for it."""
    jvm: Java = spark._jvm
    context: Java = spark.sparkContext._jsc.sc()
    conf = context.conf().clone()
    for key, value in _EVENT_LOG.items():
        conf.set(key, value)
    conf.set(_REDACTION, "|".join(filter(None, (_SECRET, conf.get(_REDACTION, "")))))
    none = jvm.scala.Option.apply(None)
    earlier = len([*watching.folder.glob(f"{context.applicationId()}*")])
    attempt = jvm.scala.Option.apply(str(earlier)) if earlier else none  # a second watch has a file of its own
    listener = jvm.org.apache.spark.scheduler.EventLoggingListener(
        context.applicationId(),
        attempt,
        jvm.java.net.URI(watching.folder.as_uri()),
        conf,
        context.hadoopConfiguration(),
    )
    name = context.applicationId()
    listener.start()
    watching._stops += [_judge(watching.folder, listener), listener.stop, _look(watching.folder, name)]
    scheduler = jvm.org.apache.spark.scheduler
    listener.onApplicationStart(  # for the log, the application begins with the watch
        scheduler.SparkListenerApplicationStart(
            context.appName(), jvm.scala.Option.apply(context.applicationId()), _now(jvm),
            context.sparkUser(), attempt, none, none,
        )
    )  # fmt: skip
    with suppress(Exception):  # another release has another method: a log without settings is one, too
        listener.onEnvironmentUpdate(scheduler.SparkListenerEnvironmentUpdate(_environment(jvm, context)))
    bus = context.listenerBus()
    bus.addToEventLogQueue(listener)

    def leave() -> None:
        try:
            if not context.isStopped():
                bus.waitUntilEmpty(_DRAIN_SECONDS * 1000)
        finally:  # also where the disk is too slow: what is not written by now is left out
            bus.removeListener(listener)
        if not context.isStopped():  # for the log, the application ends with the watch
            listener.onApplicationEnd(_end(jvm, none))

    watching._stops.append(leave)


def _look(folder: Path, name: str) -> Callable[[], None]:
    """Return what raises where the event log of an application is gone, before it is closed."""

    def look() -> None:
        if not any(folder.glob(f"{name}*")):
            raise WorkbenchError(f"the event log is no longer in {folder}")

    return look


def _judge(folder: Path, listener: Java) -> Callable[[], None]:
    """Return what raises where an event log that was closed is not whole."""
    lost = _losses(listener)

    def judge() -> None:
        if lost():
            raise WorkbenchError(f"the event log in {folder} is not whole: its disk was full or went away")

    return judge


def _losses(listener: Java) -> Callable[[], bool]:
    """Return a function that tells whether a write of an event log failed; its writer keeps that to itself."""
    try:
        writer = listener.logWriter().writer().get()  # a PrintWriter, whose writes raise nothing
    except Exception:  # another release keeps it elsewhere: the log is then judged by its reader alone
        return lambda: False
    return lambda: bool(writer.checkError())


def _now(jvm: Java) -> Any:
    return jvm.java.lang.System.currentTimeMillis()


def _end(jvm: Java, none: Java) -> Java:
    """Return the event of an application's end, now."""
    event, now = jvm.org.apache.spark.scheduler.SparkListenerApplicationEnd, _now(jvm)
    try:
        return event(now, none)  # with an exit code, in Spark 4
    except Exception:
        return event(now)


def _environment(jvm: Java, context: Java) -> Java:
    """Return the settings of a session as the event that tells them; Spark's log hides the secrets in it."""
    immutable = jvm.scala.collection.immutable
    nothing, empty = (getattr(getattr(immutable, name), "MODULE$") for name in ("Nil$", "Map$"))
    return getattr(getattr(jvm.org.apache.spark, "SparkEnv$"), "MODULE$").environmentDetails(
        context.conf(), context.hadoopConfiguration(), "FIFO", nothing, nothing, nothing, empty.empty()
    )


def _keep_reports(spark: SparkSession, watching: Watch, name: str) -> None:
    """Let Log4j write what Iceberg reports into a file; the session's other loggers stay as they are."""
    jvm: Java = spark._jvm
    log4j = jvm.org.apache.logging.log4j
    logs = log4j.LogManager.getContext(False)
    configuration = logs.getConfiguration()
    if configuration.getAppender(name) is not None:
        raise ArgumentError("this session is being watched already: stop that watch first")
    layout = (
        log4j.core.layout.PatternLayout.newBuilder().withPattern(PATTERN).withConfiguration(configuration).build()
    )
    builder = log4j.core.appender.FileAppender.newBuilder()
    builder.withFileName(str(watching.folder / REPORTS))
    builder.setName(f"{name}-file")
    builder.setLayout(layout)
    builder.setConfiguration(configuration)
    file = builder.build()
    file.start()
    configuration.addAppender(file)
    appender = _beside(spark, configuration, name)
    watching._stops.append(lambda: _closed(lambda: (appender.stop(), file.stop())))
    watching._stops.append(
        lambda: [configuration.getAppenders().remove(known) for known in (name, f"{name}-file")]
    )
    for logger, (level, shared) in LOGGERS.items():
        watching._stops.append(_logged(jvm, configuration, logger, level, shared, appender))
    watching._stops.insert(0, logs.updateLoggers)  # at the end, last
    logs.updateLoggers()


def _beside(spark: SparkSession, configuration: Java, name: str) -> Java:
    """Return an appender that hands lines to a thread of its own, which writes them to the file.

    A disk that hangs holds up that thread; where its queue is full, lines are left out.
    """
    jvm: Java = spark._jvm
    core = jvm.org.apache.logging.log4j.core
    refs = jvm.java.lang.reflect.Array.newInstance(core.config.AppenderRef._java_lang_class, 1)
    refs[0] = core.config.AppenderRef.createAppenderRef(f"{name}-file", None, None)
    builder = core.appender.AsyncAppender.newBuilder()
    builder.setName(name)
    builder.setAppenderRefs(refs)
    builder.setBlocking(False)
    builder.setBufferSize(_WAITING_LINES)
    builder.setShutdownTimeout(_DRAIN_SECONDS * 1000)
    builder.setConfiguration(configuration)
    appender = builder.build()
    appender.start()
    configuration.addAppender(appender)
    return appender


def _closed(close: Callable[[], object]) -> None:
    """Close the file of reports; where its disk hangs it is left as it is after a while."""
    errors: list[Exception] = []

    def run() -> None:
        try:
            close()
        except Exception as error:
            errors.append(error)

    closing = threading.Thread(target=run, daemon=True)
    closing.start()
    closing.join(_DRAIN_SECONDS)
    if closing.is_alive():
        raise WorkbenchError(f"{REPORTS} was not closed within {_DRAIN_SECONDS} s: its disk hangs")
    if errors:
        raise errors[0]


def _logged(jvm: Java, configuration: Java, name: str, level: str, shared: bool, appender: Java) -> Any:
    """Let a logger write to the appender; return what takes it back.

    A logger that a watch made is removed by the last watch that uses it: a property of the JVM marks it.
    """
    log4j, system = jvm.org.apache.logging.log4j, jvm.java.lang.System
    least, mark = log4j.Level.valueOf(level), f"{APPENDER}.{name}"
    logger = configuration.getLoggers().get(name)
    before = None if logger is None else logger.getLevel()
    if logger is None:
        logger = log4j.core.config.LoggerConfig(name, least, shared)
        configuration.addLogger(name, logger)
        system.setProperty(mark, "made")
    elif before is not None and before.intLevel() < least.intLevel():  # it says less
        logger.setLevel(least)
    logger.addAppender(appender, least, None)

    def take_back() -> None:
        logger.removeAppender(appender.getName())
        if system.getProperty(mark) is None:
            logger.setLevel(before)
        elif logger.getAppenders().isEmpty():
            configuration.removeLogger(name)
            system.clearProperty(mark)

    return take_back


def _first_line(error: BaseException) -> str:
    """Return what an error says, in a line: of ours the sentence, of the JVM's no frame of Py4J's."""
    java = getattr(error, "java_exception", None)
    text = str(error) if isinstance(error, WorkbenchError) else f"{type(error).__name__}: {error}"
    text = str(java.toString()) if java is not None else text
    return text.strip().splitlines()[0][:300]
