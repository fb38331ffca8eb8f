"""A certificate of a server on this machine, signed by itself: Trino takes tokens by HTTPS alone."""

import datetime
import ipaddress
import uuid

from workbench_standins.ports import HOST

DAYS = 30  # that a certificate is valid; a server has a new one each time it starts


def make() -> tuple[str, str]:
    """Return (certificate, private key), each as PEM, of this machine's loopback address."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"workbench {uuid.uuid4().hex}")])
    begin = datetime.datetime.now(datetime.UTC) - datetime.timedelta(minutes=5)  # by which clocks may differ
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST)), x509.DNSName("localhost")])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + datetime.timedelta(days=DAYS))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM).decode(), private.decode()
