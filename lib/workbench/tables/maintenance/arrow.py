"""The fast way: small plain files rewritten by PyArrow, then one commit through Iceberg."""


def rewrite(spark, table, groups, policy, *, tries):
    """Not there yet."""
    return None, "there is no fast way yet"
