"""An Iceberg REST catalog, as far as a table's pointer needs it: settings, a token or a signature, one table."""

import json
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

from workbench._base.errors import ArgumentError

PATIENCE_SECONDS = 30
SEPARATOR = "\x1f"  # between the parts of a namespace, as the specification has it


class Server:
    """A REST catalog that has been asked for its settings.

    Attributes:
        overrides: properties that the server sets for every client.
    """

    def __init__(self, properties: Mapping[str, str]) -> None:
        """Ask the catalog for its settings.

        Args:
            properties: as PyIceberg's RestCatalog takes them.

        Raises:
            ValueError: it cannot be reached, or lets nobody in with these properties.
        """
        self._properties = dict(properties)
        self._uri = properties["uri"].rstrip("/")
        self._headers = {"X-Iceberg-Access-Delegation": "vended-credentials"} | _own_headers(properties)
        self._headers |= _authorization(properties, self._uri)
        question = f"?{urlencode({'warehouse': properties['warehouse']})}" if "warehouse" in properties else ""
        settings = self._get(f"{self._uri}/v1/config{question}")
        self.overrides: dict[str, str] = settings.get("overrides") or {}
        effective = (settings.get("defaults") or {}) | self._properties | self.overrides
        prefix = f"/{effective['prefix'].strip('/')}" if effective.get("prefix") else ""
        self._base = f"{effective['uri'].rstrip('/')}/v1{prefix}"

    def table(self, parts: tuple[str, ...]) -> dict[str, Any] | None:
        """Load a table; None where there is none of that name."""
        return self._get(f"{self._namespace(parts[:-1])}/tables/{quote(parts[-1], safe='')}", missing=True)

    def tables(self, namespace: tuple[str, ...]) -> list[str]:
        """List the tables of a namespace; none where it is not there."""
        answer = self._get(f"{self._namespace(namespace)}/tables", missing=True) or {}
        return [".".join((*entry["namespace"], entry["name"])) for entry in answer.get("identifiers", ())]

    def _namespace(self, parts: tuple[str, ...]) -> str:
        return f"{self._base}/namespaces/{quote(SEPARATOR.join(parts), safe='')}"

    def _get(self, address: str, *, missing: bool = False) -> Any:
        headers = {"Accept": "application/json"} | self._headers
        if self._properties.get("rest.sigv4-enabled", "").lower() == "true":
            headers = _signed(address, headers, self._properties)
        return _answer(Request(address, headers=headers), missing=missing)


def _answer(request: Request, *, missing: bool = False) -> Any:
    try:
        with urlopen(request, timeout=PATIENCE_SECONDS) as response:
            return json.loads(response.read())
    except HTTPError as error:
        if error.code == 404 and missing:
            return None
        body = error.read(2000).decode(errors="replace")
        raise ArgumentError(f"the catalog at {request.host} answers {error.code}: {_message(body)}") from None
    except URLError as error:
        raise ArgumentError(f"the catalog at {request.host} cannot be reached: {error.reason}") from None
    except (OSError, HTTPException) as error:
        raise ArgumentError(
            f"the catalog at {request.host} stopped in the middle of its answer: {error}"
        ) from None
    except ValueError:
        raise ArgumentError(f"the catalog at {request.host} answers something other than JSON") from None


def _message(body: str) -> str:
    try:
        return json.loads(body)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return body.strip() or "nothing"


def _own_headers(properties: Mapping[str, str]) -> dict[str, str]:
    return {key.removeprefix("header."): value for key, value in properties.items() if key.startswith("header.")}


def _authorization(properties: Mapping[str, str], uri: str) -> dict[str, str]:
    """Return the header of a bearer, whose token is a property or is fetched for a credential."""
    token = properties.get("token")
    if not token and (credential := properties.get("credential")):
        client, _, secret = credential.rpartition(":")
        form = {"grant_type": "client_credentials", "client_secret": secret}
        form |= {"client_id": client} if client else {}
        form["scope"] = properties.get("scope", "catalog")
        address = properties.get("oauth2-server-uri") or f"{uri}/v1/oauth/tokens"
        token = _answer(Request(address, data=urlencode(form).encode()))["access_token"]
    return {"Authorization": f"Bearer {token}"} if token else {}


def _signed(address: str, headers: Mapping[str, str], properties: Mapping[str, str]) -> dict[str, str]:
    """Return headers with AWS's signature (SigV4) of a request without a body."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest

    from workbench.light import keys

    region = properties.get("rest.signing-region") or properties.get("client.region")
    service = properties.get("rest.signing-name", "execute-api")
    request = AWSRequest(
        "GET", address, headers={key: value for key, value in headers.items() if key != "Authorization"}
    )
    SigV4Auth(keys.aws(properties, ("client", "rest", "s3")), service, region).add_auth(request)
    return dict(request.headers)
