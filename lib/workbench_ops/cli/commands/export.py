"""`workbench export`: notebooks for AWS Glue and what would be different there, and functions of AWS Lambda."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from workbench._base.errors import ArgumentError
from workbench_ops.cli import options
from workbench_ops.cli.printing import from_here

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from workbench._base import settings
    from workbench_ops.export import Finding, Session
    from workbench_ops.run.notebook import Parameter

export = typer.Typer(help="Notebooks for AWS Glue, and functions of AWS Lambda.", no_args_is_help=True)
Version = Annotated[str, typer.Option(help="version of Glue: 6.0 or 5.1")]
Output = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="folder to write to; by default exports/glue-VERSION, which git ignores"),
]


class _Source(NamedTuple):
    """A notebook with its parameters, and the values that are given beside its defaults."""

    path: Path
    notebook: "NotebookNode"
    declared: "list[Parameter]"
    given: dict[str, Any]


@export.command("glue")
def glue(
    notebook: options.AnyNotebook,
    version: Version = "6.0",
    params: options.Params = None,
    environment: options.Environment = None,
    output: Output = None,
    job: Annotated[bool, typer.Option("--job", help="write the job script instead of the notebook")] = False,
    place: Annotated[
        str | None, typer.Option(metavar="S3_URI", help="folder on S3 where the wheel will be")
    ] = None,
) -> None:
    """Write a notebook for Glue Studio, or a job script, with the library as a wheel beside it."""
    written = _written(notebook, version, params, environment, output, job=job, place=place)
    pairs = {"--environment": environment, "--params": params, "--version": version}
    given = [word for name, value in pairs.items() if value for word in (name, value)]
    _next(*written, shlex.join(["workbench", "export", "check", notebook, *given]), job=job)


@export.command("lambda")
def lambda_(
    source: Annotated[
        str,
        typer.Argument(
            metavar="NOTEBOOK|MODULE", help="notebook with cells tagged lambda, or a .py file or its folder"
        ),
    ],
    output: Annotated[
        str | None, typer.Option(metavar="DIR", help="folder to write to; by default exports/lambda")
    ] = None,
    package: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="one more installed package to take along")
    ] = None,
) -> None:
    """Write a zip for AWS Lambda that is within Lambda's size limit, and say how to deploy it."""
    from workbench._base import settings
    from workbench.light import functions
    from workbench_ops.export import lambdas
    from workbench_ops.run import notebook as reading

    folder, path = Path(output) if output else settings.home() / "exports" / "lambda", Path(source)
    packages = (*functions.NEEDED, *(package or ()))
    if path.suffix == ".py" or path.is_dir():
        name = path.resolve().stem
        exported = lambdas.of_module(path, folder / f"{name}.zip", packages=packages)
    else:
        path = reading.find(source)
        name = path.stem
        code = lambdas.cells(reading.read(path), name)
        exported = lambdas.of_code(code, "app", folder / f"{name}.zip", packages=packages)
    zipped = exported.package
    unpacked, packed = (f"{size / 2**20:.0f} MB" for size in (zipped.bytes, zipped.packed_bytes))
    runs_on = f"{zipped.runtime} on {zipped.architecture}"
    print(f"wrote  {from_here(zipped.path)}: {packed}, unpacked {unpacked}, for {runs_on}")
    for words in exported.steps(name):
        print(f"next   {shlex.join(words)}")
    print("next   the rights of the role, and the queue's settings: docs/light.md of the project")


@export.command("try")
def try_(
    notebook: options.AnyNotebook,
    version: Version = "6.0",
    params: options.Params = None,
    environment: options.Environment = None,
    output: Output = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="run it even if the check says that it cannot run")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Export a notebook and run the exported file here, in a kernel like Glue's (exits as `workbench run`)."""
    from workbench.engines import profiles
    from workbench_ops import export as exporting
    from workbench_ops.cli import progress
    from workbench_ops.export import studio, versions, wheel
    from workbench_ops.run import preparing, runner
    from workbench_ops.run import record as records

    glue = versions.version(version)
    python, engine_versions = profiles.with_spark(glue.spark)
    target, built, session, findings = _written(notebook, version, params, environment, output, job=False)
    if asked := [text for text in _open(session) if text not in session.packages]:
        unset = [f"{name}=…" for name, value in session.variables.items() if "YOUR-" in value]
        account = "name an environment of your account, such as --environment aws-glue"
        what = f"export {' '.join(unset)}" if unset else account
        raise ArgumentError(f"{', '.join(asked)} is not known here; {what}")
    if exporting.verdict(findings) == exporting.CANNOT_RUN and not anyway:
        _print([(target.stem, exporting.CANNOT_RUN, findings)], version)
        raise typer.Exit(1)
    if built is None:
        raise ArgumentError(
            f"the library is not a checkout, so {wheel.name()} cannot be built, which the kernel needs"
        )
    with studio.installed(built, python), progress.shown() as tell:
        job = preparing.Job(
            str(target.resolve()),
            versions=engine_versions | {"iceberg": glue.iceberg},
            tell=progress.named(target.stem, tell),
        )
        record = runner.run(job)
    if as_json:
        print(json.dumps(records.document(record), ensure_ascii=False))
    raise typer.Exit(records.exit_code(record))


