"""Messages with planted faults: as many of each as was asked for, and the truth of them."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench_proofs import lambdas


@given(
    messages=st.integers(20, 400),
    rows_each=st.integers(1, 5),
    faults=st.floats(0.001, 0.2),
    seed=st.integers(0, 1000),
)
def test_what_is_sent_is_what_was_planted(messages, rows_each, faults, seed):
    made = lambdas.planted(messages, rows_each=rows_each, faults=faults, seed=seed)
    assert made == lambdas.planted(messages, rows_each=rows_each, faults=faults, seed=seed)
    sent = Counter(made.bodies)
    assert sorted(body for body in sent if not body.startswith("{")) == list(made.unreadable)
    read = {json.loads(body)["id"]: json.loads(body) for body in sent if body.startswith("{")}
    assert read.keys() == made.fates.keys() and len(read) + len(made.unreadable) == messages
    for body, deliveries in sent.items():
        fate = made.fates[json.loads(body)["id"]] if body.startswith("{") else None
        assert deliveries == (2 if fate == "sent twice" else 1)
        if fate:
            assert json.loads(body)["fault"] == (fate if fate in ("killed", "raised") else None)
    each = max(1, round(faults * messages))
    assert [made.count(fate) for fate in ("killed", "raised", "sent twice")] == [each] * 3
    assert made.rows == sum(message["rows"] for message in read.values()) == len(read) * rows_each


def test_old_messages_come_again_without_their_faults():
    made = lambdas.planted(20, rows_each=3, faults=0.05)
    bodies = [json.loads(body) for body in lambdas.again(made.fates, rows_each=3)]
    assert bodies == [{"id": id, "rows": 3, "fault": None} for id in made.fates]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"messages": 19}, "messages is 19: with fewer there is not one of each kind"),
        ({"rows_each": 0}, "rows_each is 0: a message brings a row at least"),
        ({"faults": 0}, "faults is 0, expected a share above 0 and at most 0.2"),
        ({"faults": 0.21}, "faults is 0.21, expected a share"),
        ({"faults": float("nan")}, "faults is nan, expected a share"),
    ],
)
def test_messages_that_cannot_be_made(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        lambdas.planted(**{"messages": 20, "rows_each": 1, "faults": 0.1} | arguments)
