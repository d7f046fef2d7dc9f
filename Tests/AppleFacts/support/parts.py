# SPDX-License-Identifier: Apache-2.0
"""The parts of check-apple-facts: each gives its differences, and a figure for the last line. Here are those of names and of the
page; the others are in project.py and platforms.py."""

import re

from platforms import manifests, probe  # noqa: F401
from project import adapter, examples, readings, selectors, systems  # noqa: F401
from signatures import TYPES, Signature

OBJECTIVE_C = ("ObjectiveC", "CoreFoundation", "Security", "Foundation", "WebKit", "BackgroundTasks", "DeviceCheck")
SECTIONS = {"Security": ("Security", "CoreFoundation"), "Foundation": ("Foundation", "ObjectiveC")}
# How a row of the page is known, from the confidence of its facts; the least of them counts.
KNOWN = {"machine": "by machine", "read": "read", "unknown": "unknown"}


def declarations(text):
    """{number of a fact, or name of a type: [(Swift's name, the declaration)]} of an interface as the compiler prints it."""
    found, owners, number, is_first, attributes = {}, [], 0, False, ""
    for line in text.splitlines():
        line = re.sub(r"/\*[^*]*\*/ ", "", line)
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        if comment := re.match(r"///? ?fact (\d+)", stripped):
            number, is_first = int(comment[1]), True
            continue
        if not stripped or stripped.startswith(("//", "import ", "#", "/*", "*")):
            continue
        if stripped.startswith("@") and not Signature(stripped.rstrip("{ ")).valid:
            attributes += f"{stripped} "
            continue
        while owners and indent <= owners[-1][0]:
            owners.pop()
        declaration, attributes = attributes + stripped.rstrip("{").strip(), ""
        signature = Signature(declaration)
        if not signature.valid or stripped == "}":
            continue
        owner = ".".join(name for _, name in owners)
        if signature.kind == "extension":
            owners.append((indent, signature.name))
            continue
        name = f"{owner}.{signature.name}" if owner else signature.name
        declaration = re.sub(r"\b(?:public|open) ", "", declaration)
        # Behind a method that answers by a handler stands its asynchronous form, without a comment of its own.
        if is_first or number and " async" in declaration:
            found.setdefault(number, []).append((name, declaration))
        else:
            number = 0
        is_first = False
        if signature.kind in TYPES:
            found.setdefault(name, []).append((name, declaration))
        if signature.kind in TYPES and stripped.endswith("{"):
            owners.append((indent, signature.name))
    return found


def names(build, update):
    """What Swift makes of each declaration, and what facts.tsv says it makes."""
    differences, count = [], 0
    for module in OBJECTIVE_C:
        found = declarations(build.interface(module))
        for row in build.facts.of(module):
            if row.is_swift or row.kind == "macro" or "refined" in row or "throws" in row:
                continue
            # A class's comment is lost where the class is named before.
            made = found.get(row.number, []) or (found.get(row.option("swift") or row.name, []) if not row.owner else [])
            if not made:
                if not update and row.swift:
                    differences.append(f"{row.framework} {row.owner or row.name} {row.name}: Swift has nothing of it")
                continue
            count += 1
            swift, declaration = made[0][0], " || ".join(text for _, text in made)
            if update:
                row.swift, row.declaration = swift, declaration
            elif (row.swift, row.declaration) != (swift, declaration):
                differences.append(f"{row.framework} {row.name}: {swift}: {declaration}; facts.tsv has {row.swift}: {row.declaration}")
    if update:
        build.facts.write()
    return differences, f"{count} of Objective-C and C"


# The page of stand-ins.


