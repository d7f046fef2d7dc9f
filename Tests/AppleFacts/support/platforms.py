# SPDX-License-Identifier: Apache-2.0
"""The parts of check-apple-facts that are of C, of privacy manifests and of Xcode's project."""

import plistlib
import re
import subprocess
from pathlib import Path

# The libraries that an app may link, beside the adapter.
LIBRARIES = ("CertificatePinning", "PinListMetadata", "PinFailureReports", "CertificateTransparency", "PinListClient", "RuntimeIntegrity")
# What an app may link that imports the adapter.
ABOVE = ("PinningIntegrity",)
APPLE = ("arm64-apple-ios15.0", "arm64-apple-macos12.0", "arm64-apple-tvos15.0", "arm64_32-apple-watchos8.0", "arm64-apple-xros1.0")


def apple_headers(build, folder):
    """Headers of the names that the C probe includes, each with all that the facts have of the system."""
    text = (build.project / "Sources/CRuntimeProbe/include/CRuntimeProbe.h").read_text(encoding="utf-8")
    part = text[text.index("defined(__APPLE__)"):]
    for name in re.findall(r"#include <([\w/.-]+)>", part):
        file = folder / "system" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'#include "{build.headers}/Darwin.h"\n', encoding="utf-8")


def probe(build):
    """The C probe, by clang, for each of Apple's platforms."""
    folder = build.headers / "probe"
    folder.mkdir(exist_ok=True)
    apple_headers(build, folder)
    if not any(row.framework == "Darwin" for row in build.facts.rows):
        return [], "no facts"
    differences = []
    for target in APPLE:
        result = subprocess.run(
            [str(build.usr / "bin/clang"), "-target", target, "-fsyntax-only", "-nostdlibinc", "-Wall", "-Werror=implicit-function-declaration",
             "-isystem", str(folder / "system"), "-I", str(build.project / "Sources/CRuntimeProbe/include"),
             str(build.project / "Sources/CRuntimeProbe/probe.c")], capture_output=True, text=True)  # fmt: skip
        lines = [line for line in result.stderr.splitlines() if re.search(r"(?:error|warning):", line)]
        differences += [f"{target}: {line.replace(f'{build.project}/', '')}" for line in lines]
    return differences + run_probe(build), f"{len(APPLE)} platforms"


def run_probe(build):
    """What the probe makes of the answers of `sysctl`, and of sockets: compiled for this system, with a `sysctl` of our own."""
    program = build.folder / "processes"
    shims = build.project / "Tests/AppleShims/Probe"
    result = subprocess.run(
        [str(build.usr / "bin/clang"), "-std=gnu11", "-O1", "-Wno-macro-redefined", "-isystem", str(shims), "-o", str(program),
         str(Path(__file__).resolve().parent / "processes.c")], capture_output=True, text=True)  # fmt: skip
    if result.returncode:
        return [f"processes.c: {result.stderr[-600:]}"]
    result = subprocess.run([str(program)], capture_output=True, text=True)
    return result.stdout.splitlines() if result.returncode else []


# What Apple wants a reason for (documentation, "Describing use of required reason API"), as the libraries could call it.
REASONS = {
    "NSPrivacyAccessedAPICategoryFileTimestamp": r"\b(?:f|l)?stat(?:at)?\(|\bgetattrlist\w*\(|\.(?:creation|modification)Date\b|\battributesOfItem\b",
    "NSPrivacyAccessedAPICategorySystemBootTime": r"\bsystemUptime\b|\bmach_absolute_time\b",
    "NSPrivacyAccessedAPICategoryDiskSpace": r"\bf?statv?fs\(|\bvolumeAvailableCapacity|\.systemFreeSize\b",
    "NSPrivacyAccessedAPICategoryUserDefaults": r"\bUserDefaults\b",
    "NSPrivacyAccessedAPICategoryActiveKeyboards": r"\bactiveInputModes\b",
}  # fmt: skip

# What a library could collect, by the calls that do.
COLLECTED = {"NSPrivacyCollectedDataTypeDeviceID": r"\.generateAssertion\("}
# What each kind of data that is collected says of itself (documentation, "Describing data use in privacy manifests").
COLLECTION = {
    "NSPrivacyCollectedDataTypeLinked": False, "NSPrivacyCollectedDataTypeTracking": False,
    "NSPrivacyCollectedDataTypePurposes": ["NSPrivacyCollectedDataTypePurposeAppFunctionality"],
}  # fmt: skip


