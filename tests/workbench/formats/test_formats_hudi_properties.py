"""`hoodie.properties` is read as Java reads it, and what cannot be read so is one sentence."""

import pytest
from conftest import PROVE
from hudi_tables import Written, at, rows, table
from hypothesis import HealthCheck, given, settings, strategies

from workbench import formats
from workbench._base.errors import ArgumentError
from workbench.formats.hudi import properties


@pytest.mark.parametrize(("content", "pairs"), [
    (b"a=1\nb = 2\nc:3\nd : 4\ne 5\nf\t=\t6\ng\x0c7\nh", {"a": "1", "b": "2", "c": "3", "d": "4", "e": "5", "f": "6", "g": "7", "h": ""}),
    (b"# a=1\n ! b=2\n\n \t\n  c=3", {"c": "3"}),
    (b"a=1\\\n   2\\\r\n\t3\nb=\\\\\nc=4", {"a": "123", "b": "\\", "c": "4"}),
    (b"# no more\\\na=1\nb=\\\n# a value", {"a": "1", "b": "# a value"}),
    (b"a\\=b\\:c\\ d=e=f:g h\n", {"a=b:c d": "e=f:g h"}),
    (b"a=\\t\\n\\r\\f\\q\\u00f6\\u00DF\\ud83d\\ude00\n", {"a": "\t\n\r\fq\xf6\xdf\U0001f600"}),
    (b"a=\xe9\x85\x0b \rb=2\r\rc=3", {"a": "\xe9\x85\x0b ", "b": "2", "c": "3"}),
    (b"a=1\na=2\n= 3\nb==4\nc= :5", {"a": "2", "": "3", "b": "=4", "c": ":5"}),
    (b"a=1\\", {"a": "1"}),
    (b"a\\\n  =1\n\nb=2\\\n\nc=3", {"a": "1", "b": "2", "c": "3"}),
])  # fmt: skip
def test_what_a_file_says(content, pairs):
    assert properties.parsed(content) == pairs


@pytest.mark.parametrize("content", [b"a=\\u12\n", b"a=\\uzzzz", b"a=\\ud83d\n"])
def test_what_java_would_not_take(content, table):
    with pytest.raises(ValueError):
        properties.parsed(content)
    (table.path / ".hoodie/hoodie.properties").write_bytes(content)
    with pytest.raises(ArgumentError, match=r"t/\.hoodie/hoodie\.properties is damaged: "):
        formats.look(table.path)


@pytest.mark.parametrize(("before", "after", "words"), [
    (b"hoodie.datasource.write.drop.partition.columns=false", b" hoodie.datasource.write.drop.partition.columns : true", "the partition columns"),
    (b"hoodie.table.base.file.format=PARQUET", b"hoodie.table.base.file.format\tORC", "the source's files are ORC"),
    (b"hoodie.table.base.file.format=PARQUET", b"hoodie.table.base.file.format=O\\\n\tRC", "the source's files are ORC"),
    (b"hoodie.table.base.file.format=PARQUET", b"hoodie.table.base.file.format=\\u004fRC", "the source's files are ORC"),
])  # fmt: skip
def test_settings_however_they_are_written(before, after, words, table):
    table.commit(at(1), table.file("one", at(1), rows(0, 10)))
    assert formats.look(table.path).obstacles == ()
    file = table.path / ".hoodie/hoodie.properties"
    assert before in file.read_bytes()
    file.write_bytes(file.read_bytes().replace(before, after))
    assert formats.look(table.path).obstacles[0].startswith(words)


@settings(max_examples=3000 if PROVE else 100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    strategies.lists(
        strategies.sampled_from([*map(bytes, zip(b"ab=:# \t\f\\\\\r\n!u0\xe9")), b"\\u00e9", b"\r\n"])
    )
)
def test_java_itself_reads_the_same(spark, parts):
    content = b"".join(parts)
    jvm = spark._jvm
    read = jvm.java.util.Properties()
    try:
        read.load(jvm.java.io.ByteArrayInputStream(content))
    except Exception:
        with pytest.raises(ValueError):
            properties.parsed(content)
    else:
        # of a key that is empty Java's answer hangs on where the file ends
        ours, java = (
            {key: value for key, value in pairs.items() if key} for pairs in (properties.parsed(content), read)
        )
        assert ours == java
