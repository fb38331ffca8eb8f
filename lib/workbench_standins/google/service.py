"""What a call is answered with, whatever it came by: whose it is, what hits it, what it costs, what there is."""

import base64
import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench_standins.google import grids, reports
from workbench_standins.google.store import STATUS, Fault, Refused, Store

ANALYTICS, SHEETS = "analytics.readonly", "spreadsheets.readonly"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


@dataclass(frozen=True)
class Call:
    """A call of a service.

    Attributes:
        operation: token, metadata, runReport or spreadsheet.
        number: of the property, or the id of the book.
        authorization: the header, or metadata, of that name.
        request: the message of a report as JSON has it, the form of a token, the query of a book.
    """

    operation: str
    number: str = ""
    authorization: str = ""
    request: Mapping[str, Any] = field(default_factory=dict)


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

    def answer(self, call: Call) -> tuple[dict[str, Any] | Refused, Fault | None]:
        """Return what a call is answered with, and the fault that hits it."""
        with self._turn:
            fault = self.store.fault(call.operation)
            try:
                if fault is not None:
                    self._hit(fault)
                return self._done(call), fault
            except Refused as refusal:
                return refusal, fault

    def _hit(self, fault: Fault) -> None:
        if fault.kind == "later":
            self.store.advance(fault.seconds)
        if fault.kind == "401":
            self.store.revoke()
        if fault.kind in STATUS:
            raise Refused(int(fault.kind), STATUS[fault.kind], f"{STATUS[fault.kind]} (fault script).")

    def _done(self, call: Call) -> dict[str, Any]:
        if call.operation == "token":
            return self._token(call.request)
        account = self._account(call.authorization, SHEETS if call.operation == "spreadsheet" else ANALYTICS)
        if call.operation == "spreadsheet":
            book = self.store.books.get(call.number)
            if book is None:
                raise Refused(404, "NOT_FOUND", "Requested entity was not found.")
            _refuse_reader(book.readers, account)
            ranges, mask = call.request.get("ranges", []), call.request.get("fields", [""])[0]
            cells = call.request.get("includeGridData", [""])[0] == "true"
            return grids.spreadsheet(book, call.number, ranges, mask, cells=cells)
        owner = self.store.properties.get(call.number)
        if owner is None:
            raise Refused(403, "PERMISSION_DENIED", "User does not have sufficient permissions for this property.")
        _refuse_reader(owner.readers, account)
        if call.operation == "metadata":
            return reports.metadata(owner, call.number)
        quota = self.store.spend(call.number)
        answer = reports.report(owner, call.request, self.store.now())
        return answer | ({"propertyQuota": quota} if call.request.get("returnPropertyQuota") else {})

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

    def _token(self, form: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        if form.get("grant_type") != [GRANT]:
            raise Refused(400, "INVALID_ARGUMENT", "unsupported_grant_type")
        claims = _verified(form["assertion"][0], self._key)
        token = self.store.grant(claims["iss"], claims.get("scope", ""), 3600)
        return {"access_token": token, "expires_in": 3600, "token_type": "Bearer"}


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
