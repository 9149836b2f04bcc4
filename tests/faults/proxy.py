"""A proxy in front of PostgreSQL that cuts connections at a COMMIT: before the server sees it, while it works, or after
it has answered and before the answer is passed on."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Literal

from psycopg.conninfo import conninfo_to_dict, make_conninfo

Moment = Literal["before", "during", "after"]
_COMMIT = b"COMMIT\x00"
_BLOCK = 65536


class Proxy:
    """Listens on 127.0.0.1 and passes everything on to a server's Unix socket."""

    def __init__(self, url: str) -> None:
        told = conninfo_to_dict(url)
        self._server = f"{told['host']}/.s.PGSQL.{told.get('port', 5432)}"
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = make_conninfo(
            url, host="127.0.0.1", port=self._listener.getsockname()[1], sslmode="disable", gssencmode="disable"
        )
        self.commits = 0
        self.cuts = 0
        self._cut_at: int | None = None
        self._moment: Moment = "before"
        self._all = False
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def arm(self, moment: Moment, number: int, *, everything: bool) -> None:
        """Cut at the `number`th COMMIT from now on; its connection, or every one."""
        with self._lock:
            self.commits, self._cut_at, self._moment, self._all = 0, number, moment, everything

    def close(self) -> None:
        """Stop listening and cut everything."""
        self._listener.close()
        self._cut(list(self._open))

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._open |= {client, server}
                threading.Thread(target=self._to_server, args=(client, server), daemon=True).start()
                threading.Thread(target=self._to_client, args=(client, server), daemon=True).start()

    def _to_server(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(_BLOCK):
                if _COMMIT in data and self._is_due():
                    self._strike(data, client, server)
                    return
                server.sendall(data)
        self._cut([client, server])

    def _to_client(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(_BLOCK):
                if server not in self._open:  # its answer is kept back
                    return
                client.sendall(data)
        self._cut([client, server])

    def _is_due(self) -> bool:
        with self._lock:
            self.commits += 1
            due = self.commits == self._cut_at
            self.cuts += due
            return due

    def _strike(self, data: bytes, client: socket.socket, server: socket.socket) -> None:
        if self._moment == "after":
            self._open.discard(server)  # before the answer can come
        if self._moment != "before":
            server.sendall(data)
        if self._moment == "after":
            server.shutdown(socket.SHUT_WR)  # the server answers and ends the connection by itself
            with contextlib.suppress(OSError):
                while server.recv(_BLOCK):
                    pass
        self._cut(list(self._open) if self._all else [client, server])
        self._cut([server, client])

    def _cut(self, sockets: list[socket.socket]) -> None:
        for end in sockets:
            self._open.discard(end)
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
