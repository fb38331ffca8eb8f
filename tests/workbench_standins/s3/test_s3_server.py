"""The S3 server is closed to everybody without its keys, keeps what it has, and ends with whoever started it."""

import os
import signal
import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

import psutil
import pytest
from conftest import PROVE
from waiting import until

from workbench_standins import s3
from workbench_standins.ports import RANGE
from workbench_standins.s3 import weed

PATIENCE_SECONDS = 60  # for conditions; nothing takes so long unless it is broken


@pytest.fixture(scope="module")
def server():
    with s3.serve() as found:
        found.client().put_object(Bucket="plain", Key="a", Body=b"mine" * 1000)
        yield found


def status(address, *, method="GET", data=None, headers=None):
    """Return the status of an answer, whatever it is, and the body."""
    request = urllib.request.Request(address, data, headers or {}, method=method)
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def ports(server):
    """The ports of all its parts, from what it wrote about itself."""
    lines = (server.folder / "data" / "mini.options").read_text().splitlines()
    return {line.split(".port")[0]: line.split("=")[1] for line in lines if ".port=" in line}


def over(process):
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it went between the two questions
        return True


def of_folder(folder):
    """The processes of SeaweedFS that serve a folder."""
    flag, found = f"-dir={folder}/data", []
    for process in psutil.process_iter():
        try:
            found += [process] if flag in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE else []
        except psutil.Error:
            continue
    return found


# closed


@pytest.mark.parametrize(
    ("method", "path", "data"),
    [
        ("GET", "/plain/a", None),
        ("HEAD", "/plain/a", None),
        ("PUT", "/plain/b", b"theirs"),
        ("DELETE", "/plain/a", None),
        ("GET", "/plain?list-type=2", None),
        ("GET", "/", None),
        ("PUT", "/new-bucket", b""),
        ("GET", "/warehouse?list-type=2", None),
    ],
)
def test_s3_refuses_who_has_no_key(server, method, path, data):
    assert status(server.endpoint + path, method=method, data=data)[0] == 403


def test_s3_refuses_wrong_keys_and_those_of_the_user(server):
    import boto3
    from botocore.config import Config
    from botocore.exceptions import ClientError

    assert os.environ["AWS_ACCESS_KEY_ID"] == "anybody"  # SeaweedFS lets in whom it finds there
    pairs = {
        ("anybody", os.environ["AWS_SECRET_ACCESS_KEY"]): "InvalidAccessKeyId",
        (server.access_key, "guessed"): "SignatureDoesNotMatch",
    }
    for (access, secret), code in pairs.items():
        client = boto3.client(
            "s3", endpoint_url=server.endpoint, region_name="us-east-1", aws_access_key_id=access,
            aws_secret_access_key=secret, config=Config(s3={"addressing_style": "path"}),
        )  # fmt: skip
        for call in (client.list_buckets, lambda client=client: client.get_object(Bucket="plain", Key="a")):
            with pytest.raises(ClientError) as caught:
                call()
            assert caught.value.response["Error"]["Code"] == code


def test_the_ports_behind_it_serve_no_files(server):
    found = ports(server)
    assert {"filer", "volume", "master", "s3"} <= set(found)
    for path in ("/buckets/plain/a", "/buckets/", "/"):
        assert status(f"http://127.0.0.1:{found['filer']}{path}")[0] == 404
    assert status(f"http://127.0.0.1:{found['filer']}/buckets/plain/b", method="PUT", data=b"theirs")[0] == 404
    assert status(f"http://127.0.0.1:{found['master']}/dir/assign")[0] == 404
    for number in range(1, 8):  # the bytes themselves, by the numbers of volumes
        refused, body = status(f"http://127.0.0.1:{found['volume']}/{number},01", method="POST", data=b"theirs")
        assert (refused, b"jwt" in body) == (401, True)


def test_the_catalog_refuses_who_has_no_token(server):
    def namespaces(**headers):
        return status(f"{server.catalog_endpoint}/v1/namespaces", headers=headers)[0]

    assert namespaces() == 403
    assert namespaces(Authorization="Bearer guessed") in (401, 403)
    made = status(
        f"{server.catalog_endpoint}/v1/namespaces", method="POST", data=b'{"namespace": ["n"]}',
        headers={"Content-Type": "application/json"},
    )  # fmt: skip
    assert made[0] == 403
    form = {"grant_type": "client_credentials", "client_id": server.access_key, "client_secret": "guessed"}
    data = urllib.parse.urlencode(form).encode()
    assert status(f"{server.catalog_endpoint}/v1/oauth/tokens", method="POST", data=data)[0] == 401


def test_only_loopback_and_only_the_ports_it_was_given(server):
    [process] = of_folder(server.folder)
    listening = {c.laddr for c in process.net_connections("tcp") if c.status == psutil.CONN_LISTEN}
    assert {address.ip for address in listening} == {"127.0.0.1"}
    assert {address.port for address in listening} <= set(RANGE)


