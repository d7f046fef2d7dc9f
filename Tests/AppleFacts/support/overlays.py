# SPDX-License-Identifier: Apache-2.0
"""Writes the Swift part of a module: the facts that are Swift's alone, with bodies that are never run, and what the compiler
needs to import Objective-C, from support/*.swift."""

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
IMPORTS = {
    "ObjectiveC": ("ObjectiveC",), "Dispatch": ("Dispatch", "ObjectiveC"), "CoreFoundation": ("CoreFoundation",),
    "Security": ("Security", "CoreFoundation"),
    "Darwin": ("Darwin",), "Foundation": ("Foundation", "ObjectiveC", "Darwin", "CoreFoundation", "Security"), "Network": ("Foundation", "Security"), "BackgroundTasks": ("BackgroundTasks", "Foundation"),
    "DeviceCheck": ("DeviceCheck", "Foundation"),
}  # fmt: skip
# Dispatch is to be imported where its members are used.
UNEXPORTED = {"Foundation": ("Dispatch",), "Security": ("Dispatch",), "Network": ("Dispatch",)}
BODY = " { fatalError() }"
TYPES = ("struct", "enum", "class", "protocol", "actor")


def declared(row):
    """The declaration, with access and a body."""
    text = row.declaration
    marks = re.match(r"(?:@\w+(?:\([^)]*\))? )*", text)[0]
    rest = text[len(marks):]
    return marks, rest


def member(row, in_protocol, in_extension_of_class):
    marks, rest = declared(row)
    if row.kind == "case":
        return f"{marks}{rest}"
    if row.kind in ("typealias", "associatedtype"):
        return f"{marks}{'' if in_protocol else 'public '}{rest}"
    if in_protocol and "extension" not in row:
        return f"{marks}{rest}" + (" { get }" if re.match(r"(static )?var ", rest) and "{" not in rest else "")
    if re.match(r"(?:(?:static|class|final|weak) )*(var|let) ", rest):
        get = re.search(r"\s*\{\s*(get(?: async)?(?: throws)?)(?: (set))?\s*\}$", rest)
        is_constant = re.match(r"(?:(?:static|final) )*let ", rest)
        head = re.sub(r"\blet ", "var ", rest[:get.start()] if get else rest, count=1)
        head = head.replace("weak ", "")
        if get and not get[2] or is_constant:
            return f"{marks}public {head} {{ {get[1] if get else 'get'}{BODY} }}"
        return f"{marks}public {head} {{ get{BODY} set {{}} }}"
    if rest.startswith(("init", "convenience init", "required init")) and in_extension_of_class:
        rest = "convenience " + rest.removeprefix("convenience ").removeprefix("required ")
    return f"{marks}public {rest}{BODY}"


def overlay(module, facts):
    rows = [row for row in facts.of(module) if row.is_swift or "throws" in row]
    glue = HERE / f"{module}.swift"
    if not rows and not glue.exists():
        return ""
    types = {row.swift: row for row in rows if row.kind in TYPES}
    members = {}
    for row in rows:
        if row.kind not in TYPES:
            members.setdefault(row.swift.partition("(")[0].rpartition(".")[0], []).append(row)
    lines = [f"@_exported import {name}" for name in IMPORTS.get(module, ())]
    # Not exported: whether who imports one has the other as well differs between versions.
    lines += [f"import {name}" for name in UNEXPORTED.get(module, ())]

    def write(name, indent):
        row = types[name]
        marks, rest = declared(row)
        is_open = "public " if row.kind != "class" or "final " in rest else "open "
        lines.append(f"{indent}{marks}{is_open}{rest} {{")
        for one in members.pop(name, []):
            if "extension" in one:
                members.setdefault(f"extension {name}", []).append(one)
            else:
                lines.append(f"{indent}    {member(one, row.kind == 'protocol', False)}")
        for nested in [other for other in types if other.rpartition(".")[0] == name]:
            write(nested, indent + "    ")
        lines.append(f"{indent}}}")

    for name in types:
        if name.rpartition(".")[0] not in types:
            if owner := name.rpartition(".")[0]:
                lines.append(f"extension {owner} {{")
            write(name, "    " if owner else "")
            if owner:
                lines.append("}")
    for owner, rest in members.items():
        if not owner:
            lines += [member(row, False, False) for row in rest]
            continue
        # A class that Objective-C has: what is added to it is in an extension.
        owner = owner.removeprefix("extension ")
        is_class = any(row.kind == "class" and owner in (row.swift, row.name, row.option("swift")) for row in facts.rows)
        lines += [f"extension {owner} {{", *(f"    {member(row, False, is_class)}" for row in rest), "}"]
    if glue.exists():
        lines.append(re.sub(r"^//.*\n", "", glue.read_text(encoding="utf-8"), flags=re.M))
    return "\n".join(lines) + "\n"
