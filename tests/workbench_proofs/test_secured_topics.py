"""Sentences of refusals, records that are sent slowly, and a token that is not renewed."""

import time

import pytest

from workbench_proofs import topics
from workbench_proofs.topics import Held
from workbench_standins.kafka import secured


def test_a_refusal_is_a_sentence_without_the_broker_s_address():
    def refused():
        raise ValueError("topic sales at 127.0.0.1:29436 cannot be read: 127.0.0.1:1 is gone")

    assert topics.refusal(refused) == "topic sales at <broker> cannot be read: <broker> is gone"
    assert topics.refusal(lambda: 1) == ""
    with pytest.raises(ZeroDivisionError):
        topics.refusal(lambda: 1 / 0)


def test_what_is_refused_a_log_in_is_done_again_and_nothing_else():
    outcomes = [ValueError("a:1 refuses the log-in"), ValueError("a:1 refuses the log-in"), 3]

    def acted():
        if isinstance(outcome := outcomes.pop(0), Exception):
            raise outcome
        return outcome

    assert topics.again(acted) == 3
    outcomes += [ValueError("a:1 refuses the log-in")] * 3
    with pytest.raises(ValueError, match="refuses the log-in"):
        topics.again(acted, tries=2)
    assert len(outcomes) == 1
    outcomes[:] = [ValueError("Topic authorization failed"), 3]
    with pytest.raises(ValueError, match="authorization"):
        topics.again(acted)
    assert outcomes == [3]


@pytest.mark.parametrize(("records", "parts"), [([*range(10)], 3), ([0, 1], 5), ([], 2), ([*range(4)], 1)])
def test_every_record_comes_once_and_in_order_with_a_wait_behind_each_part(records, parts):
    began = time.monotonic()
    assert list(topics.slowly(records, parts=parts, pause_seconds=0.02)) == list(records)
    assert time.monotonic() - began >= parts * 0.02


def test_parts_that_are_none_are_refused_before_anything_is_sent():
    with pytest.raises(ValueError, match="parts must be an integer of at least 1, found 0"):
        topics.slowly([1], parts=0)


@pytest.mark.proof("notebook 16 has a token that is refused in the midst of a stream; this needs a broker")
def test_one_token_leads_to_its_end():
    with secured.serve(users=("reader",)) as closed:
        closed.owner().create_topic("sales")
        address, token = closed.addresses["oauth"], closed.token("reader", seconds=8)
        closed.grant("reader", "read", topic="sales")
        closed.grant("reader", "describe", group=topics.GROUP)
        assert topics.hold(address, token, topic="sales", patience_seconds=2) == Held(0, False)
        assert topics.hold(address, token, topic="sales") == Held(0, True)
        assert topics.hold(address, closed.token("reader", seconds=-60), topic="sales") == Held(0, True)
