"""A policy as calls of AWS Lake Formation, each checked against botocore's model of the service.

Tags are put on columns alone, never on tables or databases, and excluded columns become lists of the others: so
that a column which is added later is hidden there too. Nothing is sent from here, and none of it was tried on an
account: `IAMAllowedPrincipals` must have lost its grants first.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench._base.typing import Judged
from workbench.access import conditions, deciding
from workbench.access.conditions import Combination, Condition, Predicate
from workbench.access.policies import Grant, Parts, Policy, extension
from workbench.access.typing import IcebergTable

MOST_CHARACTERS = 2047  # of a filter: "less than 2048", though the model's pattern takes one more
MOST_FILTERS = 100  # granted to one principal on one table
MOST_VALUES = 50  # of a tag in one call
_MARKS = {"LFTagKey": "_.:/=+-@%", "LFTagValue": "_.:*/=+-@%"}  # beside letters, digits and spaces


@dataclass(frozen=True)
class Call:
    """A call of Lake Formation.

    Attributes:
        operation: its name, such as GrantPermissions.
        by: who is to send it, by the policy: an administrator, or who may grant on.
        arguments: as boto3 takes them.
    """

    operation: str
    by: str
    arguments: Mapping[str, Any]


@checked
def lake_formation(
    policy: Policy, tables: Judged[Mapping[str, IcebergTable]], *, account: str
) -> tuple[Call, ...]:
    """Return the calls by which Lake Formation decides as the policy does.

    Args:
        policy: as `read` returns it.
        tables: name to PyIceberg's Table, of all tables in the policy: their columns and partitions as of now.
        account: AWS account of the Glue catalog, 12 digits.

    Returns:
        Calls in the order in which they are to be sent: CreateLFTag, AddLFTagsToResource, CreateDataCellsFilter,
        GrantPermissions.

    Raises:
        ArgumentError: Lake Formation would refuse it or answer otherwise: a filter on a double that shows NaN to
            some engines, IS NULL on a partition column, cells of a nested column, more than 100 filters; a
            principal without an ARN; a name that Glue does not keep.
        MissingPackageError: botocore is not installed.
    """
    if not re.fullmatch("[0-9]{12}", account):
        raise ArgumentError(f"account is an AWS account of 12 digits, found {account!r}")
    known = {policy.key(name): table for name, table in tables.items()}
    for parts, declared in policy.tables.items():
        if parts not in known:
            raise ArgumentError(f"tables lacks {declared.name}, which is in the policy")
        _judge_names(parts, known[parts])
        deciding.refuse_another_uuid(declared.name, declared.uuid, str(known[parts].metadata.table_uuid))
    _judge_tags(policy)
    _judge_filter_counts(policy)
    calls = [
        *_tags(policy),
        *_tagged(policy, known),
        *_filters(policy, known, account),
        *_grants(policy, known, account),
    ]
    _check(calls)
    return tuple(calls)


def _judge_names(parts: Parts, table: IcebergTable) -> None:
    name = identifiers.spelled(parts)
    if len(parts) != 2:
        raise ArgumentError(f"{name} has {len(parts)} parts; Glue has a database and a table")
    for part in (*parts, *(field.name for field in table.schema().fields)):
        if part != part.lower():
            raise ArgumentError(f"{part} of {name} has capital letters, which Glue makes small")


def _judge_tags(policy: Policy) -> None:
    """Refuse tags that Lake Formation, which makes letters small, could not keep apart."""
    for names in (policy.tags, *policy.tags.values()):
        if len({name.lower() for name in names}) < len(names):
            raise ArgumentError(f"two of {', '.join(names)} differ by case only, which Lake Formation loses")
    for key, values in policy.tags.items():
        if len(values) > MOST_VALUES:
            raise ArgumentError(f"the tag {key} has {len(values)} values; a call takes at most {MOST_VALUES}")


def _judge_filter_counts(policy: Policy) -> None:
    counts: dict[tuple[str, Parts], int] = {}
    for grant in policy.grants:
        if grant.filter is not None:
            place = grant.to, policy.key(str(grant.table))
            counts[place] = counts.get(place, 0) + 1
            if counts[place] > MOST_FILTERS:
                raise ArgumentError(
                    f"{grant.to} has more than {MOST_FILTERS} filters on {grant.table}, which is refused there"
                )


def _columns(policy: Policy, known: Mapping[Parts, IcebergTable], parts: Parts) -> dict[str, Any]:
    """Return the policy's name of each bound column to the field that it is in the table."""
    declared = policy.tables[parts]
    fields = {field.field_id: field for field in known[parts].schema().fields}
    bound = {}
    for label, column in declared.columns.items():
        if column.id in fields and not set(deciding.nested(fields[column.id])) - set(column.fields):
            bound[label] = fields[column.id]
    return bound


