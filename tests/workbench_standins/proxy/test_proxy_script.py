"""What rules look for and do, scripts as files, shares by seed; what does not go is refused in a sentence."""

import http.client

import pytest
from proxy_upstreams import recorder

from workbench_standins import proxy
from workbench_standins.proxy import ANY, COMMIT, METADATA_PUT, Held, Match, Passed, Rule
from workbench_standins.proxy.arrivals import Arrival, access_key, plain_path
from workbench_standins.proxy.gates import Gate

REQUESTS = [  # method, target, what it is
    ("PUT", "/lake/wh/t/metadata/00001-1f.metadata.json", "metadata_put"),
    ("PUT", "/lake/wh/t/metadata/00001-1f.gz.metadata.json?x-id=PutObject", "metadata_put"),
    ("GET", "/lake/wh/t/metadata/00001-1f.metadata.json", ""),
    ("PUT", "/lake/wh/t/metadata/snap-1.avro", ""),
    ("POST", "/v1/namespaces/ns/tables/t", "commit"),
    ("POST", "/v1/warehouse/namespaces/ns/tables/t", "commit"),
    ("POST", "/v1/a%2Fb/namespaces/one%1Ftwo/tables/a%20b", "commit"),
    ("POST", "/v1/arn:aws:s3/namespaces/a%2Fb/tables/t?x=1", "commit"),
    ("POST", "/v1/warehouse/transactions/commit", "commit"),
    ("POST", "/v1/warehouse/namespaces/ns/tables", ""),
    ("POST", "/v1/warehouse/namespaces/ns/tables/t/metrics", ""),
    ("POST", "/v1/warehouse/namespaces/ns/tables/t/plan", ""),
    ("POST", "/v1/warehouse/namespaces/ns/views/v", ""),
    ("POST", "/v1/warehouse/namespaces/ns/register", ""),
    ("POST", "/v1/warehouse/tables/rename", ""),
    ("GET", "/v1/warehouse/namespaces/ns/tables/t", ""),
    ("DELETE", "/v1/warehouse/namespaces/ns/tables/t", ""),
]


@pytest.mark.parametrize(("method", "target", "what"), REQUESTS)
def test_commits_are_told_from_all_else(method, target, what):
    named = {"metadata_put": METADATA_PUT, "commit": COMMIT}
    assert "".join(name for name, match in named.items() if match.meets("a", method, plain_path(target))) == what
    assert ANY.meets(None, method, plain_path(target))


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("/lake/*.parquet", "/lake/a.parquet", True),
        ("/lake/*.parquet", "/lake/a/b.parquet", False),
        ("/lake/**.parquet", "/lake/a/b.parquet", True),
        ("**/a?.json", "/x/y/ab.json", True),
        ("**/a?.json", "/x/y/a/.json", False),
        ("/a.b", "/axb", False),
        ("/a(b)[c]", "/a(b)[c]", True),
        ("/**", "/line\nbreak", True),
        (("/a", "/b"), "/b", True),
    ],
)
def test_patterns(pattern, path, fits):
    assert Match(path=pattern).meets("a", "GET", path) is fits


def test_a_match_of_one_client_is_of_no_other():
    match = METADATA_PUT.of("a")
    path = "/x.metadata.json"
    assert [match.meets(client, "PUT", path) for client in ("a", "b", None)] == [True, False, False]
    assert str(match) == "PUT of /**.metadata.json by a"


@pytest.mark.parametrize(
    ("authorization", "target", "key"),
    [
        ("AWS4-HMAC-SHA256 Credential=K/20260101/us-east-1/s3/aws4_request, SignedHeaders=host", "/x", "K"),
        ("", "/x?X-Amz-Credential=K%2F20260101%2Fus-east-1%2Fs3%2Faws4_request", "K"),
        ("Bearer token", "/x?y=1", None),
        ("", "/x", None),
    ],
)
def test_the_access_key_is_read_off_the_signature(authorization, target, key):
    assert access_key(authorization, target) == key


