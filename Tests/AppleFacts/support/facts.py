# SPDX-License-Identifier: Apache-2.0
"""Reads and writes facts.tsv; README.md says what its columns are."""

COLUMNS = (
    "framework", "kind", "owner", "name", "swift", "types", "attributes", "declaration", "ios", "macos", "tvos", "watchos",
    "visionos", "source", "commit", "licence", "confidence",
)  # fmt: skip


class Fact:
    __slots__ = (*COLUMNS, "number")

    def __init__(self, number, cells):
        self.number = number
        for name, cell in zip(COLUMNS, cells, strict=True):
            setattr(self, name, cell)

    def __contains__(self, word):
        return word in self.attributes.split()

    def option(self, name):
        """The value of an attribute that is written NAME=VALUE; nothing without one."""
        return next((word[len(name) + 1:] for word in self.attributes.split() if word.startswith(f"{name}=")), "")

    @property
    def is_swift(self):
        """Whether it is Swift's alone: its declaration is given, and not made from a header."""
        return not self.types


# What one of Apple's systems has not, by the attribute that says so, or by the framework.
LACKING = {"tvOS": ("not-tvos", "WebKit"), "watchOS": ("not-watchos", "WebKit"), "macOS": ("not-macos", "")}


class Facts:
    def __init__(self, path, system="iOS", other_reading=False):
        """`system` leaves out what that one has not. With `other_reading`, what is called back is `@Sendable` where the facts
        say that it is not, and the other way round: headers of different years differ in it."""
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines[0].split("\t") == list(COLUMNS), "facts.tsv has other columns"
        self.rows = [Fact(number, line.split("\t")) for number, line in enumerate(lines[1:], 2)]
        attribute, framework = LACKING.get(system, ("", ""))
        self.left_out = {row.number for row in self.rows if attribute and (attribute in row or row.framework == framework)}
        if other_reading:
            self._read_otherwise()

    def _read_otherwise(self):
        protocols = {row.name for row in self.rows if row.kind == "protocol"}
        for row in self.rows:
            if "^(" not in row.types or row.owner in protocols or row.kind not in ("method", "function", "property", "typealias"):
                continue
            if "@Sendable ^(" in row.types:
                row.types = row.types.replace("@Sendable ^(", "^(", 1)
            else:
                row.types = row.types.replace("^(", "@Sendable ^(", 1)

    def of(self, framework):
        return [row for row in self.rows if row.framework == framework and row.number not in self.left_out]

    def write(self):
        lines = ["\t".join(COLUMNS)] + ["\t".join(getattr(row, name) for name in COLUMNS) for row in self.rows]
        self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")