def _written(
    notebook: str,
    version: str,
    params: str | None,
    environment: str | None,
    output: str | None,
    *,
    job: bool,
    place: str | None = None,
) -> "tuple[Path, Path | None, Session, list[Finding]]":
    """Write the notebook or script and the wheel; return their paths, the session, and the check's findings."""
    import nbformat

    from workbench._base import settings
    from workbench_ops import export as exporting

    source = _read(notebook, params, environment)
    path, declared, given = source.path, source.declared, source.given
    values = {parameter.name: parameter.default for parameter in declared} | given
    env = settings.environment(values["ENVIRONMENT"]) if isinstance(values.get("ENVIRONMENT"), str) else None
    place = place or exporting.PLACE
    session = exporting.session(source.notebook, values, version=version, environment=env, place=place)
    folder = Path(output) if output else settings.home() / "exports" / f"glue-{version}"
    target = folder / f"{path.stem}{'.py' if job else '.ipynb'}"
    if target.resolve() == path:
        raise ArgumentError(f"{target} is the notebook itself; name another folder by --output")
    if job:
        text = exporting.script(source.notebook, session, declared=declared, given=given, name=path.stem)
    else:
        text = nbformat.writes(exporting.variant(source.notebook, session, given)) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    wheel = exporting.build(folder)
    return target, wheel, session, _findings(source, version, env)


@export.command("check")
def check(
    notebooks: Annotated[
        list[str] | None, typer.Argument(help="names in notebooks/ or paths; without any: all notebooks")
    ] = None,
    version: Version = "6.0",
    params: options.Params = None,
    environment: options.Environment = None,
    as_json: Annotated[bool, typer.Option("--json", help="print it as JSON")] = False,
) -> None:
    """Say cell by cell what would be different in Glue (exit 0 runs or differs, 1 cannot run, 2 refused)."""
    from workbench_ops import export as exporting
    from workbench_ops.run import notebook as reading

    if params and len(notebooks or []) != 1:
        raise ArgumentError("--params belongs to one notebook; name it")
    if not (names := notebooks or reading.every()):
        raise ArgumentError("there are no notebooks here; name one, or start in a project's folder")
    verdicts = []
    for name in names:
        source = _read(name, params, environment)
        findings = _findings(source, version)
        verdicts.append((source.path.stem, exporting.verdict(findings), findings))
    if as_json:
        facts = [
            {"notebook": name, "glue": version, "verdict": verdict, "findings": [*map(vars, findings)]}
            for name, verdict, findings in verdicts
        ]
        print(json.dumps(facts, ensure_ascii=False))
    else:
        _print(verdicts, version)
    raise typer.Exit(1 if any(verdict == exporting.CANNOT_RUN for _, verdict, _ in verdicts) else 0)


def _findings(source: _Source, version: str, environment: "settings.Environment | None" = None) -> "list[Finding]":
    """Return what the check finds in a notebook; modules beside it and in the project's folder are its own."""
    from workbench._base import settings
    from workbench_ops import export as exporting

    return exporting.check(
        source.notebook, version=version, declared=source.declared, given=source.given,
        folders=(source.path.parent, settings.home()), environment=environment,
    )  # fmt: skip


def _read(name: Path | str, params: str | None, environment: str | None) -> _Source:
    """Read a notebook; the given values are validated as by the runner."""
    from workbench_ops.run import notebook as reading

    path = reading.find(str(name))
    notebook = reading.read(path)
    declared = reading.parameters(notebook)
    given = reading.values(declared, file=params, environment=environment)
    return _Source(path, notebook, list(declared.values()), given)


def _next(
    target: Path, wheel: Path | None, session: "Session", findings: "list[Finding]", command: str, *, job: bool
) -> None:
    """Print what was written, where the wheel belongs, what an hour costs, and what to do next."""
    from workbench_ops import export as exporting

    print(f"wrote  {from_here(target)}")
    if wheel:
        print(f"wrote  {from_here(wheel)}")
        print(f"wheel  {shlex.join(['aws', 's3', 'cp', from_here(wheel), session.packages[0]])}")
    else:
        print(f"wheel  put the one that this library was installed from to {session.packages[0]}")
    print(f"cost   {session.price()}")
    if asked := _open(session):
        print(f"next   replace {', '.join(asked)} in the file by your own")
    where = "create a Glue job from it with the settings in its first lines" if job else "upload it to Glue Studio"
    print(f"next   {where}, with a role that may read the wheel and write the catalog")
    verdict = exporting.verdict(findings)
    count = f"{len(findings)} finding{'s' if len(findings) > 1 else ''}"
    print(f"check  {verdict}" + (f", {count}: {command}" if findings else ""))


def _open(session: "Session") -> list[str]:
    """Return the placeholders in a session's settings for what is not known here, the wheel's place first."""
    asked = [text for text in (session.packages[0], *session.conf.values()) if "YOUR-" in text]
    return list(dict.fromkeys(asked))


def _print(verdicts: "list[tuple[str, str, list[Finding]]]", version: str) -> None:
    for name, verdict, findings in verdicts:
        print(f"{name:28} Glue {version}: {verdict}")
        for finding in findings:
            print(f"  {finding.grade:10} {finding.sentence()}")
