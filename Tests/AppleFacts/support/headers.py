# SPDX-License-Identifier: Apache-2.0
"""Writes Objective-C and C headers from facts. Each declaration has its fact's number as its comment, `fact 12`: the
compiler prints it with what it makes of the declaration.

The notation of types: `NSURL*` is never null, `?NSURL*` may be, `!NSURL*` does not say; `&int` is a pointer to one; a block is
`^(int, ?NSURL*) -> bool`, with `@Sendable` and `@MainActor` in front of it; a method is `(url: NSURL*) -> bool`."""

import re

# What every header here rests on. Classes that are in no fact have no members.
PRELUDES = {
    "ObjectiveC": """
typedef signed char BOOL;
typedef long NSInteger;
typedef unsigned long NSUInteger;
struct _NSZone;
typedef struct _NSZone NSZone;
__attribute__((swift_name("NSObjectProtocol"))) @protocol NSObject
- (bool)isEqual:(id _Nullable)object;
- (bool)respondsToSelector:(SEL _Null_unspecified)selector;
@end
__attribute__((objc_root_class)) @interface NSObject <NSObject>
- (instancetype _Nonnull)init;
@end
""",
    "Dispatch": """
@import ObjectiveC;
@class OS_dispatch_queue;
typedef OS_dispatch_queue *dispatch_queue_t;
""",
    "CoreFoundation": "@import ObjectiveC;\n",
    "Foundation": """
@import ObjectiveC;
@import Dispatch;
@import CoreFoundation;
@import Security;
typedef double NSTimeInterval __attribute__((swift_name("TimeInterval")));
typedef double CGFloat;
struct CGRect { double x, y, width, height; };
typedef struct CGRect CGRect;
@protocol NSCopying @end
@protocol NSMutableCopying @end
@protocol NSCoding @end
@protocol NSSecureCoding <NSCoding> @end
""",
    "Security": "@import CoreFoundation;\n@import Dispatch;\n",
    "WebKit": """
@import Foundation;
__attribute__((swift_attr("@UIActor"))) @interface UIView : NSObject @end
""",
    "BackgroundTasks": "@import Foundation;\n@import Dispatch;\n",
    "DeviceCheck": "@import Foundation;\n",
    "Darwin": "#include <stddef.h>\n",  # and nothing of this system's
}
# Classes of Foundation that Swift has a type of its own for.
BRIDGES = {
    "NSString": "Swift.String", "NSArray": "Swift.Array", "NSDictionary": "Swift.Dictionary", "NSSet": "Swift.Set",
    "NSError": "Swift.Error", "NSData": "Data", "NSURL": "URL", "NSDate": "Date", "NSURLRequest": "URLRequest",
    "NSDateInterval": "DateInterval", "NSUUID": "UUID",
}  # fmt: skip
GENERIC = {"NSArray": "<__covariant T>", "NSSet": "<__covariant T>", "NSDictionary": "<__covariant K, __covariant V>"}
# These keep their prefix in Swift.
PREFIXED = {"NSLocking", *BRIDGES, "NSObject", "NSNumber", "NSMutableURLRequest", "NSValue"}
NULLABILITY = {"?": "_Nullable", "!": "_Null_unspecified"}


def split(text, separator=","):
    """Splits at a separator that is in no brackets."""
    depth, part, parts = 0, "", []
    for position, letter in enumerate(text):
        depth += (letter in "([<{") - (letter in ")]}" or letter == ">" and text[position - 1] != "-")
        if letter == separator and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return parts + ([part.strip()] if part.strip() else [])


def closing(text, start):
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] == "(") - (text[position] == ")")
        if depth == 0:
            return position
    raise ValueError(f"no end of brackets: {text}")