def rows(page):
    """(section, symbols, cells) of each row of its tables."""
    section = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line[3:].strip()
        elif line.startswith("| `"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            yield section, re.findall(r"`([^`]+)`", cells[0]), cells, line


def version(text):
    """A version as numbers, without zeros at its end: 10.0 and 10 are one."""
    numbers = [int(part) for part in re.findall(r"\d+", text)]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers


def is_sendable(facts, row):
    """Whether a type is Sendable by itself or by what is above it; a value type is by what its declaration says."""
    words = Signature(row.declaration.split(" || ")[0]).result if row.declaration else set()
    if "Sendable" in words or "sendable" in row or re.search(r"@(?:unchecked )?Sendable|@Sendable", row.declaration):
        return True
    if row.kind in ("enum", "options", "case") and not row.is_swift:
        return True
    supers = [part.strip() for part in row.types.split(",")] if row.types else [part.replace("unchecked ", "") for part in words]
    return any(is_sendable(facts, other) for other in facts if other.kind in ("class", "protocol") and
               (other.name or other.swift) in supers and other is not row)  # fmt: skip


def is_main(facts, row):
    if "main-actor" in row or "@MainActor" in row.declaration.split("class ")[0].split("protocol ")[0]:
        return True
    supers = [part.strip() for part in row.types.split(",") if part.strip()]
    return row.kind == "class" and any(is_main(facts, other) for other in facts if other.kind == "class" and other.name in supers)


def how_known(facts):
    """What the last column of the page says."""
    confidences = {row.confidence for row in facts} or {"unknown"}
    return KNOWN[next(one for one in reversed(KNOWN) if one in confidences)]


def write_known(page, known):
    """Writes the last column."""
    lines, section = [], ""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line[3:].strip()
        if line in known:
            line = f"{line.rsplit(' | ', 1)[0] if line.rsplit(' | ', 1)[-1].removesuffix(' |') in KNOWN.values() else line[:-2]} | {known[line]} |"
        lines.append(line)
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def table(build, update):
    """docs/apple-shim.md, row by row."""
    page = build.project / "docs/apple-shim.md"
    facts, differences = build.facts.rows, []
    by_name = {}
    for row in facts:
        if row.kind == "object":
            by_name.setdefault((row.framework, row.types), []).append((row, Signature(f"protocol {row.types}: NSObjectProtocol")))
        if row.kind == "error enum" and (name := row.option("swift")):
            # Swift makes an error of it, which has the enumeration in it.
            for symbol, text in ((name, "struct Error: Error, Hashable, Sendable"), (f"{name}.code", "var code: Code { get }"),
                                 (f"{name}.init(_:)", "init(_ code: Code)")):  # fmt: skip
                by_name.setdefault((row.framework, symbol), []).append((row, Signature(text)))
        for text in row.declaration.split(" || "):
            signature = Signature(text) if text else None
            owner = row.swift.partition("(")[0].rpartition(".")[0]
            if signature and signature.valid:
                name = row.swift if signature.kind in TYPES else f"{owner}.{signature.name}" if owner else signature.name
                by_name.setdefault((row.framework, name), []).append((row, signature))
                if "(" in signature.name and not owner:
                    by_name.setdefault((row.framework, signature.name.partition("(")[0]), []).append((row, signature))
    count = {"agree": 0, "differ": 0, "without a fact": 0}
    says = {}
    for section, symbols, cells, line in rows(page):
        frameworks = SECTIONS.get(section, (section,))
        if section == "What is not Apple's":
            continue
        found = [pair[0] for symbol in symbols for name in inherited(facts, symbol) for framework in frameworks
                 for pair in by_name.get((framework, name), [])]  # fmt: skip
        says[line] = how_known(found)
        if not update and cells[-1] != says[line]:
            differences.append(f"{symbols[0]}: the page says that it is known {cells[-1] if len(cells) > 6 else 'in no way'}: it is {says[line]}")
        for symbol in symbols:
            known = [pair for name in inherited(facts, symbol) for framework in frameworks for pair in by_name.get((framework, name), [])]
            if symbol.endswith(".copy(with:)") and not known or cells[5].startswith("Stands for"):
                count["agree"] += 1  # a stand-in that says it is one; what NSCopying asks for
                continue
            text = re.sub(r"^`+ ?| ?`+$", "", cells[1]).replace("…", symbol.rpartition(".")[2])
            mine = Signature(text)
            why = compare(facts, symbol, mine, cells, known)
            if not known:
                owner = symbol.partition("(")[0].rpartition(".")[0]
                whole = next((row for row in facts if row.swift == owner and "whole" in row and row.framework in frameworks), None)
                near = nearest(symbol, by_name, frameworks)
                if whole:
                    why = [f"there is no such declaration in {whole.name}" + (f"; there is {near}" if near else "")]
                else:
                    count["without a fact"] += 1
                    differences.append(f"{symbol}: no fact" + (f"; there is {near}" if near else ""))
                    continue
            count["differ" if why else "agree"] += 1
            differences += [f"{symbol}: {one}" for one in why]
    if update:
        write_known(page, says)
    amounts = [f"{list(says.values()).count(word)} {word}" for word in KNOWN.values()]
    return differences, ", ".join([*(f"{number} {word}" for word, number in count.items()), "rows known: " + ", ".join(amounts)])


def inherited(facts, symbol):
    """The symbol, and the names that it would have if it were declared in a class above its own."""
    owner, _, name = symbol.partition("(")[0].rpartition(".")
    rest = symbol[len(owner) + 1:] if owner else ""
    names = [symbol]
    row = next((row for row in facts if row.kind == "class" and row.swift == owner), None)
    while owner and row:
        above = row.types.split(",")[0].strip()
        row = next((other for other in facts if above and other.kind == "class" and other.name == above), None)
        if row:
            names.append(f"{row.swift}.{rest}")
    return names


def nearest(symbol, by_name, frameworks):
    """A declaration of the same owner whose words are the most alike."""
    owner = symbol.partition("(")[0].rpartition(".")[0]
    words = set(re.findall(r"[A-Z]?[a-z]+", symbol.lower()))
    close = [(len(words & set(re.findall(r"[A-Z]?[a-z]+", name.lower()))) / len(words | set(re.findall(r"[A-Z]?[a-z]+", name.lower()))), name)
             for framework, name in by_name if framework in frameworks and name.partition("(")[0].rpartition(".")[0] == owner]  # fmt: skip
    score, name = max(close, default=(0, ""))
    return name if score > 0.5 else ""


def compare(facts, symbol, mine, cells, known):
    if not known:
        return []
    why = []
    same = [pair for pair in known if mine.agrees(pair[1])] if mine.valid else known
    if not same:
        return [f"{mine.text} <> {' || '.join(signature.text for _, signature in known)}"]
    row, signature = same[0]
    is_first = signature.text == Signature(row.declaration.split(" || ")[0]).text
    if signature.kind in TYPES:
        says = cells[4]
        sendable, main = is_sendable(facts, row), is_main(facts, row)
        if "Sendable" in says and row.kind != "protocol" or row.kind == "protocol" and "Sendable" in says:
            claimed = "not Sendable" not in says
            if claimed != sendable and not main:
                why.append(f"the table says {'Sendable' if claimed else 'not Sendable'}, the facts say {'Sendable' if sendable else 'not Sendable'}")
        if ("@MainActor" in says) != main and not says.startswith("Sendable"):
            why.append(f"the table says {'' if '@MainActor' in says else 'not '}@MainActor, the facts say {'' if main else 'not '}@MainActor")
        if isinstance(mine.result, set) and row.is_swift:
            for word in ("Hashable", "Equatable", "Error"):
                if word in mine.result and word not in signature.result and not (word == "Equatable" and "Hashable" in signature.result):
                    why.append(f"the table says {word}, the facts do not")
    elif "@MainActor" in "".join(mine.types) and "@MainActor" not in "".join(signature.types):
        why.append("@MainActor in the table alone")
    versions = [part.strip() for part in cells[3].split("/")] if len(cells) > 3 and "/" in cells[3] and is_first and row.swift == symbol else []
    for claimed, given, system in zip(versions, (row.ios, row.macos), ("iOS", "macOS")):
        if given and claimed not in ("–", "") and version(claimed) != version(given) and version(given) > [2]:
            why.append(f"{system} {claimed} in the table, {given} in {row.source.split(' + ')[-1]}")
        if given and claimed == "–":
            why.append(f"not in {system} by the table, from {given} on in {row.source.split(' + ')[-1]}")
    return why
