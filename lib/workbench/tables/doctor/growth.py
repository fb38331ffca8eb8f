"""What grows with every commit and goes by nobody's doing: manifests, snapshots, metadata files, refs."""

from datetime import timedelta

from workbench._base import identifiers
from workbench.tables import commits
from workbench.tables.doctor import looking
from workbench.tables.doctor.findings import LOW, MIDDLE, Finding, size
from workbench.tables.maintenance import expiry, manifests, metadata
from workbench.tables.maintenance.wording import count

AFTER_COMMIT = "write.metadata.delete-after-commit.enabled"
VERSIONS = "write.metadata.previous-versions-max"
CODEC = "write.metadata.compression-codec"
_VERSIONS_KEPT = 100  # Iceberg's default


def many_manifests(look):
    """Manifests that every planning opens, where fewer would do."""
    if look.loaded.currentSnapshot() is None:
        return None
    found = manifests.found(look.spark, look.loaded, look.policy)
    if found is None:
        return None
    return Finding(
        "many_manifests",
        MIDDLE if found.files >= look.thresholds.high_files else LOW,
        f"{count(found.files, 'manifest')} of {size(found.bytes / found.files)} are opened to plan a query; "
        f"about {found.after:,} would do",
        "write them together, ordered by partition",
        actions=("rewrite_manifests",),
    )


def old_snapshots(look):
    """Snapshots that may go by the policy, where they are many or hold many bytes that nobody reads now."""
    found = expiry.expirable(look.spark, look.loaded, look.policy, marks=(), now=look.now)
    if not found.snapshots:
        return None
    files, held = expiry.freed(look.spark, look.loaded, found.snapshots)
    if len(found.snapshots) < look.thresholds.snapshots and not _notable(look, held):
        return None
    return Finding(
        "old_snapshots",
        LOW,
        f"{count(len(found.snapshots), 'snapshot')} older than {look.policy.snapshots_older_than_days:g} days "
        f"{'holds' if len(found.snapshots) == 1 else 'hold'} {count(files, 'file')} of {size(held)} "
        f"that no other needs; the table has {size(look.bytes)}",
        "expire them; marks, branches and tags of readers hold theirs",
        actions=("expire_snapshots",),
    )


def metadata_versions(look):
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


def large_metadata(look):
    """A metadata file so large that writing it slows each commit, and reading it each planning."""
    length, there = _length(look), (look.loaded.properties().get(CODEC) or "none").lower()
    if length < look.thresholds.metadata_bytes or there == "gzip":
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


def dangling_refs(look):
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
    others = set(main[: look.policy.keep_snapshots]) | {
        one for one in main if known[one]["timestamp-ms"] >= before
    }
    places = {}
    for name, ref in old.items():
        places.setdefault(ref.snapshotId(), []).append(name)
    found = []
    for names in places.values():  # two of one snapshot hold it together: neither does alone
        files, held = _alone(look, names, others, known, refs, main)
        if held >= look.policy.target_file_bytes or _notable(look, held):
            found.append((held, files, [("branch" if old[name].isBranch() else "tag", name) for name in names]))
    if not found:
        return None
    found.sort(reverse=True)
    said = [
        f"{' and '.join(map(' '.join, names))} alone hold{'s' if len(names) == 1 else ''} "
        f"{count(files, 'file')} of {size(held)}"
        for held, files, names in found
    ]
    return Finding(
        "dangling_refs",
        LOW,
        "; ".join(said[:5]) + (f"; and {len(said) - 5} more" if len(said) > 5 else ""),
        "drop those that nobody needs, then expire snapshots; or give them a maximum age",
        statements=looking.run_as_written(
            *(
                f"ALTER TABLE {look.name()} DROP {kind.upper()} {identifiers.column(name)}"
                for _, _, names in found
                for kind, name in names
            )
        ),
    )


def _alone(look, names, kept, known, refs, main):
    """Return (files, bytes) that refs of one snapshot hold, and neither main's kept ones nor another ref."""
    line, needed = set(), set(kept)
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


def _notable(look, held):
    return held > 0 and held >= look.thresholds.held_share * look.bytes


def _length(look):
    location = look.loaded.operations().current().metadataFileLocation()
    return look.loaded.io().newInputFile(location).getLength()