def hit(between, order):
    """Send a GET of each client in this order; returns which of a client's own requests were hit, by client."""
    before = len(between.log)
    for name in order:
        connection = http.client.HTTPConnection(between.endpoint_of(name).removeprefix("http://"), timeout=90)
        connection.request("GET", "/x")
        connection.getresponse().read()
        connection.close()
    told = {name: [line.told for line in between.log[before:] if line.client == name] for name in "ab"}
    return {name: [n for n, status in enumerate(found) if status >= 400] for name, found in told.items()}


def test_the_same_seed_hits_the_same_requests_of_each_client():
    rule = Rule("fail", ANY, status=503, share=0.3)
    with recorder() as upstream, proxy.between(upstream.endpoint, clients=["a", "b"], script=[rule]) as between:
        between.play([rule], seed=7)
        first = hit(between, "ab" * 20)
        assert first == {"a": [2, 7, 12, 13, 14], "b": [4, 8, 9, 10, 19]}
        assert between.injected() == [proxy.Injected("fail", 40, 10)]
        assert len(upstream.got) == 30
        between.play([rule], seed=7)
        assert hit(between, "a" * 20 + "b" * 20) == first  # their order changes nothing for either
        between.play([Rule("lose_request", Match("b", path="/none")), rule], seed=8)
        assert hit(between, "ab" * 20) != first


def test_skip_and_most_count_the_requests_that_match():
    rule = Rule("fail", Match("a"), status=500, skip=2, most=3)
    with recorder() as upstream, proxy.between(upstream.endpoint, clients=["a", "b"], script=[rule]) as between:
        assert hit(between, "abaabaaa") == {"a": [2, 3, 4], "b": []}
        assert between.injected() == [proxy.Injected("fail", 6, 3)]


def test_the_first_rule_that_hits_has_the_request():
    rules = [
        Rule("fail", Match("a"), status=503, most=1),
        Rule("fail", ANY, status=500, skip=1, most=1),
        Rule("fail", ANY, status=404, share=0.0),
    ]
    with recorder() as upstream, proxy.between(upstream.endpoint, clients=["a", "b"], script=rules) as between:
        hit(between, "abab")
        assert [(one.client, one.told) for one in between.log] == [("a", 503), ("b", 200), ("a", 500), ("b", 200)]
        assert [(one.matched, one.hit) for one in between.injected()] == [(2, 1), (3, 1), (2, 0)]


SCRIPT = """
seed: 7
clients: {a: key-of-a, b: null}
rules:
  - {do: hold, client: a, what: metadata_put, until: {client: b, what: metadata_put}}
  - {do: lose_answer, client: a, what: commit, skip: 2, most: 1}
  - {do: fail, status: 503, method: GET, path: "/lake/**.parquet", share: 0.05}
  - {do: delay, seconds: 0.5, path: ["/a/**", "/b/**"]}
"""


def test_a_file_says_the_same_as_python(tmp_path):
    (tmp_path / "faults.yml").write_text(SCRIPT)
    script = proxy.Script(
        [
            Rule("hold", METADATA_PUT.of("a"), until=METADATA_PUT.of("b")),
            Rule("lose_answer", COMMIT.of("a"), skip=2, most=1),
            Rule("fail", Match(method="GET", path="/lake/**.parquet"), status=503, share=0.05),
            Rule("delay", Match(path=("/a/**", "/b/**")), seconds=0.5),
        ],
        seed=7,
        clients={"a": "key-of-a", "b": None},
    )
    assert proxy.read_script(tmp_path / "faults.yml") == script
    with recorder() as upstream, proxy.between(upstream.endpoint, script=tmp_path / "faults.yml") as between:
        assert between.clients == script.clients
        assert [one.do for one in between.injected()] == ["hold", "lose_answer", "fail", "delay"]