class Writer:
    def __init__(self, module, facts):
        self.module, self.facts, self.rows = module, facts, [row for row in facts.of(module) if not row.is_swift]
        # Types that are pointers by their definition: Core Foundation's, Objective-C's objects, and blocks.
        self.pointers = {"CFTypeRef", "dispatch_queue_t"} | {
            row.name for row in facts.rows if row.kind in ("object", "reference") or (row.kind == "typealias" and "^(" in row.types)}
        self.used = set()

    def type(self, text, name=""):
        """A type of the notation with a name, as C writes it."""
        text = text.strip()
        mark = NULLABILITY.get(text[:1], "_Nonnull")
        text = text[1:] if text[:1] in NULLABILITY else text
        attributes = ""
        while text.startswith("@"):
            word, _, text = text.partition(" ")
            attributes += f'__attribute__((swift_attr("{"@UIActor" if word == "@MainActor" else word}"))) '
        if text.startswith("^("):
            end = closing(text, 1)
            result = text[end + 1:].strip().removeprefix("->").strip()
            parts = ", ".join(self.type(part) for part in split(text[2:end])) or "void"
            return f"{self.type(result) if result else 'void'} ({attributes}^ {mark} {name})({parts})"
        if text.startswith("&"):
            return self.type(text[1:], f"* {mark} {name}")
        if text == "bool" and self.module in ("Foundation", "WebKit", "BackgroundTasks", "DeviceCheck"):
            text = "BOOL"  # by which Swift knows what is called `is…` by its getter
        for found in re.findall(r"\b[A-Z]\w+(?=[*<])", text) if self.module != "Darwin" else ():
            self.used.add(found)
        for found in re.findall(r"id<(\w+)>", text):
            self.used.add(f"@{found}")
        if text.endswith("*") or text.startswith("id") and not text[2:3].isalnum() or text in ("Class", "SEL") or text in self.pointers:
            return f"{text} {mark} {name}".replace("SEL _Nonnull", "SEL _Nonnull").strip()
        return f"{text} {name}".strip()

    def parameters(self, text):
        """[(name, type)], and the type of the result."""
        end = closing(text, 0)
        parts = [tuple(part.strip() for part in one.split(":", 1)) for one in split(text[1:end])]
        return parts, text[end + 1:].strip().removeprefix("->").strip()

    def attributes(self, row):
        found = [f'swift_name("{row.option("swift")}")'] if row.option("swift") else []
        found += ['swift_attr("@Sendable")'] if "sendable" in row else []
        found += ['swift_attr("@UIActor")'] if "main-actor" in row else []
        found += [f'swift_async_name("{row.option("async")}")'] if row.option("async") else []
        found += ["swift_private"] if "refined" in row else []
        found += [f'swift_bridge("{BRIDGES[row.name]}")'] if row.name in BRIDGES else []
        return f"__attribute__(({', '.join(found)})) " if found else ""

    def members(self, owner):
        """What throws is in the overlay: the standard library here has no pointer for an error that is given back."""
        return [self.member(row) for row in self.rows if row.owner == owner.name and row.kind != "case" and "throws" not in row]

    def member(self, row):
        optional = ("@optional " if "optional" in row else "@required ") if self.is_protocol(row.owner) else ""
        comment = f"/// fact {row.number}\n"
        if row.kind == "property":
            options = ["nonatomic"] + (["class"] if "static" in row else []) + (["readonly"] if "readonly" in row else [])
            options += ["weak"] if "weak" in row else []
            options += [f"getter={row.option('getter')}"] if row.option("getter") else []
            return f"{optional}{comment}@property ({', '.join(options)}) {self.type(row.types, row.name)} {self.attributes(row)};"
        parts, result = self.parameters(row.types)
        sign = "+" if "static" in row else "-"
        if row.kind == "initializer":
            result = f"instancetype {'_Nullable' if 'failable' in row else '_Nonnull'}"
        else:
            result = self.type(result) if result else "void"
        if ":" in row.name:
            words = row.name.split(":")[:-1]
            name = " ".join(f"{word}:({self.type(kind)}){label}" for word, (label, kind) in zip(words, parts, strict=True))
        else:
            name = row.name
        return f"{optional}{comment}{sign} ({result}){name} {self.attributes(row)};"

    def is_protocol(self, owner):
        return any(row.kind == "protocol" and row.name == owner for row in self.rows)

    def enumeration(self, row):
        cases = [f"/// fact {case.number}\n{case.name}{self.case_name(case)} = {case.types}" for case in self.rows
                 if case.kind == "case" and case.owner == row.name]  # fmt: skip
        attributes = "enum_extensibility(open)"
        attributes += ", flag_enum" if row.kind == "options" else ""
        attributes += f', ns_error_domain({row.option("domain")})' if row.kind == "error enum" else ""
        if name := row.option("swift"):
            attributes += f', swift_name("{name}")'
        head = f"enum __attribute__(({attributes})) {row.name} : {row.types}"
        return f"/// fact {row.number}\n{head} {{\n{', '.join(cases)}\n}};\ntypedef enum {row.name} {row.name};"

    def case_name(self, case):
        return f' __attribute__((swift_name("{case.option("swift")}")))' if case.option("swift") else ""

    def function(self, row):
        parts, result = self.parameters(row.types)
        arguments = ", ".join(
            self.type(kind, name) + (" __attribute__((cf_returns_retained))" if "&?" in kind else "") for name, kind in parts)
        retained = "__attribute__((cf_returns_retained)) " if "retained" in row and "Ref" in result else ""
        retained = "__attribute__((ns_returns_retained)) " if "retained" in row and result.endswith("_t") else retained
        ends = ", ..." if "variadic" in row else ""
        return f"/// fact {row.number}\nextern {self.type(result) if result else 'void'} {row.name}({arguments + ends or 'void'}) {retained};"

    def text(self):
        """The header: types that are only named, enumerations, typedefs, protocols, classes, functions, constants."""
        of = {}
        for row in self.rows:
            of.setdefault(row.kind, []).append(row)
        body = []
        for row in of.get("constant", []):
            if "domain" in row:
                body.append(f"/// fact {row.number}\nextern {self.type(row.types, 'const ' + row.name)};")
        references = [
            f"/// fact {row.number}\ntypedef {row.types} *{row.name};" for row in of.get("reference", [])]
        objects = [
            f"@protocol {row.types} <NSObject> @end\n/// fact {row.number}\ntypedef NSObject<{row.types}> *{row.name};"
            for row in of.get("object", [])]  # fmt: skip
        for kind in ("enum", "options", "error enum"):
            body += [self.enumeration(row) for row in of.get(kind, [])]
        pack = {row.number: row.option("packed") for row in of.get("struct", [])}
        structs = [
            (f"#pragma pack(push, {pack[row.number]})\n" if pack[row.number] else "") +
            f"/// fact {row.number}\nstruct {self.attributes(row)}{row.name} {{ {row.types} }};" +
            (f"\ntypedef struct {row.name} {row.name};" if self.module != "Darwin" else "") +
            ("\n#pragma pack(pop)" if pack[row.number] else "") for row in of.get("struct", [])]  # fmt: skip
        aliases = [
            f"/// fact {row.number}\ntypedef {self.type(row.types, row.name).replace('_Nonnull ', '', 1)} {self.attributes(row)};"
            for row in of.get("typealias", [])]  # fmt: skip
        protocols = []
        for row in of.get("protocol", []):
            members = self.members(row)
            supers = row.types if row.types != "–" else ""
            self.used |= {f"@{name.strip()}" for name in supers.split(",") if name.strip()}
            supers = f" <{supers}>" if supers else ""
            protocols.append("\n".join([f"/// fact {row.number}\n{self.attributes(row)}@protocol {row.name}{supers}", *members, "@end"]))
        classes = {row.name: row for row in of.get("class", [])}
        written, done = [], set()

        def write(row):
            if row.name in done:
                return
            done.add(row.name)
            above, *adopted = split(row.types)
            self.used |= {above} | {f"@{name}" for name in adopted}
            if above in classes:
                write(classes[above])
            members = self.members(row)
            adopts = f" <{', '.join(adopted)}>" if adopted else ""
            written.append("\n".join(
                [f"/// fact {row.number}\n{self.attributes(row)}@interface {row.name} : {above}{adopts}", *members, "@end"]))

        for row in classes.values():
            write(row)
        functions = [self.function(row) for row in of.get("function", [])]
        constants = [
            f"/// fact {row.number}\nextern {self.type(row.types, 'const ' + row.name)} {self.attributes(row)};"
            for row in of.get("constant", []) if "domain" not in row]  # fmt: skip
        macros = [f"#define {row.name} {row.types}" for row in of.get("macro", [])]
        audited = "_Pragma(\"clang arc_cf_code_audited begin\")\n{}\n_Pragma(\"clang arc_cf_code_audited end\")"
        plain = [text for text in functions if "unaudited" not in self.facts.rows[int(re.search(r"fact (\d+)", text)[1]) - 2]]
        loose = [text for text in functions if text not in plain]
        parts = [
            "#pragma once", "#include <stdint.h>", "#include <stdbool.h>", PRELUDES.get(self.module, ""), *macros,
            *self.forward(set(classes), {row.name for row in of.get("protocol", [])}), *references, *objects,
            *([] if self.module != "Darwin" else [text for text in aliases if "struct " not in text]), *structs, *body,
            *(aliases if self.module != "Darwin" else [text for text in aliases if "struct " in text]), *protocols, *written, audited.format("\n".join(plain)) if plain else "", *loose, *constants,
        ]  # fmt: skip
        return "\n".join(parts) + "\n"

    def forward(self, classes, protocols):
        """Declarations of what is used: as it is to come, or without members where no fact has more."""
        elsewhere = {row.name for row in self.facts.rows if row.kind in ("class", "protocol") and row.framework != self.module}
        elsewhere |= {"NSObject"} | ({*BRIDGES, "NSNumber"} if self.module != "Foundation" else set())
        base = {"UIView", "NSObject", "NSCopying", "NSMutableCopying", "NSCoding", "NSSecureCoding"}
        lines = [f"@class {name};" for name in sorted(classes)] + [f"@protocol {name};" for name in sorted(protocols)]
        wanted = self.used | (set(BRIDGES) | {"NSNumber"} if self.module == "Foundation" else set())
        for name in sorted(wanted):
            if name.startswith("@"):
                if name[1:] not in protocols | elsewhere | base:
                    lines.append(f"@protocol {name[1:]} <NSObject> @end")
            elif name not in classes | elsewhere | base and name not in self.pointers:
                swift = f'swift_name("{name[2:]}")' if name.startswith("NS") and name not in PREFIXED else ""
                bridge = f'swift_bridge("{BRIDGES[name]}")' if name in BRIDGES else ""
                marks = ", ".join(mark for mark in (swift, bridge) if mark)
                lines.append(f"{f'__attribute__(({marks})) ' if marks else ''}@interface {name}{GENERIC.get(name, '')} : NSObject @end")
        return lines


def header(module, facts):
    """A module's header; nothing for a module of Swift's alone."""
    writer = Writer(module, facts)
    if not writer.rows and module not in PRELUDES:
        return ""
    writer.text()  # once for what is used
    return writer.text()