def _tags(policy: Policy) -> Iterator[Call]:
    by = policy.administrators[0]
    for key, values in policy.tags.items():
        yield Call("CreateLFTag", by, {"TagKey": key, "TagValues": list(values)})


def _tagged(policy: Policy, known: Mapping[Parts, IcebergTable]) -> Iterator[Call]:
    for parts, declared in policy.tables.items():
        alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
        for label, field in _columns(policy, known, parts).items():
            alike.setdefault(tuple(sorted(declared.tags[label].items())), []).append(field.name)
        for tags, names in alike.items():
            if tags:
                pairs = [{"TagKey": key, "TagValues": [value]} for key, value in tags]
                resource = {"TableWithColumns": _table(parts) | {"ColumnNames": names}}
                yield Call(
                    "AddLFTagsToResource", policy.administrators[0], {"Resource": resource, "LFTags": pairs}
                )


def _table(parts: Parts) -> dict[str, Any]:
    return {"DatabaseName": parts[0], "Name": parts[1]}


def _filters(policy: Policy, known: Mapping[Parts, IcebergTable], account: str) -> Iterator[Call]:
    """Yield a data cells filter a grant with a filter: its rows, and the columns of the grant."""
    for number, grant in enumerate(policy.grants, 1):
        if grant.filter is None:
            continue
        parts = policy.key(str(grant.table))
        columns = _columns(policy, known, parts)
        covered = [columns[label] for _, label in extension(policy, grant) if label in columns]
        if nested := [field.name for field in covered if not field.field_type.is_primitive]:
            raise ArgumentError(
                f"grant {number} shows cells of {nested[0]}, which is nested; Lake Formation hides whole columns "
                "of that kind only"
            )
        text = _text(policy, grant, columns, known[parts])
        data = {"TableCatalogId": account, "DatabaseName": parts[0], "TableName": parts[1],
                "Name": _filter_name(number, grant), "RowFilter": {"FilterExpression": text},
                "ColumnNames": [field.name for field in covered]}  # fmt: skip
        if covered:
            yield Call("CreateDataCellsFilter", grant.by, {"TableData": data})


def _filter_name(number: int, grant: Grant) -> str:
    return f"{grant.filter}-{number}"


def _text(policy: Policy, grant: Grant, columns: Mapping[str, Any], table: IcebergTable) -> str:
    """Return a filter in Lake Formation's words, the columns by the names that they have now."""
    declared = policy.filters[str(grant.filter)]
    try:
        for predicate in conditions.predicates(declared.condition):
            if predicate.column not in columns:
                raise ArgumentError(f"it reads {predicate.column}, which is not bound to a column of the table")
        condition = conditions.bound(declared.condition, columns)
        partitioned = {field.source_id for field in table.spec().fields}
        for predicate in conditions.predicates(condition):
            if predicate.operator == "IS NULL" and predicate.field_id in partitioned:
                raise ArgumentError(f"IS NULL on the partition column {predicate.column} is refused there")
        if (shows := next(_shows_nan(condition), None)) is not None:
            raise ArgumentError(
                f"{conditions.rendered(shows, 'lake-formation')} may hold for NaN there, which hides cells here"
            )
    except ArgumentError as error:
        raise ArgumentError(f"the filter {grant.filter} cannot be exported: {error}") from None
    text = conditions.rendered(condition, "lake-formation")
    if len(text) > MOST_CHARACTERS:
        raise ArgumentError(
            f"the filter {grant.filter} has {len(text):,} characters there; at most 2,047 are taken"
        )
    return text