def test_the_keys_are_in_a_file_of_the_owners_and_nowhere_else(server):
    [process] = of_folder(server.folder)
    seen = " ".join(" ".join(one.cmdline()) for one in (process, *process.parents()))
    seen += (server.folder / "weed.log").read_text() + repr(server)
    assert server.access_key not in seen and server.secret_key not in seen
    for path in (server.folder, *server.folder.iterdir()):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path
    assert server.secret_key in (server.folder / "s3.json").read_text()
    said = subprocess.run(
        ["bash", "-c", '. "$0"; echo $AWS_ACCESS_KEY_ID $AWS_ENDPOINT_URL_S3 $S3_CATALOG_CREDENTIAL', server.folder / "env"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert said == [server.access_key, server.endpoint, f"{server.access_key}:{server.secret_key}"]


def test_two_servers_have_different_keys_and_a_folder_each(server, tmp_path):
    with s3.serve(tmp_path / "other") as other:
        with pytest.raises(ValueError, match="other is in use by another server"), s3.serve(tmp_path / "other"):
            pass
        assert (other.access_key, other.secret_key) != (server.access_key, server.secret_key)
        assert "Contents" not in other.client().list_objects_v2(Bucket="plain")


# what it keeps, and its end


def test_a_folder_keeps_data_and_keys_over_an_end_and_a_kill(tmp_path):
    from pyiceberg.catalog import load_catalog

    folder, seen = tmp_path / "stays", []
    ends = (signal.SIGTERM, signal.SIGKILL, None) if PROVE else (signal.SIGKILL, None)
    for end in ends:
        with s3.serve(folder) as server:
            client, catalog = server.client(), load_catalog("lake", **server.properties("rest"))
            keys = [one["Key"] for one in client.list_objects_v2(Bucket="plain").get("Contents", [])]
            assert keys == [f"object-{n}" for n in range(len(seen))]
            assert all(client.get_object(Bucket="plain", Key=key)["Body"].read() == b"x" * 9000 for key in keys)
            assert catalog.list_namespaces() == [(f"n{n}",) for n in range(len(seen))]
            client.put_object(Bucket="plain", Key=f"object-{len(seen)}", Body=b"x" * 9000)
            catalog.create_namespace(f"n{len(seen)}")
            seen.append((server.access_key, server.secret_key))
            if end:
                [process] = of_folder(folder)
                process.send_signal(end)
                process.wait(PATIENCE_SECONDS)
    assert len(set(seen)) == 1 and len(seen) == len(ends)


def test_a_throw_away_folder_is_gone_and_so_is_the_server():
    with s3.serve() as server:
        folder = server.folder
        assert (folder / "data").is_dir() and len(of_folder(folder)) == 1
    assert not folder.exists() and of_folder(folder) == []


@pytest.mark.parametrize("who", ["parent", "child"])
def test_it_ends_with_a_process_that_is_killed(who):
    code = (
        "from workbench_standins import s3\nwith s3.serve() as server:\n"
        "    print(server.folder, flush=True)\n    input()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        folder = parent.stdout.readline().decode().strip()
        [process] = of_folder(folder)
        between = process.parent()
        assert between.ppid() == parent.pid
        (parent if who == "parent" else between).kill()
        until(lambda: over(process))
        parent.kill()
    if who == "parent":  # whoever was between us has cleaned up
        until(lambda: not os.path.exists(folder))


# what does not go


def test_what_cannot_be_is_refused_with_a_sentence(tmp_path, monkeypatch):
    def refused(kind, sentence, *arguments, **options):
        with pytest.raises(kind, match=sentence), s3.serve(*arguments, **options):
            pass

    (tmp_path / "file").touch()
    refused(ValueError, "file/folder cannot be written: Not a directory", tmp_path / "file" / "folder")
    refused(ValueError, "holds other things; name an empty one", tmp_path)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "s3.json").write_text("{}")
    refused(ValueError, "s3.json holds no keys", tmp_path / "broken")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused(ValueError, f"port {port} of 127.0.0.1 cannot be had", port=port)
        refused(ValueError, f"port {port} of 127.0.0.1 cannot be had", catalog_port=port)
    refused(ValueError, "port must be an integer of at least 0 and of at most 65535, found '8333'", port="8333")
    refused(ValueError, "not both", tmp_path / "x", within=tmp_path)
    with pytest.raises(ValueError, match="catalog must be 's3' or 'rest', found 'glue'"):
        s3.Server("", "", tmp_path, "", "").properties("glue")
    monkeypatch.setattr(s3.importlib.util, "find_spec", lambda name: None)
    refused(ModuleNotFoundError, r"boto3 is not installed: pip install 'iceberg-workbench\[s3\]'")


def test_ports_that_are_taken_meanwhile_are_tried_again(tmp_path, taken_meanwhile):
    """Between choosing a port and binding it somebody else may take it."""
    from workbench_standins.s3 import folder

    tried = taken_meanwhile("filer")
    process, found = weed.start(tmp_path, folder.keys(tmp_path), {"s3": 0, "catalog": 0})
    weed.end(process, found, haste=True)
    assert found == tried[1] and len(tried) == 2


def test_a_server_that_cannot_start_says_its_last_words(tmp_path, monkeypatch):
    from workbench_standins.s3 import folder

    whole = weed.flags
    monkeypatch.setattr(weed, "flags", lambda *arguments: [*whole(*arguments), "-no-such-flag"])
    with pytest.raises(ChildProcessError, match="SeaweedFS did not start: .*no-such-flag"):
        weed.start(tmp_path, folder.keys(tmp_path), {"s3": 0, "catalog": 0})
