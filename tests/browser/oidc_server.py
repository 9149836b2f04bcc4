"""An identity provider on 127.0.0.1 that speaks OpenID Connect and vouches for whom a test names, without asking."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT = "lectern-test"


@dataclass
class Provider:
    """Whom it vouches for next."""

    claims: dict[str, Any] = field(default_factory=lambda: {"email": "ada@example.org", "email_verified": True})
    url: str = ""


@contextmanager
def oidc_server() -> Iterator[Provider]:
    """Run the provider on a free port (OpenID Connect Core 1.0, the authorization code flow)."""
    provider, key = Provider(), RSAKey.generate_key(2048, {"kid": "one"})
    nonces: dict[str, str] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/.well-known/openid-configuration":
                self._say({
                    "issuer": provider.url, "authorization_endpoint": f"{provider.url}/authorize",
                    "token_endpoint": f"{provider.url}/token", "jwks_uri": f"{provider.url}/jwks",
                    "response_types_supported": ["code"], "id_token_signing_alg_values_supported": ["RS256"],
                })  # fmt: skip
            elif parts.path == "/jwks":
                self._say({"keys": [key.as_dict(private=False)]})
            elif parts.path == "/authorize":
                asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
                code = f"code{len(nonces)}"
                nonces[code] = asked.get("nonce", "")
                self.send_response(302)
                back = urlencode({"code": code, "state": asked["state"]})
                self.send_header("Location", f"{asked['redirect_uri']}?{back}")
                self.end_headers()
            else:
                self.send_error(404)

        def do_POST(self) -> None:
            body = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
            now = int(time.time())
            claims = {"iss": provider.url, "sub": "1", "aud": CLIENT, "iat": now, "exp": now + 600,
                      "nonce": nonces.pop(body["code"][0]), **provider.claims}  # fmt: skip
            token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, key)
            self._say({"access_token": "none", "token_type": "Bearer", "expires_in": 600, "id_token": token})

        def _say(self, value: Any) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
