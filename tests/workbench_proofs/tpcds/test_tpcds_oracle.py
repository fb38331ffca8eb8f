"""The oracle's answers, the judgement, and what is remembered of it: planted wrong answers fail every time."""

import dataclasses
import json
from decimal import Decimal

import duckdb
import pytest

from workbench.engines import profiles as engines
from workbench_proofs.tpcds import answers, asking, data, kept, oracle, processes, runs, texts, verdicts
from workbench_proofs.tpcds.verdicts import Judgement


@pytest.fixture(scope="module")
def generated():
    return data.generate(0.01)


@pytest.fixture(scope="module")
def ask(generated):
    with oracle.witness(generated) as found:
        yield found


def planted(answer, row, column, value):
    """The same answer with one other value."""
    rows = [list(one) for one in answer.rows]
    rows[row][column] = value
    return dataclasses.replace(answer, rows=tuple(tuple(one) for one in rows))


def judge(query, answer, ask, generated, place=None, **options):
    options = {"family": "spark", "unlimited": lambda: ask(query, False).answer} | options
    return oracle.judge(query, answer, ask, data=generated.digest, place=place, **options)


def test_an_answer_and_its_sort_keys(ask):
    """ORDER BY c_last_name, c_first_name, c_salutation, c_preferred_cust_flag DESC, ss_ticket_number."""
    found = ask("q34")
    assert found == verdicts.Oracle(
        found.answer,
        ((None, "Ernestina", None, None, 224), ("Robbins", "Ruth", "Ms.", "N", 60)),
        None,
        (0, 1, 2, 3, 4),
    )
    assert found.answer.rows == ((None, "Ernestina", None, None, 224, 15), ("Robbins", "Ruth", "Ms.", "N", 60, 15))
    assert [column.kind for column in found.answer.columns] == ["text"] * 4 + ["whole"] * 2
    assert ask("q90").answer.rows == ((None,),)


def test_hidden_keys_are_no_part_of_the_answer(ask):
    """ORDER BY sum_sales - avg_monthly_sales, s_store_name: a column that nobody selects."""
    found = ask("q89")
    assert len(found.answer.columns) == 8 and len(found.answer.rows) == 21
    differences = [key[0] for key in found.keys]
    assert differences == sorted(differences)
    assert found.positions == (-1, -2)
    assert [round(float(row[6]) - row[7], 6) for row in found.answer.rows] == [round(d, 6) for d in differences]


def test_duckdb_as_an_engine_gives_the_answer_without_the_keys(ask, generated):
    connection = data.connect(generated)
    ran = asking.run(engines.engine("duckdb"), "q89", connection)
    long = asking.run(engines.engine("duckdb"), "q22", connection, limited=False)
    connection.close()
    assert ran.answer == ask("q89").answer and ran.seconds > 0
    assert long.answer == ask("q22", limited=False).answer


def test_without_its_limit_an_answer_goes_on(ask):
    short, long = ask("q22"), ask("q22", limited=False)
    assert (len(short.answer.rows), short.limit, long.limit) == (100, 100, None)
    assert long.answer.rows[:100] == short.answer.rows and len(long.answer.rows) > 100


def test_a_right_answer_is_verified_and_a_planted_wrong_one_is_not(ask, generated):
    right = ask("q42").answer
    assert right.rows == ((2000, 7, "Home", Decimal("43822.54")),)
    assert judge("q42", right, ask, generated) == Judgement("equal", "1 rows in the same order")
    wrong = judge("q42", planted(right, 0, 3, Decimal("43822.55")), ask, generated)
    assert wrong.kind == "different"
    assert "row 1, column 4 (sum(ss_ext_sales_price)): found 43822.55, expected 43822.54" in wrong.sentence


def test_duckdb_does_not_vouch_for_itself(ask, generated):
    with pytest.raises(ValueError, match="duckdb cannot vouch for itself"):
        judge("q42", ask("q42").answer, ask, generated, family="duckdb")


def test_answers_judged_by_different_rules_do_not_forget_each_other(tmp_path):
    for rule in ("rounded", "cut"):
        kept.keep(tmp_path, "d", "q1", [rule], "a", Judgement("equal", rule))
    assert [kept.find(tmp_path, "d", "q1", [rule], "a").sentence for rule in ("rounded", "cut")] == [
        "rounded",
        "cut",
    ]


class _Refuses(processes.Process):
    """An engine that answers q1 with one wrong customer, and cannot answer it without its LIMIT."""

    def ask(self, sql):
        if "LIMIT" not in sql.upper():
            raise processes.NoAnswer("no heap")
        connection = data.connect(data.generate(self.layout))
        table = connection.execute(oracle.dialect.to_duckdb(sql).sql).to_arrow_table()
        connection.close()
        wrong = ["NOBODY", *table.column(0).to_pylist()[1:]]
        return table.set_column(0, table.field(0), [wrong]), {"seconds": 1.0}


def test_an_engine_that_cannot_answer_without_the_limit_is_different_and_the_run_goes_on(generated, tmp_path):
    engine = engines.engine("spark41")
    process = _Refuses(engine, generated.digest, generated.scale, None, tmp_path)
    found = [one.verdict for one in runs.run(engine, process, generated, queries=["q1", "q1"], place=tmp_path)]
    assert found == [Judgement("different", "no answer without LIMIT: no heap")] * 2


