"""How a table's rows lie in files and partitions: too small, too many, one-sided, unsorted."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.tables.doctor import looking, transforms
from workbench.tables.doctor.findings import HIGH, LOW, MIDDLE, Finding, size
from workbench.tables.doctor.looking import Field, Look, Partition
from workbench.tables.maintenance import deletes, groups
from workbench.tables.maintenance.wording import count


def small_files(look: Look) -> Finding | None:
    """Files below 75 % of the target where compaction does away with a notable share of all files."""
    worth = [part for part in look.partitions if groups.worth(part.small, part.small_bytes, look.policy)]
    files = sum(partition.small for partition in worth)
    after = sum(groups.files_after(partition.small_bytes, look.policy.target_file_bytes) for partition in worth)
    saved = files - after
    if saved <= 0 or saved < look.thresholds.gone_share * look.files:
        return None
    mean = size(sum(partition.small_bytes for partition in worth) / files)
    where = f" in {count(len(worth), 'partition')}" if look.fields() else ""
    return Finding(
        "small_files",
        HIGH if saved >= look.thresholds.high_files else MIDDLE,
        f"{files:,} of {count(look.files, 'data file')}{where} are small, {mean} on average; "
        f"about {after:,} would do",
        "compact them, and let writers commit less often or in larger batches",
        actions=("compact_data",),
    )


def delete_files(look: Look) -> Finding | None:
    """Delete files that readers apply again and again: too many a data file, too many rows, or to nothing."""
    summary = look.loaded.currentSnapshot().summary() or {} if look.loaded.currentSnapshot() else {}
    total = int(summary.get("total-delete-files") or 0)
    if not total:
        return None
    worn = sum(group.with_deletes for group in groups.worthwhile(look.spark, look.loaded, look.policy))
    worthwhile = deletes.worthwhile(look.spark, look.loaded, look.policy)
    if not worn and worthwhile is None:
        return None
    phrases = [f"each reader applies {count(total, 'delete file')} to {count(look.files, 'data file')}"]
    if worn:
        ratio = f"{look.policy.min_delete_ratio:.0%}"
        phrases.append(
            f"{count(worn, 'data file')} with {look.policy.min_deletes_per_file} of them or more, or with {ratio} "
            "of the rows deleted or more"
        )
    if worthwhile and worthwhile.small:
        phrases.append(f"{worthwhile.small:,} of them are small")
    if worthwhile and worthwhile.dangling:
        phrases.append(f"{worthwhile.dangling:,} of them apply to nothing any more")
    return Finding(
        "delete_files",
        HIGH if worn * 2 > look.files else MIDDLE if worn else LOW,
        "; ".join(phrases),
        "rewrite what lost many rows, and write the delete files together",
        actions=(("compact_data",) if worn else ()) + (("rewrite_deletes",) if worthwhile or worn else ()),
    )


def partitioning(look: Look) -> Finding | None:
    """So many partitions with so little in them that opening costs more than reading; and which field is why.

    A partition that holds a file of the target size is large enough, however small that target is.
    """
    own, fields = look.of_this_spec(), look.fields()
    bound, target = look.thresholds, look.policy.target_file_bytes
    if not fields or len(own) < bound.partitions:
        return None
    median = statistics.median(partition.bytes for partition in own)
    if median >= min(bound.partition_bytes, target):
        return None
    field, distinct = _most(own, fields)
    # half of the present ones hold less than they should, so that the target is the other half at most
    target_count = max(1, min(sum(partition.bytes for partition in own) // target, len(own) // 2))
    values = [dict(partition.values)[field["name"]] for partition in own]
    others = len({_others(partition, field) for partition in own})
    proposed = transforms.proposed(field, values, max(1, target_count // others))
    wrong = transforms.wrong(field, distinct, bound.partitions)
    what = f"{count(len(own), 'partition')} hold {size(look.bytes)}, half of them less than {size(max(median, 1))}"
    why = f"; {field['transform']}({field['column']}) alone makes {distinct:,}"
    if wrong:
        why += f", {wrong}"
    return Finding(
        "wrong_partition_transform" if wrong else "too_many_partitions",
        HIGH,
        what + why,
        f"{transforms.sentence(proposed, field, target_count, others)}, then rewrite the data: "
        f"{_brings(look, own, field, transforms.applied(proposed, field, values))}",
        statements=looking.run_as_written(transforms.statement(look.name(), field, proposed)),
    )


def _brings(look: Look, own: Sequence[Partition], field: Field, applied: Mapping[Any, Any]) -> str:
    """Estimate how many partitions and files a field's new transform makes of the present ones."""
    sums: dict[tuple[Any, ...], int] = {}
    for partition in own:
        key = (applied[dict(partition.values)[field["name"]]], _others(partition, field))
        sums[key] = sums.get(key, 0) + partition.bytes
    files = sum(groups.files_after(total, look.policy.target_file_bytes) for total in sums.values())
    sentence = (
        f"about {count(len(sums), 'partition')} for {len(own):,}, with {count(files, 'file')} of the target size "
        "or less, as estimated from the values and bytes of now"
    )
    if len(sums) >= look.thresholds.partitions:
        sentence += "; that is still many, so look again then"
    return sentence


def _others(partition: Partition, field: Field) -> tuple[Any, ...]:
    """Return a partition's values of all fields but one."""
    return tuple(value for name, value in partition.values if name != field["name"])


def _most(partitions: Sequence[Partition], fields: Sequence[Field]) -> tuple[Field, int]:
    """Return the field with most values, and how many."""
    names = [field["name"] for field in fields]
    counts = {name: len({dict(partition.values)[name] for partition in partitions}) for name in names}
    field = max(fields, key=lambda field: counts[field["name"]])
    return field, counts[field["name"]]


def skewed_partitions(look: Look) -> Finding | None:
    """One partition that holds many times what the others hold, and more than one file should."""
    own = look.of_this_spec()
    if not look.fields() or len(own) < look.thresholds.skew_members:
        return None
    median = statistics.median(partition.bytes for partition in own)
    most = max(own, key=lambda partition: partition.bytes)
    if most.bytes <= max(look.thresholds.skew_factor * median, look.policy.target_file_bytes):
        return None
    return Finding(
        "skewed_partitions",
        MIDDLE,
        f"partition {most.name} holds {size(most.bytes)} of {size(look.bytes)}, {most.bytes / median:,.0f} times "
        f"the median of {count(len(own), 'partition')}",
        "divide it further, by a bucket of a column that queries ask by or by a finer time; if its value means "
        "unknown, find out why so many rows have none",
        statements=looking.run_as_written(
            transforms.divided(look.name(), look.fields(), look.columns, most, look.policy)
        ),
    )


def skewed_files(look: Look) -> Finding | None:
    """A file so much larger than the others that one task reads on when all others are done."""
    members = [partition for partition in look.partitions if partition.files >= 1]
    if look.files < look.thresholds.skew_members:
        return None
    largest = max(partition.largest for partition in members)
    rest = sum(partition.bytes for partition in members) - largest
    mean = rest / (look.files - 1)
    if largest <= max(
        look.thresholds.skew_factor * mean, look.thresholds.oversize * look.policy.target_file_bytes
    ):
        return None
    return Finding(
        "skewed_files",
        LOW,
        f"one data file has {size(largest)}, the other {look.files - 1:,} have {size(mean)} on average",
        "rewrite it: maintenance leaves large files alone, Iceberg's own action splits them",
        statements=(
            f"CALL {look.procedures()}.rewrite_data_files(table => {look.argument()}, options => map("
            f"'target-file-size-bytes', '{look.policy.target_file_bytes}'))",
        ),
    )
