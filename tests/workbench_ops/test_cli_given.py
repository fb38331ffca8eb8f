"""What users give commands: pairs of a name and a value, and functions in files of their own."""

import pytest

from workbench_ops.cli import given


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["a"], "--bind must be NAME=VALUE, found 'a'"),
        (["=b"], "--bind must be NAME=VALUE, found '=b'"),
        (["a=b", "a=c"], "--bind has a twice"),
    ],
)
def test_pairs_that_are_wrong(texts, words):
    with pytest.raises(ValueError, match=words):
        given.pairs("--bind", texts)
    with pytest.raises(ValueError, match="--column must be HEADER=TYPE, found 'a='"):
        given.pairs("--column", ["a="], form="HEADER=TYPE", filled=True)


def test_pairs_that_are_right():
    assert given.pairs("--bind", ["a=b=c", "d="]) == {"a": "b=c", "d": ""}
    assert given.pairs("--bind", None) == {}


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (b"\xff", "cannot be read"),
        (b"import no_such_module", "failed: ModuleNotFoundError: No module named 'no_such_module'"),
        (b"def f(:", "failed: SyntaxError"),
        (b"import sys; sys.exit(3)", "failed: SystemExit: 3"),
        (b"g = 5", "has no function g"),
    ],
)
def test_a_file_that_is_wrong(tmp_path, code, words):
    file = tmp_path / "own.py"
    file.write_bytes(code)
    with pytest.raises(ValueError, match=f"--functions: {file} {words}"):
        given.functions(str(file), ["g"], option="--functions")
    with pytest.raises(ValueError, match=r"none.py cannot be read"):
        given.functions(str(tmp_path / "none.py"), ["g"])


def test_functions_are_sent_to_workers_by_their_code_and_a_scripts_own_part_does_not_run(tmp_path):
    from pyspark import cloudpickle

    file = tmp_path / "own.py"
    file.write_text(
        "FACTOR = 3\ndef g(n): return FACTOR * n\nif __name__ == '__main__': raise SystemExit('ran')\n"
    )
    function = given.functions(str(file), ["g"])["g"]
    file.unlink()
    assert cloudpickle.loads(cloudpickle.dumps(function))(2) == 6