def test_an_oracle_without_an_answer_makes_nobody_wrong_and_the_run_goes_on(generated, tmp_path):
    """Its memory or disk may run out at a large scale factor; that ended the run, an hour of a unit with it."""
    engine = engines.engine("spark41")
    process = _Refuses(engine, generated.digest, generated.scale, None, tmp_path)

    def ask(query, limited=True):
        raise duckdb.OutOfMemoryException("Out of Memory Error: failed to offload\nand more")

    run = runs.run(engine, process, generated, queries=["q1", "q1"], place=tmp_path, ask=ask)
    said = "the oracle gave no answer: Out of Memory Error: failed to offload"
    assert [one.verdict for one in run] == [Judgement("unverified", said)] * 2

    def broken(query, limited=True):
        raise duckdb.BinderException("no such column: this is ours")

    with pytest.raises(duckdb.BinderException):
        list(runs.run(engine, process, generated, queries=["q1"], place=tmp_path, ask=broken))


def vouched(query, answer, ask, generated, other, place=None):
    return oracle.vouched(
        query,
        answer,
        ask,
        other=other,
        data=generated.digest,
        unlimited=lambda: ask(query, False).answer,
        place=place,
    )


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (Judgement("equal", "as Spark says"), Judgement("equal", "1 rows in the same order")),
        (Judgement("tie at the limit", "as Spark says"), Judgement("tie at the limit", "as Spark says")),
        (Judgement("vacuous", "as Spark says"), Judgement("vacuous", "as Spark says")),
        (
            Judgement("different", "x"),
            Judgement("unverified", "no answer of another engine agrees with the oracle"),
        ),
        (
            Judgement("unverified", "x"),
            Judgement("unverified", "no answer of another engine agrees with the oracle"),
        ),
        (None, Judgement("unverified", "no answer of another engine was compared")),
    ],
)
def test_duckdb_on_other_files_is_worth_what_another_engine_is(ask, generated, tmp_path, other, found):
    """A vacuous answer of Spark's leaves the oracle's word alone; a wrong one leaves two engines in disagreement."""
    right = ask("q42").answer
    for place in (None, tmp_path, tmp_path):
        assert vouched("q42", right, ask, generated, other, place) == found
    wrong = planted(right, 0, 3, Decimal("43822.55"))
    kind = "different" if found.kind != "unverified" else "unverified"
    assert vouched("q42", wrong, ask, generated, other, tmp_path).kind == kind


def test_what_cannot_be_translated_is_unverified(ask, generated, monkeypatch):
    monkeypatch.setitem(oracle.dialect.UNVERIFIED, "q42", "sqlglot does not know its dialect of shoes")
    found = judge("q42", ask("q42").answer, ask, generated)
    assert found == Judgement("unverified", "sqlglot does not know its dialect of shoes")
    assert not found.verified


def never(*_):
    raise AssertionError("the oracle was asked")


def test_a_verified_answer_is_remembered_and_only_that(ask, generated, tmp_path):
    right = ask("q1").answer
    first = judge("q1", right, ask, generated, tmp_path)
    assert first == Judgement("equal", "100 rows in the same order")
    assert judge("q1", right, never, generated, tmp_path) == first
    wrong = planted(right, 7, 0, "AAAAAAAANOBODYAA")
    for _ in range(2):  # what was different once is asked about again, and is different again
        assert judge("q1", wrong, ask, generated, tmp_path).kind == "different"
    with pytest.raises(AssertionError, match="the oracle was asked"):
        judge("q1", wrong, never, generated, tmp_path)


def test_a_remembered_verdict_counts_for_its_conditions_only(ask, generated, tmp_path):
    right = ask("q1").answer
    judge("q1", right, ask, generated, tmp_path)
    digest, depends = answers.digest(right), [texts.text("q1"), "rounded"]
    assert kept.find(tmp_path, generated.digest, "q1", depends, digest).kind == "equal"
    other = [
        (generated.digest, "q1", [texts.text("q1"), "cut"], digest),
        (generated.digest, "q1", [texts.text("q1") + " ", "rounded"], digest),
        (generated.digest, "q2", depends, digest),
        ("0" * 64, "q1", depends, digest),
        (generated.digest, "q1", depends, "0" * 64),
    ]
    assert [kept.find(tmp_path, *one) for one in other] == [None] * 5


def test_other_rules_forget_what_the_old_ones_verified(generated, tmp_path, monkeypatch):
    kept.keep(tmp_path, generated.digest, "q1", ["text"], "a" * 64, Judgement("equal", "1 rows"))
    assert kept.find(tmp_path, generated.digest, "q1", ["text"], "a" * 64) == Judgement("equal", "1 rows")
    monkeypatch.setattr(kept, "rules", lambda: ("other code",))
    assert kept.find(tmp_path, generated.digest, "q1", ["text"], "a" * 64) is None


@pytest.mark.parametrize("kind", ["different", "unverified"])
def test_what_was_not_verified_is_not_kept(tmp_path, kind):
    with pytest.raises(ValueError, match=f"the answer to q1 is {kind}; only what was verified is kept"):
        kept.keep(tmp_path, "d", "q1", [], "a", Judgement(kind, ""))
    assert list(tmp_path.iterdir()) == []


def test_a_few_answers_a_query_are_kept_and_a_torn_file_is_none(tmp_path):
    for n in range(kept.MOST + 2):
        kept.keep(tmp_path, "d", "q1", [], f"{n}", Judgement("tie at the limit", f"{n}"))
    file = tmp_path / "d" / "q1.json"
    assert [key.split()[0] for key in json.loads(file.read_text())] == [str(n) for n in range(2, kept.MOST + 2)]
    file.write_text(file.read_text()[:50])
    assert kept.find(tmp_path, "d", "q1", [], "5") is None
    file.write_text("[]")
    assert kept.find(tmp_path, "d", "q1", [], "5") is None
