"""Office files with a password: what they hold is written to a file of its own for as long as it is read."""

from __future__ import annotations

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from rag_core.errors import EncryptedDocument
from rag_core.reading.flowing import compound

_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_DEFAULT = "VelvetSweatshop"
"""With it Office locks what everybody may read and nobody change ([MS-OFFCRYPTO] 2.4.2.3)."""


def unlocked(path: Path, password: str | None) -> IO[bytes] | None:
    """A temporary file with what an encrypted Office file holds, gone once it is closed; None for any other file.

    Raises EncryptedDocument where the password is missing or wrong, UnsupportedDocument where none opens it.
    """
    with path.open("rb") as file:
        if file.read(len(_COMPOUND)) != _COMPOUND:
            return None
        import msoffcrypto  # half a second that no other file needs
        from msoffcrypto.exceptions import InvalidKeyError

        try:
            office = msoffcrypto.OfficeFile(file)
            if not office.is_encrypted():
                return None
        except Exception:  # noqa: BLE001  a damaged file makes it raise anything; whoever reads the format tells of that
            return None
        plain = NamedTemporaryFile(prefix="lectern-", suffix=path.suffix)  # noqa: SIM115  closed by whoever reads it
        try:
            checks = {"verify_password": True} if office.format == "ooxml" else {}  # older formats always check
            office.load_key(password=password or _DEFAULT, **checks)
            office.decrypt(plain)
            plain.flush()
        except Exception as error:  # one whose keys make no sense makes it raise anything
            plain.close()
            if not password:
                raise EncryptedDocument("The file is protected by a password.") from error
            if not isinstance(error, InvalidKeyError):
                raise compound.locked() from error
            raise EncryptedDocument("The password does not open this file.", wrong_password=True) from error
    return plain