def test_clients_can_be_a_list(tmp_path):
    (tmp_path / "x.yml").write_text("clients: [a, b]\nrules: []\n")
    assert proxy.read_script(tmp_path / "x.yml") == proxy.Script(clients={"a": None, "b": None})


REFUSED = [  # the file, the end of what is said
    ("- 1", "the script must have rules and may have seed and clients, found list"),
    ("seed: 1", "the script needs rules"),
    ("rules: []\nrule: []", "the script: rule is not a key (did you mean rules?); there are rules, seed, clients"),
    ("rules: []\nseed: x", "the script: seed: Input should be a valid integer, found 'x'"),
    ("rules:\n- {what: commit}", "rule 1 needs do"),
    (
        "rules:\n- {do: lose_answer}\n- {do: fail, status: 500, pth: /x}",
        "rule 2: pth is not a key (did you mean path?); there are client, what, method, path, do, until, seconds, "
        "status, skip, most, share",
    ),
    (
        "clients: [b]\nrules:\n- {do: hold, until: {cleint: b}}",
        "rule 1, until: cleint is not a key (did you mean client?); there are client, what, method, path",
    ),
    ("rules:\n- {do: lose}", "rule 1: a rule cannot 'lose'; it can hold, hold_answer, delay, delay_answer, fail, "
     "fail_answer, lose_request, lose_answer"),
    ("rules:\n- {do: delai, seconds: 1}", "rule 1: a rule cannot 'delai' (did you mean delay?); it can hold, "
     "hold_answer, delay, delay_answer, fail, fail_answer, lose_request, lose_answer"),
    ("rules:\n- {do: hold}", "rule 1: until must be given for hold and hold_answer, and only for these; hold has None"),
    ("rules:\n- {do: lose_answer, path: ''}", "rule 1: path must be a pattern that starts with / or *, "
     "such as /lake/**.parquet, found ''"),
    ("rules:\n- {do: lose_answer, what: commit, path: ''}", "rule 1: give what, or method and path, and not "
     "both: what is commit"),
    ("rules:\n- {do: delay, seconds: '1'}", "rule 1: seconds: Input should be a valid number, found '1'"),
    ("rules:\n- {do: fail, status: '500'}", "rule 1: status: Input should be a valid integer, found '500'"),
    ("rules:\n- {do: fail, status: 500, most: true}", "rule 1: most: Input should be a valid integer, found True"),
    ("rules:\n- {do: delay}", "rule 1: seconds must be a number above 0 for delay and delay_answer, and only for "
     "these; delay has 0.0"),
    ("rules:\n- {do: fail, seconds: 1}", "rule 1: seconds must be a number above 0 for delay and delay_answer, and "
     "only for these; fail has 1.0"),
    ("rules:\n- {do: fail, status: 200}", "rule 1: status must be an integer from 400 to 599 for fail and "
     "fail_answer, and only for these; fail has 200"),
    ("rules:\n- {do: fail, status: 500, share: 2}", "rule 1: share must be a number from 0 to 1; fail has 2.0"),
    ("rules:\n- {do: fail, status: 500, skip: -1}", "rule 1: skip must be an integer of at least 0, and most one of "
     "at least 1 or None; fail has -1 and None"),
    ("rules:\n- {do: lose_answer, what: swap}", "rule 1: what: Input should be 'metadata_put', 'commit' or 'any', "
     "found 'swap'"),
    ("rules:\n- {do: lose_answer, what: commit, method: PUT}", "rule 1: give what, or method and path, and not "
     "both: what is commit"),
    ("rules:\n- {do: lose_answer, method: put}", "rule 1: method must be a name in capitals, such as PUT, found 'put'"),
    ("rules:\n- {do: lose_answer, path: x.json}", "rule 1: path must be a pattern that starts with / or "
     "*, such as /lake/**.parquet, found 'x.json'"),
    ("clients: [reader, writer]\nrules:\n- {do: lose_answer, client: writr}", "rule 1: no client 'writr' (did you "
     "mean writer?); there are reader, writer"),
    ("clients: {a: same, b: same}\nrules: []", "the clients a, b have the same access key: give each its own"),
    ("clients: {a: AKIAIOSFODNN7EXAMPLE}\nrules: []", "clients.a holds an AWS access key id; only keys of a "
     "stand-in belong in a file"),
    ("rules: [lose_answer]", "rule 1: Input should be a valid dictionary or instance of _Rule, found 'lose_answer'"),
    ("1: 2\nrules: []", "1 is not a key; there are rules, seed, clients"),
    ("clients: [two words]\nrules: []", "a client's name must be a word without spaces, found 'two words'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), REFUSED, ids=[said[:30] for _, said in REFUSED])
def test_files_that_are_no_script(tmp_path, text, said):
    path = tmp_path / "x.yml"
    path.write_text(text)
    with pytest.raises(ValueError) as caught:
        proxy.read_script(path)
    assert str(caught.value) == f"{path}: {said}"


def test_a_file_that_is_not_there():
    with pytest.raises(ValueError, match="none.yml cannot be read"):
        proxy.read_script("none.yml")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"upstream": "https://s3.amazonaws.com"},
            "upstream must be an address such as http://127.0.0.1:8333, found",
        ),
        (
            {"upstream": "http://127.0.0.1:1/path"},
            "upstream must be an address such as http://127.0.0.1:8333, found",
        ),
        (
            {"clients": "ab"},
            "clients must be a list of texts, a dict of texts to texts or None or None, found 'ab'",
        ),
        ({"port": 70_000}, "port must be an integer of at least 0 and of at most 65535, found 70000"),
        ({"seed": "1"}, "seed must be an integer, found '1'"),
        ({"script": ["hold"]}, "script must be a list of Rule, Script, a text or a path, found 'hold' in it"),
    ],
)
def test_arguments_that_do_not_go(options, said):
    with pytest.raises(ValueError) as caught, proxy.between(**({"upstream": "http://127.0.0.1:1"} | options)):
        pass
    assert said in str(caught.value)


