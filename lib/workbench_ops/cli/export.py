"""`workbench export`: notebooks for AWS Glue and what would be different there, and functions of AWS Lambda."""

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from workbench._base.errors import ArgumentError
from workbench_ops.cli.printing import from_here

export = typer.Typer(help="Notebooks for AWS Glue, and functions of AWS Lambda.", no_args_is_help=True)
Version = Annotated[str, typer.Option(help="of Glue: 6.0 or 5.1")]
Params = Annotated[str | None, typer.Option(metavar="FILE", help="flat YAML file: names and values")]
Environment = Annotated[str | None, typer.Option(help="value for ENVIRONMENT")]
Output = Annotated[
    str | None, typer.Option(metavar="DIR", help="left out: exports/glue-VERSION, which git ignores")
]


@export.command("glue")
def glue(
    notebook: Annotated[str, typer.Argument(help="name in notebooks/, or path of any notebook")],
    version: Version = "6.0",
    params: Params = None,
    environment: Environment = None,
    output: Output = None,
    job: Annotated[bool, typer.Option("--job", help="the job script instead of the notebook")] = False,
    place: Annotated[
        str | None, typer.Option(metavar="S3_URI", help="folder on S3 where the wheel will be")
    ] = None,
):
    """Write a notebook for Glue Studio, or a job script, with the library as a wheel beside it."""
    made = _written(notebook, version, params, environment, output, job=job, place=place)
    options = {"--environment": environment, "--params": params, "--version": version}
    given = [word for pair in options.items() if pair[1] for word in pair]
    _next(*made, shlex.join(["workbench", "export", "check", notebook, *given]), job=job)


@export.command("lambda")
def lambda_(
    source: Annotated[
        str, typer.Argument(metavar="NOTEBOOK|MODULE", help="with cells tagged lambda; a .py file or its folder")
    ],
    output: Annotated[str | None, typer.Option(metavar="DIR", help="left out: exports/lambda")] = None,
    package: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="one more installed package to take along")
    ] = None,
):
    """Write the zip of a function of AWS Lambda that fits its limit, and say how it is deployed."""
    from workbench._base import settings
    from workbench.light import functions
    from workbench_ops.cli import from_here
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
    notebook: Annotated[str, typer.Argument(help="name in notebooks/, or path of any notebook")],
    version: Version = "6.0",
    params: Params = None,
    environment: Environment = None,
    output: Output = None,
    anyway: Annotated[bool, typer.Option("--anyway", help="even if the check says that it cannot")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the run record as JSON on the last line")] = False,
):
    """Export a notebook and run that very file here, in a kernel like Glue's (exit codes as `workbench run`)."""
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
            f"the library is no checkout, so {wheel.name()} cannot be built, and the kernel needs it"
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
    raise typer.Exit(record.exit_code)


def _written(notebook, version, params, environment, output, *, job, place=None):
    """Write the notebook or script and the wheel; return where both are, the session, and what the check found."""
    from workbench._base import settings
    from workbench_ops import export as exporting

    path, found, declared, given = _read(notebook, params, environment)
    values = {one.name: one.default for one in declared} | given
    env = settings.environment(values["ENVIRONMENT"]) if isinstance(values.get("ENVIRONMENT"), str) else None
    session = exporting.session(found, values, version=version, environment=env, place=place or exporting.PLACE)
    folder = Path(output) if output else settings.home() / "exports" / f"glue-{version}"
    target = folder / f"{path.stem}{'.py' if job else '.ipynb'}"
    if target.resolve() == path:
        raise ArgumentError(f"{target} is the notebook itself; name another folder by --output")
    text = _text(exporting, found, session, declared, given, path.stem, job)
    folder.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    wheel = exporting.build(folder)
    return target, wheel, session, _findings(path, found, version, declared, given, env)


@export.command("check")
def check(
    notebooks: Annotated[
        list[str] | None, typer.Argument(help="names in notebooks/ or paths; left out: all of them")
    ] = None,
    version: Version = "6.0",
    params: Params = None,
    environment: Environment = None,
    as_json: Annotated[bool, typer.Option("--json", help="print it as JSON")] = False,
):
    """Say cell by cell what would be different in Glue (exit 0 runs or differs, 1 cannot run, 2 refused)."""
    from workbench_ops import export as exporting
    from workbench_ops.run import notebook as reading

    if params and len(notebooks or []) != 1:
        raise ArgumentError("--params belongs to one notebook; name it")
    if not (named := notebooks or reading.every()):
        raise ArgumentError("there are no notebooks here; name one, or start in a project's folder")
    told = []
    for name in named:
        path, found, declared, given = _read(name, params, environment)
        findings = _findings(path, found, version, declared, given)
        told.append((path.stem, exporting.verdict(findings), findings))
    if as_json:
        facts = [
            {"notebook": name, "glue": version, "verdict": verdict, "findings": [vars(one) for one in findings]}
            for name, verdict, findings in told
        ]
        print(json.dumps(facts, ensure_ascii=False))
    else:
        _print(told, version)
    raise typer.Exit(1 if any(verdict == exporting.CANNOT_RUN for _, verdict, _ in told) else 0)


def _findings(path, notebook, version, declared, given, environment=None):
    """Return what the check finds in a notebook; modules beside it and in the project's folder are its own."""
    from workbench._base import settings
    from workbench_ops import export as exporting

    own = (path.parent, settings.home())
    return exporting.check(
        notebook, version=version, declared=declared, given=given, folders=own, environment=environment
    )


def _read(notebook, params, environment):
    """Return a notebook's path, the notebook, its parameters and the given values, checked as the runner does."""
    from workbench_ops.run import notebook as reading

    path = reading.find(str(notebook))
    found = reading.read(path)
    declared = reading.parameters(found)
    given = reading.values(declared, file=params, environment=environment)
    return path, found, list(declared.values()), given


def _text(exporting, notebook, session, declared, given, name, job):
    import nbformat

    if job:
        return exporting.script(notebook, session, declared=declared, given=given, name=name)
    return nbformat.writes(exporting.variant(notebook, session, given)) + "\n"


def _next(target, wheel, session, findings, command, *, job):
    """Say what was written, where the wheel goes, what an hour costs, and what comes next."""
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


def _open(session):
    """Return what stands in a session's settings for something that is not known here, the wheel's place first."""
    asked = [text for text in (session.packages[0], *session.conf.values()) if "YOUR-" in text]
    return list(dict.fromkeys(asked))


def _print(told, version):
    for name, verdict, findings in told:
        print(f"{name:28} Glue {version}: {verdict}")
        for one in findings:
            print(f"  {one.grade:10} {one.sentence()}")
