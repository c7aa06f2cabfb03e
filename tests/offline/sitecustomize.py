"""Cuts a Python process off from the network, to prove that nothing in the course secretly needs it.

Put on PYTHONPATH for the notebooks' kernels. Connections within the machine stay open: Jupyter needs them.
"""

import ipaddress
import socket

_connect, _getaddrinfo = socket.socket.connect, socket.getaddrinfo


def _is_local(host: object) -> bool:
    if host in ("localhost", "", None):
        return True
    try:
        return ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        return False


def connect(self: socket.socket, address: object) -> None:
    if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_local(address[0]):
        raise ConnectionRefusedError(f"the tests run without a network, but something wants to reach {address}")
    return _connect(self, address)


def getaddrinfo(host: object, *args: object, **kwargs: object) -> list:
    if not _is_local(host):
        raise socket.gaierror(f"the tests run without a network, but something wants to reach {host}")
    return _getaddrinfo(host, *args, **kwargs)


socket.socket.connect, socket.getaddrinfo = connect, getaddrinfo
