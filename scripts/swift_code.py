# SPDX-License-Identifier: Apache-2.0
"""Swift source with everything that is not code blanked out, and which of its lines no Apple platform compiles.

Imported by the availability checks. A scanner, not a parser: it knows comments (nested), strings (raw, multi-line,
with interpolations, which are code), regex literals and `#if` lines, and nothing else."""

import re

# After one of these words a `/` begins a regex literal, not a division.
KEYWORDS = {"return", "in", "case", "where", "try", "await", "throw", "else", "is", "as", "if", "guard", "while"}


class Code:
    """The code of one file: `text` has the length and the lines of the source; `regexes` are literals' offsets."""

    def __init__(self, source):
        self.source = source
        self.characters = list(source)
        self.regexes = []
        self._code(0, closing=None)
        self.text = "".join(self.characters)
        self.linux_only = linux_only_lines(self.text)

    def line(self, offset):
        """The number of the line of an offset, from 1."""
        return self.source.count("\n", 0, offset) + 1

    def _blank(self, start, end):
        for index in range(start, min(end, len(self.characters))):
            if self.characters[index] != "\n":
                self.characters[index] = " "

    def _code(self, index, closing):
        """Scans code up to the `)` that closes an interpolation, or to the end. Returns the offset after it."""
        source, depth = self.source, 0
        while index < len(source):
            two = source[index : index + 2]
            if two == "//":
                end = source.find("\n", index)
                end = len(source) if end < 0 else end
                self._blank(index, end)
                index = end
            elif two == "/*":
                index = self._comment(index)
            elif match := re.compile(r'(#*)("""|")').match(source, index):
                index = self._string(index, len(match[1]), match[2])
            elif end := self._regex_end(index):
                self.regexes.append(index)
                self._blank(index, end)
                index = end
            else:
                if closing and source[index] == "(":
                    depth += 1
                elif closing and source[index] == ")":
                    if depth == 0:
                        return index + 1
                    depth -= 1
                index += 1
        return index

    def _comment(self, start):
        depth, index = 0, start
        while index < len(self.source):
            two = self.source[index : index + 2]
            depth += (two == "/*") - (two == "*/")
            index += 2 if two in ("/*", "*/") else 1
            if depth == 0:
                break
        self._blank(start, index)
        return index

    def _string(self, start, hashes, quote):
        source, end, escape = self.source, quote + "#" * hashes, "\\" + "#" * hashes
        index = begin = start + hashes + len(quote)
        self._blank(start, begin)
        while index < len(source):
            if source.startswith(end, index):
                self._blank(begin, index + len(end))
                return index + len(end)
            if quote == '"' and source[index] == "\n":
                break
            if source.startswith(escape + "(", index):
                self._blank(begin, index + len(escape))
                index = begin = self._code(index + len(escape) + 1, closing=")")
            elif source.startswith(escape, index):
                index += len(escape) + 1
            else:
                index += 1
        self._blank(begin, index)
        return index

    def _regex_end(self, index):
        """The offset after a regex literal that begins here, or None."""
        source = self.source
        if match := re.compile(r"(#+)/").match(source, index):
            end = source.find("/" + match[1], match.end())
            return end + 1 + len(match[1]) if end >= 0 else None
        if source[index] != "/" or re.match(r"\s|/|\*", source[index + 1 : index + 2] or " "):
            return None
        before = source[:index].rstrip()
        word = re.search(r"[A-Za-z_]\w*$", before)
        if before and (before[-1] in ")]}\"'`?!" or before[-1].isalnum() or before[-1] == "_"):
            if not (word and word[0] in KEYWORDS):
                return None
        match = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+/").match(source, index)
        return match.end() if match else None


def linux_only(condition):
    """Whether no Apple platform compiles what stands under this `#if` condition."""
    if "||" in condition:
        return False
    parts = [re.sub(r"\s", "", part) for part in condition.split("&&")]
    return any(part.strip("()") in ("os(Linux", "!canImport(Darwin") for part in parts)


def linux_only_lines(text):
    """The numbers of the lines inside `#if os(Linux)` or `#if !canImport(Darwin)`. Their `#else` is not meant."""
    inside, stack = set(), []
    for number, line in enumerate(text.split("\n"), 1):
        if match := re.match(r"\s*#(if|elseif|else|endif)\b(.*)", line):
            directive, condition = match.groups()
            if directive == "if":
                stack.append(linux_only(condition))
            elif directive == "endif" and stack:
                stack.pop()
            elif stack:
                stack[-1] = directive == "elseif" and linux_only(condition)
        elif any(stack):
            inside.add(number)
    return inside
