"""`python -m rag_core.port PORT`: whether the application can listen there, said in words before it tries."""

from __future__ import annotations

import socket
import sys


def main(arguments: list[str]) -> int:
    """Exit code 0 when the port is free on 127.0.0.1, 1 with a message otherwise, 2 for what is no port."""
    if len(arguments) != 1 or not arguments[0].isdigit() or not 0 < int(arguments[0]) < 65536:
        sys.stderr.write("usage: python -m rag_core.port PORT (1 to 65535)\n")
        return 2
    with socket.socket() as probe:
        # As the server does: a port whose last owner has just gone is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", int(arguments[0])))
        except OSError as error:
            sys.stderr.write(
                f"Port {arguments[0]} cannot be used ({error.strerror}): perhaps Lectern runs already, on"
                f" http://127.0.0.1:{arguments[0]}. Take another one: make run PORT=8502\n"
            )
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
