# SPDX-License-Identifier: Apache-2.0
"""The parts of check-apple-facts that compile the project's own code: each gives its differences, and a figure."""

import re
import shutil
from pathlib import Path

from facts import LACKING
from platforms import ABOVE, LIBRARIES, apple_headers, questions, xcode_project
from signatures import Signature

def copied(build, folder, name):
    """A target's sources, as Apple's compiler would see them: this one is told that the system, iOS or the one that is asked
    for, is Linux, and that Linux is another one."""
    target = build.folder / "sources" / name
    shutil.rmtree(target, ignore_errors=True)
    files = []
    for file in sorted((build.project / folder).rglob("*.swift")):
        text = file.read_text(encoding="utf-8")
        text = text.replace("os(Linux)", "os(Windows)").replace(f"os({build.system})", "os(Linux)").replace("canImport(Glibc)", "false")
        place = target / file.relative_to(build.project / folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        files.append(place)
    return files


def told(build, errors):
    """Errors with the project's paths."""
    return [line.replace(f"{build.folder}/sources/", "Sources/").replace("error: ", "") for line in errors]


def libraries(build):
    """The modules below the adapter: our stand-ins for packages, the C probe, and the project's own, once."""
    if hasattr(build, "library_errors"):
        return build.library_errors
    here = Path(__file__).resolve().parent
    build.library_errors = []
    for name in ("Crypto", "Logging"):
        build.module(name, [here / f"{name}.swift"])
    probe = build.headers / "probe"
    probe.mkdir(exist_ok=True)
    apple_headers(build, probe)
    text = (build.project / "Sources/CRuntimeProbe/include/CRuntimeProbe.h").read_text(encoding="utf-8")
    text = text.replace("defined(__linux__)", "0").replace("defined(__APPLE__)", "1")
    text = re.sub(r"#include <([\w/.-]+)>", lambda found: "" if found[1] != "stddef.h" and found[1] != "stdint.h" else found[0], text)
    (probe / "CRuntimeProbe.h").write_text('#include "../Darwin.h"\n' + text, encoding="utf-8")
    (probe / "module.modulemap").write_text('module CRuntimeProbe { header "CRuntimeProbe.h" export * }\n', encoding="utf-8")
    for name in LIBRARIES:
        files = copied(build, f"Sources/{name}", name)
        errors = build.swift(
            files, "-emit-module", "-module-name", name, "-parse-as-library", "-o", build.modules / f"{name}.swiftmodule", "-I", probe,
            "-experimental-allow-module-with-compiler-errors")
        build.library_errors += told(build, errors)
    return build.library_errors


def adapter(build):
    """Sources/PinningURLSession and what it rests on, each file with all others."""
    below = libraries(build)
    files = copied(build, "Sources/PinningURLSession", "PinningURLSession")
    header = build.folder / "PinningURLSession.h"
    errors = told(build, build.swift(
        files, "-emit-module", "-module-name", "PinningURLSession", "-parse-as-library", "-o",
        build.modules / "PinningURLSession.swiftmodule", "-emit-objc-header-path", header, "-I", build.headers / "probe",
        "-experimental-allow-module-with-compiler-errors"))  # fmt: skip
    for name in ABOVE:
        errors += told(build, build.swift(
            copied(build, f"Sources/{name}", name), "-emit-module", "-module-name", name, "-parse-as-library", "-o",
            build.modules / f"{name}.swiftmodule", "-I", build.headers / "probe",
            "-experimental-allow-module-with-compiler-errors"))  # fmt: skip
    count = len(files) + sum(len(list((build.project / f"Sources/{name}").rglob("*.swift"))) for name in (*LIBRARIES, *ABOVE))
    return below + errors, f"{count} files, {len(below) + len(errors)} errors"


def selectors(build):
    """The Objective-C selectors of the delegates, as the compiler writes them into their header."""
    source = build.project / "Sources/PinningURLSession"
    # The delegates alone, without bodies: their selectors are wanted also where a body does not compile.
    text = ["public import Foundation\npublic import WebKit\n"]
    methods = []
    for name in ("ForwardingSessionDelegate", "PinnedNavigationDelegate"):
        body = (source / f"{name}.swift").read_text(encoding="utf-8")
        head = re.search(rf"(?:@MainActor\n)?open class {name}:[^{{]*{{", body)[0]
        found = [one for one in re.findall(r"^    open func [^{]*(?={)", body, re.M) if "responds(to" not in one]
        methods += [re.sub(r"\s+", " ", one) for one in found]
        text.append("\n".join([head, *(f"{one} {{}}" for one in found), "}"]))
    file = build.folder / "delegates.swift"
    file.write_text("\n".join(text), encoding="utf-8")
    header = build.folder / "delegates.h"
    errors = build.swift(
        [file], "-suppress-warnings", "-emit-module", "-module-name", "Delegates", "-parse-as-library", "-o", build.folder / "Delegates.swiftmodule",
        "-emit-objc-header-path", header)
    if not header.exists():
        return told(build, errors), "no header"
    given = set()
    for line in header.read_text(encoding="utf-8").splitlines():
        if line.startswith("- (void)"):
            given.add("".join(re.findall(r"(?:(?<=^)|(?<=\s))(\w+:)(?=\()", line[len("- (void)"):])))
    facts = [row for row in build.facts.rows if row.kind == "method" and re.search(r"^NSURLSession\w*Delegate$|^WKNavigationDelegate$", row.owner)]
    # A method without a class has no selector: it is identified by its name.
    known = {row.swift.partition(".")[2] for row in facts}
    names = [Signature(one.strip()).name for one in methods]
    wrong = [f"{name} is a method of no delegate's protocol: it is never called" for name in names if name not in known]
    wrong += [f"{selector} is a selector of no delegate's protocol: it is never called" for selector in sorted(given - {row.name for row in facts})]
    asked = len(given & {row.name for row in facts})
    ours = {row.name for row in facts if row.owner != "WKNavigationDelegate"}
    wrong += [f"{selector} of a session's delegate is not forwarded" for selector in sorted(ours - given - {CHALLENGE_OF_SESSION})]
    # Selectors that are written as text.
    for file in sorted([*source.glob("*.swift"), build.project / METHODS]):
        for text in re.findall(r'"(URLSession[A-Z]?\w*:[\w:]*)"', file.read_text(encoding="utf-8")):
            if text not in ours:
                wrong.append(f"{file.name}: {text} is a selector of no delegate's protocol")
    wrong += overridden(build, ours)
    return wrong, f"{asked} of {len(methods)} are the protocols'"


CHALLENGE_OF_SESSION = "URLSession:didReceiveChallenge:completionHandler:"
# What the tests against the stand-ins say of the adapter's methods, because Swift on Linux cannot.
METHODS = "Tests/AppleShims/Tests/PinningURLSessionAppleTests/Support/AdapterMethods.swift"


def overridden(build, selectors):
    """Whether the tests' lists are those of the adapter, as the compiler writes it into its header."""
    header = build.folder / "PinningURLSession.h"
    if not header.exists():
        return []
    text = header.read_text(encoding="utf-8")
    body = text[text.index("PinnedSessionDelegate : ForwardingSessionDelegate"):].partition("@end")[0]
    own = {"".join(re.findall(r"(?:(?<=^)|(?<=\s))(\w+:)(?=\()", line[len("- (void)"):])) for line in body.splitlines()
           if line.startswith("- (void)URLSession")}  # fmt: skip
    lists = (build.project / METHODS).read_text(encoding="utf-8")
    said = {name: set(re.findall(r'"(URLSession[\w:]*)"', re.search(rf"static let {name}: Set<String> = \[(.*?)\]", lists, re.S)[1]))
            for name in ("pinned", "forwarded")}  # fmt: skip
    wrong = [f"{name} is overridden, or said to be, and not both" for name in sorted(own ^ said["pinned"])]
    return wrong + [f"{name} is forwarded, or said to be, and not both" for name in sorted((selectors - own - {CHALLENGE_OF_SESSION}) ^ said["forwarded"])]


def examples(build):
    """The sample app for iOS, on the stand-ins of SwiftUI."""
    if not (build.modules / "PinningURLSession.swiftmodule").exists():
        return [], "not asked: the adapter does not compile"
    # Nothing machine-readable was found of SwiftUI: the project's own stand-in is taken for it.
    build.module("SwiftUI", sorted((build.project / "Tests/AppleShims/Sources/SwiftUIShim").glob("*.swift")))
    files = sorted((build.project / "Examples/iOS/BankApp").glob("*.swift"))
    errors = build.swift(files, "-typecheck", "-module-name", "BankApp", "-parse-as-library", "-I", build.headers / "probe", features=False)
    # What asks a Mac: it has never run either.
    asking = sorted((build.project / "Tests/OnAMac/Sources/WhatAMacShows").glob("*.swift"))
    errors += build.swift(asking, "-typecheck", "-module-name", "WhatAMacShows", "-parse-as-library", "-I", build.headers / "probe", features=False)
    errors = [line.replace(f"{build.project}/", "").replace("error: ", "") for line in errors]
    return errors + isolated(build, files) + xcode_project(build) + questions(build), f"{len(files) + len(asking)} files, {len(errors)} errors"


def isolated(build, files):
    """Closures that the system calls on a queue of its own, and that would be the main actor's in an app where everything is:
    the system's call would end it."""
    wrong = []
    guide = build.folder / "guide.swift"
    text = (build.project / "docs/guides/apple-platforms.md").read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r"^```swift\n(.*?)^```", text, re.M | re.S) if "import BackgroundTasks" in block]
    guide.write_text("\n".join(blocks), encoding="utf-8")
    for name, sources in (("Examples/iOS", files), ("docs/guides/apple-platforms.md", [guide])):
        output = build.folder / "isolation.sil"
        build.swift(
            sources, "-emit-silgen", "-o", output, "-module-name", "BankApp", "-parse-as-library", "-default-isolation", "MainActor",
            "-I", build.headers / "probe", features=False)  # fmt: skip
        lines = output.read_text(encoding="utf-8").splitlines() if output.exists() else []
        found = [(line, after) for line, after in zip(lines, lines[1:]) if line.startswith("// closure #1 ") and "egister" in line]
        if not found:
            wrong.append(f"{name}: no handler of a background task was found")
        wrong += [f"{name}: {line[3:]} is the main actor's where everything is: the app would end" for line, after in found
                  if "global_actor" in after and " of " not in line]  # fmt: skip
        output.unlink(missing_ok=True)
    return wrong


def readings(build):
    """The adapter and the sample app, where each handler is `@Sendable` that the facts have otherwise, and the other way round."""
    other = build.other("reading", other_reading=True)
    errors, figure = adapter(other)
    more, _ = examples(other)
    return [f"other reading: {line}" for line in other.problems + errors + more], figure


def systems(build):
    """The adapter, without what a system has not."""
    errors = []
    for system in LACKING:
        other = build.other(system, system)
        errors += [f"{system}: {line}" for line in other.problems + adapter(other)[0]]
    return errors, f"{len(LACKING)} systems, {len(errors)} errors"