def collected(name, manifest, code):
    """Whether a library's privacy manifest names what the library could collect, and nothing else."""
    needed = {kind for kind, pattern in COLLECTED.items() if re.search(pattern, code)}
    content = plistlib.loads(manifest.read_bytes()) if manifest.exists() else {}
    said = {one.get("NSPrivacyCollectedDataType"): one for one in content.get("NSPrivacyCollectedDataTypes", [])}
    wrong = [f"{name} can send {kind}, and its privacy manifest does not say so" for kind in sorted(needed - set(said))]
    wrong += [f"{name} says {kind}, and sends nothing of it" for kind in sorted(set(said) - needed)]
    return wrong + [f"{name} says of {kind}: {key} is {one.get(key)}, not {value}" for kind, one in said.items()
                    for key, value in COLLECTION.items() if one.get(key) != value]  # fmt: skip


def manifests(build):
    """Privacy manifests, where they are needed."""
    package = (build.project / "Package.swift").read_text(encoding="utf-8")
    wrong, count = [], 0
    for name in (*LIBRARIES, *ABOVE, "CRuntimeProbe", "PinningURLSession", "PinningMigration"):
        folder = build.project / "Sources" / name
        files = [file for file in folder.rglob("*") if file.suffix in (".swift", ".h", ".c") and not file.name.startswith("LinuxMachine")]
        code = "\n".join(re.sub(r"//.*", "", file.read_text(encoding="utf-8")) for file in files)
        needed = {category for category, pattern in REASONS.items() if re.search(pattern, code)}
        manifest = folder / "PrivacyInfo.xcprivacy"
        said = set(re.findall(r"<string>(NSPrivacyAccessedAPICategory\w+)</string>", manifest.read_text(encoding="utf-8"))) if manifest.exists() else set()
        count += manifest.exists()
        wrong += collected(name, manifest, code)
        wrong += [f"{name} calls what needs {category}, and its privacy manifest does not say so" for category in sorted(needed - said)]
        wrong += [f"{name} says {category}, and calls nothing of it" for category in sorted(said - needed)]
        target = re.search(rf'\.target\(\s*name: "{name}".*?(?=\n        \.t)', package, re.S)
        if manifest.exists() and target and "PrivacyInfo.xcprivacy" not in target[0]:
            wrong.append(f"{name} has a privacy manifest that is no resource in Package.swift")
    return wrong, f"{count} files"


def questions(build):
    """Whether the page of what a Mac has to show, and the tool that asks it, have the same questions."""
    page = (build.project / "docs/what-a-mac-has-to-show.md").read_text(encoding="utf-8")
    cells = [line.split(" | ")[1] for line in page.splitlines() if line.startswith("| **")]
    asked = {name for cell in cells for name in re.findall(r"`([a-z0-9]+)`", cell)}
    tool = (build.project / "Tests/OnAMac/Sources/WhatAMacShows/Questions.swift").read_text(encoding="utf-8")
    return [f"docs/what-a-mac-has-to-show.md and Tests/OnAMac: {name} is in one of them alone"
            for name in sorted(asked ^ set(re.findall(r'Question\("(\w+)"\)', tool)))]  # fmt: skip


def references(value):
    """The identifiers that a value of a project names."""
    if isinstance(value, dict):
        return [one for part in value.values() for one in references(part)]
    if isinstance(value, list):
        return [one for part in value for one in references(part)]
    return re.findall(r"^[0-9A-F]{24}$", value)


def xcode_project(build):
    """Whether the sample app's project names only what is there: Xcode has never opened it."""
    project = build.project / "Examples/iOS/BankApp.xcodeproj"
    found = plistlib.loads((project / "project.pbxproj").read_bytes())
    objects = found["objects"]
    named = {found["rootObject"], *references(objects)}
    wrong = [f"nothing is called {one}" for one in sorted(named - set(objects))]
    wrong += [f"{one} is named by nothing" for one in sorted(set(objects) - named)]
    package = (build.project / "Package.swift").read_text(encoding="utf-8")
    for one in objects.values():
        if one["isa"] == "XCLocalSwiftPackageReference" and not (project.parent / one["relativePath"] / "Package.swift").exists():
            wrong.append(f"there is no package at {one['relativePath']}")
        if one["isa"] == "XCSwiftPackageProductDependency" and f'.library(name: "{one["productName"]}"' not in package:
            wrong.append(f"the package has no product {one['productName']}")
        if one.get("sourceTree") == "<group>" and "path" in one and not (project.parent / one["path"]).exists():
            wrong.append(f"there is no {one['path']}")
    information = plistlib.loads((project.parent / "Info.plist").read_bytes())
    code = (project.parent / "BankApp/BackgroundRefresh.swift").read_text(encoding="utf-8")
    wrong += [f"nothing is registered for {one}" for one in information["BGTaskSchedulerPermittedIdentifiers"] if f'"{one}"' not in code]
    scheme = (project / "xcshareddata/xcschemes/BankApp.xcscheme").read_text(encoding="utf-8")
    wrong += [f"the scheme names {one}" for one in sorted(set(re.findall(r'BlueprintIdentifier="(\w+)"', scheme)) - set(objects))]
    return [f"Examples/iOS/BankApp.xcodeproj: {line}" for line in wrong]
