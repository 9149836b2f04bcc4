"""What can be wrong with a vector dump file.

DumpError (ValueError)
├── DumpTruncated   the file's size is not what its header says
├── DumpCorrupt     magic number, header or checksums do not fit
└── DumpMismatch    another embedding profile or other dimensions than asked for
"""


class DumpError(ValueError):
    """A vector dump that cannot be written or read."""


class DumpTruncated(DumpError):
    """The file is shorter or longer than its header says."""


class DumpCorrupt(DumpError):
    """The file is no dump, or its bytes changed since it was written."""


class DumpMismatch(DumpError):
    """The dump is sound, but made with another embedding profile or other dimensions."""