def _shows_nan(condition: Condition, negated: bool = False) -> Iterator[Predicate]:
    """Yield comparisons of doubles that are TRUE for NaN in some engine: above a number, or not equal to one."""
    if isinstance(condition, Combination):
        for part in condition.parts:
            yield from _shows_nan(part, negated != (condition.operator == "NOT"))
    elif condition.kind == "double" and condition.operator != "IS NULL":
        upwards = condition.operator in (">", ">=", "<>")
        if upwards or negated:
            yield condition


def _grants(policy: Policy, known: Mapping[Parts, IcebergTable], account: str) -> Iterator[Call]:
    for number, grant in enumerate(policy.grants, 1):
        arn = policy.principals[grant.to].arn
        if arn is None:
            raise ArgumentError(f"{grant.to} has no arn, by which Lake Formation knows a principal")
        resource = _resource(policy, grant, number, known, account)
        if resource is None:
            continue  # of columns that are not bound: nobody may see them
        arguments = {
            "Principal": {"DataLakePrincipalIdentifier": arn},
            "Resource": resource,
            "Permissions": ["SELECT"],
        }
        if grant.grantable:
            arguments["PermissionsWithGrantOption"] = ["SELECT"]
        yield Call("GrantPermissions", grant.by, arguments)


def _resource(
    policy: Policy, grant: Grant, number: int, known: Mapping[Parts, IcebergTable], account: str
) -> dict[str, Any] | None:
    if grant.tags is not None:
        pairs = [{"TagKey": key, "TagValues": list(values)} for key, values in grant.tags.items()]
        return {"LFTagPolicy": {"ResourceType": "TABLE", "Expression": pairs}}
    parts = policy.key(str(grant.table))
    columns = _columns(policy, known, parts)
    names = [columns[label].name for _, label in extension(policy, grant) if label in columns]
    if not names:
        return None
    if grant.filter is None:
        return {"TableWithColumns": _table(parts) | {"ColumnNames": names}}
    place = {"TableCatalogId": account, "DatabaseName": parts[0], "TableName": parts[1]}
    return {"DataCellsFilter": place | {"Name": _filter_name(number, grant)}}


def _check(calls: list[Call]) -> None:
    """Refuse calls that botocore's model of the service does not allow."""
    try:
        from botocore.session import get_session
        from botocore.validate import ParamValidator
    except ModuleNotFoundError as error:
        raise MissingPackageError("the export needs botocore: pip install 'iceberg-workbench[aws]'") from error
    model = get_session().get_service_model("lakeformation")
    for call in calls:
        shape = model.operation_model(call.operation).input_shape
        report = ParamValidator().validate(call.arguments, shape)
        if report.has_errors():
            raise ArgumentError(f"{call.operation} is not what Lake Formation takes: {report.generate_report()}")
        for problem in _beyond(shape, call.arguments, call.operation):
            raise ArgumentError(f"{problem}, which Lake Formation refuses")


def _beyond(shape: Any, value: Any, path: str) -> Iterator[str]:
    """Yield what botocore leaves to the service: greatest lengths, allowed words, signs of tags."""
    if shape.type_name == "structure":
        for name, member in value.items():
            yield from _beyond(shape.members[name], member, f"{path}.{name}")
    elif shape.type_name == "list":
        for member in value:
            yield from _beyond(shape.member, member, path)
    if len(value) > shape.metadata.get("max", len(value)):
        yield f"{path} has a length of {len(value)}, at most {shape.metadata['max']}"
    if (allowed := getattr(shape, "enum", None)) and value not in allowed:
        yield f"{path} is {value}, one of {', '.join(allowed)}"
    if (marks := _MARKS.get(shape.name)) is not None:
        for sign in value:
            if unicodedata.category(sign)[0] not in "LNZ" and sign not in marks:
                yield f"{path} has the sign {sign!r}, a tag has letters, digits, spaces and {marks}"
