"""The page behind a proxy that ends TLS: what a browser sends there is taken, and what another page sends is not."""

import asyncio
import datetime
import ipaddress
import re
import ssl
import threading
from contextlib import contextmanager

import httpx
import pytest
from access_pages import PASSWORDS
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from workbench._base.errors import ArgumentError
from workbench_ops.access.page import app
from workbench_ops.access.page.serving import serve
from workbench_standins import ports

pytest_plugins = ["access_pages"]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A file with a certificate of localhost and its key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    names = x509.SubjectAlternativeName([
        x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    ])  # fmt: skip
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now).not_valid_after(now + datetime.timedelta(hours=1))
    made = builder.add_extension(names, critical=False).sign(key, hashes.SHA256())
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    kind = serialization.Encoding.PEM
    secret = key.private_bytes(kind, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.touch(0o600)
    path.write_bytes(secret + made.public_bytes(kind))
    return path


def csrf_of(text):
    return re.search(r'name="csrf" value="([^"]+)"', text)[1]


async def _passed(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


@contextmanager
def ending_tls(certificate, port, target):
    """A proxy that ends TLS, and hands on to a port what it got, headers and all."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)

    async def relayed(reader, writer):
        ours, theirs = await asyncio.open_connection("127.0.0.1", target)
        await asyncio.gather(_passed(reader, theirs), _passed(ours, writer), return_exceptions=True)

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    begun = asyncio.run_coroutine_threadsafe(asyncio.start_server(relayed, "127.0.0.1", port, ssl=context), loop)
    server = begun.result(30)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def behind(shared, certificate):
    """The address that browsers have of the page, which a proxy serves."""
    port = ports.choose(("proxy",), {"proxy": 0})["proxy"]
    address = f"https://localhost:{port}"
    with serve(shared, behind=address) as inside, ending_tls(certificate, port, int(inside.rpartition(":")[2])):
        yield address


def browser(behind, certificate):
    context = ssl.create_default_context(cafile=str(certificate))
    return httpx.Client(base_url=behind, verify=context, timeout=120, headers={"Origin": behind}, trust_env=False)


def test_a_browser_logs_in_and_out_behind_the_proxy(behind, certificate):
    with browser(behind, certificate) as client:
        values = {"name": "ann", "password": PASSWORDS["ann"], "csrf": csrf_of(client.get("/").text)}
        answer = client.post("/log-in", data=values)
        assert answer.status_code == 303
        (kept,) = answer.headers.get_list("set-cookie")
        assert kept.startswith("__Host-workbench_access=")
        assert {"HttpOnly", "Secure", "SameSite=strict", "Path=/"} <= set(kept.split("; "))
        assert "Domain" not in kept
        tables = client.get("/")
        assert "people.users" in tables.text
        query = {"query": "{ tables { name } }"}
        answer = client.post("/graphql", json=query, headers={"X-CSRF": csrf_of(tables.text)})
        assert answer.json() == {"data": {"tables": [{"name": "people.users"}]}}
        assert client.post("/log-out", data={"csrf": csrf_of(tables.text)}).status_code == 303
        assert "Log in" in client.get("/").text


def test_forms_of_other_pages_are_refused_behind_the_proxy(behind, certificate):
    with browser(behind, certificate) as client:
        values = {"name": "ann", "password": PASSWORDS["ann"], "csrf": csrf_of(client.get("/").text)}
        for origin in (
            "null",
            behind.replace("https", "http"),
            behind + "0",
            "https://localhost",
            "https://elsewhere.example",
        ):
            assert client.post("/log-in", data=values, headers={"Origin": origin}).status_code == 403, origin
        assert client.get("/", headers={"Host": "elsewhere.example"}).status_code == 400
        plain = {
            app.COOKIE: client.cookies["__Host-workbench_access"]
        }  # as another host of the domain could set it
        client.cookies.clear()
        client.cookies.update(plain)
        assert client.post("/log-in", data=values).status_code == 403


@pytest.mark.parametrize(
    "address",
    ["http://shared.example.org", "https://Shared.example.org", "https://shared.example.org/", "https://shared.example.org:443",
     "https://*", "https://", "shared.example.org", "https://a@b", "https://shared.example.org\n"],
)  # fmt: skip
def test_what_is_not_the_address_of_a_page_is_refused(shared, address):
    with pytest.raises(ArgumentError, match=r"is one as https://shared\.example\.org"):
        app.build(shared, behind=address)
