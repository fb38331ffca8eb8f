"""The services on HTTP, on loopback only: OAuth's token endpoint, the Data API and the Sheets API."""

import base64
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from workbench._base.errors import ArgumentError
from workbench_standins.google import grids, reports
from workbench_standins.google.store import STATUS, Fault, Refused, Store
from workbench_standins.ports import HOST

ANALYTICS, SHEETS = "analytics.readonly", "spreadsheets.readonly"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class Service:
    """Answers calls; one at a time, so that each sees the store of one moment.

    Args:
        store: Store.
        key: public key that signs assertions of accounts, PEM.
    """

    def __init__(self, store: Store, key: bytes) -> None:
        self.store, self._key, self._turn = store, key, threading.Lock()

    def control(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Do what the owner of the stand-in wants."""
        with self._turn:
            return self.store.control(name, arguments)

    def answer(
        self, method: str, path: str, query: Mapping[str, list[str]], headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, Any], Fault | None]:
        """Return the status, the content, and the fault that hits a call."""
        fault = None
        with self._turn:
            try:
                operation = _operation(method, path)
                fault = self.store.fault(operation)
                if fault is not None:
                    self._hit(fault)
                return 200, self._done(operation, path, query, headers, body), fault
            except Refused as error:
                refusal = {"code": error.code, "message": error.message, "status": error.status}
                return error.code, {"error": refusal}, fault

    def _hit(self, fault: Fault) -> None:
        if fault.kind == "later":
            self.store.advance(fault.seconds)
        if fault.kind == "401":
            self.store.revoke()
        if fault.kind in STATUS:
            raise Refused(int(fault.kind), STATUS[fault.kind], f"{STATUS[fault.kind]} (fault script).")

    def _done(
        self, operation: str, path: str, query: Mapping[str, list[str]], headers: Mapping[str, str], body: bytes
    ) -> dict[str, Any]:
        if operation == "token":
            return self._token(parse_qs(body.decode()))
        account = self._account(
            headers.get("authorization", ""), SHEETS if operation == "spreadsheet" else ANALYTICS
        )
        number = unquote(path.rstrip("/").split("/")[3]).partition(":")[0]
        if operation == "spreadsheet":
            book = self.store.books.get(number)
            if book is None:
                raise Refused(404, "NOT_FOUND", "Requested entity was not found.")
            _refuse_reader(book.readers, account)
            return grids.spreadsheet(book, number, query.get("ranges", []), query.get("fields", [""])[0])
        owner = self.store.properties.get(number)
        if owner is None:
            raise Refused(403, "PERMISSION_DENIED", "User does not have sufficient permissions for this property.")
        _refuse_reader(owner.readers, account)
        if operation == "metadata":
            return reports.metadata(owner, number)
        request = json.loads(body or b"{}")
        quota = self.store.spend(number)
        answer = reports.report(owner, request, self.store.now())
        return answer | ({"propertyQuota": quota} if request.get("returnPropertyQuota") else {})

    def _account(self, authorization: str, scope: str) -> str:
        """Return whose call it is, by a token or by an assertion that the account signed itself."""
        bearer = authorization.removeprefix("Bearer ")
        if bearer.count(".") == 2 and not bearer.startswith("ya29."):
            claims = _verified(bearer, self._key)
            if claims["exp"] <= time.time():
                raise Refused(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
            if scope not in claims.get("scope", ""):
                raise Refused(403, "PERMISSION_DENIED", "Request had insufficient authentication scopes.")
            return str(claims["iss"])
        return self.store.account(bearer, scope)

    def _token(self, form: Mapping[str, list[str]]) -> dict[str, Any]:
        if form.get("grant_type") != [GRANT]:
            raise Refused(400, "INVALID_ARGUMENT", "unsupported_grant_type")
        claims = _verified(form["assertion"][0], self._key)
        token = self.store.grant(claims["iss"], claims.get("scope", ""), 3600)
        return {"access_token": token, "expires_in": 3600, "token_type": "Bearer"}


def _operation(method: str, path: str) -> str:
    if (method, path) == ("POST", "/token"):
        return "token"
    if method == "POST" and path.startswith("/v1beta/properties/") and path.endswith(":runReport"):
        return "runReport"
    if method == "GET" and path.startswith("/v1beta/properties/") and path.endswith("/metadata"):
        return "metadata"
    if method == "GET" and path.startswith("/v4/spreadsheets/"):
        return "spreadsheet"
    raise Refused(404, "NOT_FOUND", f"The stand-in has no {method} {path}.")


def _refuse_reader(readers: list[str] | None, account: str) -> None:
    if readers is not None and account not in readers:
        raise Refused(403, "PERMISSION_DENIED", "User does not have sufficient permissions for this property.")


def _verified(assertion: str, key: bytes) -> dict[str, Any]:
    """Return the claims of a signed assertion."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import padding

    head, claims, signature = assertion.split(".")
    public: Any = serialization.load_pem_public_key(key)
    try:
        public.verify(_decoded(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256())
    except InvalidSignature:
        raise Refused(400, "INVALID_ARGUMENT", "invalid_grant: Invalid JWT Signature.") from None
    content: dict[str, Any] = json.loads(_decoded(claims))
    return content


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@contextmanager
def listening(service: Service, port: int) -> Iterator[int]:
    """Serve on threads of this process as long as the context is open; yield the port.

    Raises:
        ValueError: the port cannot be had.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 60

        def _answer(self) -> None:
            at = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, content, fault = service.answer(self.command, at.path, parse_qs(at.query), headers, body)
            if fault is not None and fault.kind == "slow_answer":
                time.sleep(fault.seconds)
            if fault is not None and fault.kind == "lost_answer":
                self.close_connection = True
                return
            text = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=UTF-8")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = _answer

        def log_message(self, format: str, *arguments: object) -> None:
            """Write no log."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    try:
        http = Server((HOST, port), Handler)
    except OSError as error:
        raise ArgumentError(f"port {port} of {HOST} cannot be had: {error.strerror}") from None
    thread = threading.Thread(
        target=http.serve_forever, kwargs={"poll_interval": 0.05}, name="google", daemon=True
    )
    thread.start()
    try:
        yield http.server_address[1]
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