def test_a_port_that_is_taken():
    with recorder() as upstream, proxy.between(upstream.endpoint) as between:
        port = int(between.endpoint.rpartition(":")[2])
        with pytest.raises(ValueError, match=f"port {port} of 127.0.0.1 cannot be had: Address already in use"):
            proxy.between(upstream.endpoint, port=port).__enter__()


def test_what_cannot_be_held():
    with recorder() as upstream, proxy.between(upstream.endpoint, clients=["reader", "writer"]) as between:
        with pytest.raises(
            ValueError, match=r"no client 'raeder' \(did you mean reader\?\); there are reader, writer"
        ):
            between.hold("raeder")
        with pytest.raises(ValueError, match="what must be Match, found 'commit'"):
            between.hold("reader", "commit")
        with pytest.raises(ValueError, match="skip must be an integer of at least 0, found -1"):
            between.hold("reader", skip=-1)
        held = between.hold("reader")
        with pytest.raises(
            ValueError, match="status must be an integer of at least 400 and of at most 599, found 200"
        ):
            held.fail(200)
        with pytest.raises(ValueError, match="nothing gets through a closed gate"):
            held.done()
        held.release()
        with pytest.raises(ValueError, match="this gate is open already: PUT of"):
            held.drop()


def test_a_request_that_ended_behind_a_closed_gate_has_no_client_any_more():
    """To ask for what waits raised a TypeError then."""
    gate, arrival = Gate(), Arrival(1, "a", "PUT", "/x", lambda: False)
    gate.arrivals.append(arrival)
    held = Held(ANY, False, gate, None)
    assert held.waiting() == [(Passed(1, "a", "PUT", "/x", None, "pass", None), False)]
    arrival.finish()
    assert held.waiting() == [(Passed(1, "a", "PUT", "/x", None, "pass", None), True)]
