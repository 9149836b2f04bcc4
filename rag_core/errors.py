"""Everything that can go wrong, as one tree.

    LecternError
    ├── UnreadableDocument      the bytes are damaged or hold no text
    │   └── EncryptedDocument   a password is needed, or the one given is wrong
    ├── UnsupportedDocument     a kind of file that Lectern does not read
    ├── LimitExceeded           a limit of size, pages, time or memory was reached
    ├── AddressRefused          a web address that Lectern does not go to
    ├── SourceUnavailable       a web server or a folder that does not answer
    ├── StoreUnavailable        PostgreSQL, Chroma or the disk does not answer
    │   └── LeaseLost           another process has taken the job that this was done for
    ├── StoreCorrupt            a stored file or index does not hold what it should
    ├── ModelUnavailable        a model is missing, damaged, refused or out of reach
    ├── InvalidQuestion         an empty, overlong or unprintable question
    ├── ConfigurationError      a setting that cannot be used
    ├── LibraryInUse            another process owns the data directory, or the database
    ├── NotAllowed              what whoever asks may not do with what they see
    ├── UnexpectedFailure       something failed that nobody foresaw
    └── Cancelled               the user stopped the work

`str(error)` says what happened, `error.help` what the user can do about it, and `error.retryable` whether the same
call may succeed later without a change. What `lasts` is of what a file holds, and comes again whenever it is read.
Faces print message and help and never a traceback.
"""

from typing import Any


class LecternError(Exception):
    """Root of every error that Lectern raises on purpose."""

    default_help: str = ""
    retryable: bool = False
    lasts: bool = False

    def __init__(self, message: str, *, help: str | None = None) -> None:
        super().__init__(message)
        self.help = self.default_help if help is None else help

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """How pydantic makes an error again of its `kind`, `message` and `help`."""
        from pydantic_core.core_schema import no_info_plain_validator_function

        return no_info_plain_validator_function(lambda told: error_of(told["kind"], told["message"], told["help"]))


def error_of(kind: str, message: str, help: str) -> LecternError:
    """An error by the name of its class, as another process told of it; of none of these, a LecternError."""
    found = globals().get(kind)
    made = found if isinstance(found, type) and issubclass(found, LecternError) else LecternError
    return made(message, help=help)


class UnreadableDocument(LecternError):
    """The document's bytes are damaged, or no text can be read from them."""

    lasts = True
    default_help = "Open the file in its own program to see whether it is intact, save it anew and add it again."


class EncryptedDocument(UnreadableDocument):
    """The document is protected by a password that was not given or is wrong."""

    lasts = False
    default_help = "Enter the document's password and add it again."

    def __init__(self, message: str, *, help: str | None = None, wrong_password: bool = False) -> None:
        super().__init__(message, help=help)
        self.wrong_password = wrong_password


class UnsupportedDocument(LecternError):
    """The file is of a kind that Lectern does not read."""

    lasts = True
    default_help = "Add PDF, Office (.docx, .xlsx, .pptx, .odt, .doc), web, EPUB, mail, CSV, text files, images, .zip."


class LimitExceeded(LecternError):
    """A limit of size, pages, time or memory was reached."""

    default_help = "Split the file into smaller ones, or raise the limit in the settings."


class AddressRefused(LecternError):
    """A web address that Lectern does not go to: not of the web, not public, or closed to programs."""

    default_help = "Check the address. Save the page in a browser and add the file where you may see it there."

    def __init__(self, message: str, *, help: str | None = None, private: str = "") -> None:
        """private: the `host:port` of this machine or its network that was kept from, where it is only that."""
        super().__init__(message, help=help)
        self.private = private


class SourceUnavailable(LecternError):
    """A web server or a folder does not answer, or does not have what is asked of it."""

    retryable = True
    default_help = "Open it in a browser to see whether it is there, and try again later."


class StoreUnavailable(LecternError):
    """PostgreSQL, Chroma or the disk does not answer."""

    retryable = True
    default_help = "Check that the database runs and the disk has room, then try again."


class LeaseLost(StoreUnavailable):
    """Another process has taken the job that this was done for: nothing of it may be committed here."""

    default_help = "It goes on in the other process."


class StoreCorrupt(LecternError):
    """A stored file or index does not hold what it should."""

    default_help = "Restart Lectern: what is derived is rebuilt from the database."


class ModelUnavailable(LecternError):
    """A model is missing, damaged, refused or out of reach."""

    default_help = "Choose another model, or put the missing one in place."


class InvalidQuestion(LecternError):
    """The question is empty, too long or holds no readable character."""

    default_help = "Ask in words, in at most a few thousand characters."


class ConfigurationError(LecternError):
    """A setting cannot be used."""

    default_help = "Correct the setting and start again."


class LibraryInUse(LecternError):
    """Another process owns the data directory, or the database."""

    retryable = True
    default_help = "Close the other program, or choose another data directory."


class NotAllowed(LecternError):
    """Whoever asks sees the thing, and may not do this with it."""

    default_help = "Ask whose it is."


class UnexpectedFailure(LecternError):
    """Something failed that nobody foresaw. The message names its kind and a number, under which the log has it all."""

    default_help = "Try it again. If it fails again, report it with that number: the log says more."


class Cancelled(LecternError):
    """The user stopped the work."""

    default_help = "Start it again when you like: nothing half done was kept."
