"""Find what grows with every commit and is never removed by itself: manifests, snapshots, metadata files, refs."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from workbench._base import identifiers
from workbench._base.typing import Java
from workbench.tables import commits
from workbench.tables.doctor import looking
from workbench.tables.doctor.findings import LOW, MIDDLE, Finding, size
from workbench.tables.doctor.looking import Look
from workbench.tables.maintenance import expiry, manifests, metadata
from workbench.tables.maintenance.wording import count

AFTER_COMMIT = "write.metadata.delete-after-commit.enabled"
VERSIONS = "write.metadata.previous-versions-max"
CODEC = "write.metadata.compression-codec"
_VERSIONS_KEPT = 100  # Iceberg's default


def many_manifests(look: Look) -> Finding | None:
    """Manifests that every planning opens, where fewer would do."""
    if look.loaded.currentSnapshot() is None:
        return None
    worthwhile = manifests.worthwhile(look.spark, look.loaded, look.policy)
    if worthwhile is None:
        return None
    return Finding(
        "many_manifests",
        MIDDLE if worthwhile.files >= look.thresholds.high_files else LOW,
        f"{count(worthwhile.files, 'manifest')} of {size(worthwhile.bytes / worthwhile.files)} are opened to plan "
        f"a query; about {worthwhile.after:,} would do",
        "write them together, ordered by partition",
        actions=("rewrite_manifests",),
    )


def old_snapshots(look: Look) -> Finding | None:
    """Snapshots that may go by the policy, where they are many or hold many bytes that nobody reads now."""
    expiring = expiry.expirable(look.spark, look.loaded, look.policy, marks=(), now=look.now)
    if not expiring.snapshots:
        return None
    files, freed = expiry.freed(look.spark, look.loaded, expiring.snapshots)
    if len(expiring.snapshots) < look.thresholds.snapshots and not _notable(look, freed):
        return None
    return Finding(
        "old_snapshots",
        LOW,
        f"{count(len(expiring.snapshots), 'snapshot')} older than {look.policy.snapshots_older_than_days:g} days "
        f"{'holds' if len(expiring.snapshots) == 1 else 'hold'} {count(files, 'file')} of {size(freed)} "
        f"that no other needs; the table has {size(look.bytes)}",
        "expire them; marks, branches and tags of readers hold theirs",
        actions=("expire_snapshots",),
    )


def metadata_versions(look: Look) -> Finding | None:
    """A full log of metadata files on a table that deletes none: each commit leaves one that nobody knows."""
    state, properties = look.loaded.operations().current(), look.loaded.properties()
    logged, most = len(state.previousFiles()), int(properties.get(VERSIONS) or _VERSIONS_KEPT)
    if (properties.get(AFTER_COMMIT) or "false").lower() == "true" or logged < most:
        return None
    return Finding(
        "metadata_versions",
        LOW,
        f"the log of {most:,} metadata files is full and none is deleted: each commit leaves one of about "
        f"{size(_length(look))} in the storage, for ever",
        "let old ones go with each commit; those that nobody knows any more go as orphans",
        properties=((AFTER_COMMIT, "true"),),
    )


def large_metadata(look: Look) -> Finding | None:
    """A metadata file so large that writing it slows each commit, and reading it each planning."""
    length, codec = _length(look), (look.loaded.properties().get(CODEC) or "none").lower()
    if length < look.thresholds.metadata_bytes or codec == "gzip":
        return None
    known = len(commits.snapshots_of(look.spark, look.loaded))
    return Finding(
        "large_metadata",
        MIDDLE,
        f"the metadata file has {size(length)} with {count(known, 'snapshot')}: each commit writes all of it, "
        "each reader reads all of it",
        "compress it, and keep fewer snapshots",
        properties=((CODEC, "gzip"),),
    )


def dangling_refs(look: Look) -> Finding | None:
    """Old branches and tags without an end that alone hold notable bytes."""
    known, refs = metadata.lineage(look.spark, look.loaded), metadata.refs(look.loaded)
    before = (look.now - timedelta(days=look.policy.snapshots_older_than_days)).timestamp() * 1000
    old = {
        name: ref
        for name, ref in refs.items()
        if name != "main" and expiry.max_age(look.loaded, ref) is None and not expiry.solitary(name, look.policy)
        and known[ref.snapshotId()]["timestamp-ms"] < before
    }  # fmt: skip
    main = metadata.ancestors(known, commits.head(look.loaded))
    others = set(main[: look.policy.keep_snapshots]) | {id for id in main if known[id]["timestamp-ms"] >= before}
    places: dict[int, list[str]] = {}
    for name, ref in old.items():
        places.setdefault(ref.snapshotId(), []).append(name)
    notable = []
    for names in places.values():  # two of one snapshot hold it together: neither does alone
        files, freed = _alone(look, names, others, known, refs, main)
        if freed >= look.policy.target_file_bytes or _notable(look, freed):
            notable.append((freed, files, [("branch" if old[name].isBranch() else "tag", name) for name in names]))
    if not notable:
        return None
    notable.sort(reverse=True)
    phrases = [
        f"{' and '.join(map(' '.join, names))} alone hold{'s' if len(names) == 1 else ''} "
        f"{count(files, 'file')} of {size(freed)}"
        for freed, files, names in notable
    ]
    return Finding(
        "dangling_refs",
        LOW,
        "; ".join(phrases[:5]) + (f"; and {len(phrases) - 5} more" if len(phrases) > 5 else ""),
        "drop those that nobody needs, then expire snapshots; or give them a maximum age",
        statements=looking.run_as_written(
            *(
                f"ALTER TABLE {look.name()} DROP {kind.upper()} {identifiers.column(name)}"
                for _, _, names in notable
                for kind, name in names
            )
        ),
    )


def _alone(
    look: Look,
    names: Sequence[str],
    kept: Collection[int],
    known: metadata.Lineage,
    refs: Mapping[str, Java],
    main: list[int],
) -> tuple[int, int]:
    """Return (files, bytes) that refs of one snapshot hold, and neither main's kept ones nor another ref."""
    line: set[int] = set()
    needed = set(kept)
    for name, ref in refs.items():
        own = set(expiry.own(known, main, ref.snapshotId(), branch=ref.isBranch()))
        if name in names:
            line |= own
        elif name != "main":
            needed |= own
    alone = line - needed
    if not alone:
        return 0, 0
    without = metadata.without(look.spark, look.loaded, set(known) - needed - alone)
    return expiry.freed(look.spark, without, tuple(alone))


def _notable(look: Look, freed: int) -> bool:
    return freed > 0 and freed >= look.thresholds.held_share * look.bytes


def _length(look: Look) -> int:
    location = look.loaded.operations().current().metadataFileLocation()
    return look.loaded.io().newInputFile(location).getLength()
