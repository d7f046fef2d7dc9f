// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A module of PKCS #11 that this test compiles, whose numbers are lies.
@Suite("A token's module that claims more than there is", .needsCompilerOfC)
struct LyingTokenTests {
    /// The first C compiler on PATH, or `nil`.
    fileprivate static let compiler: URL? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let all = ["cc", "clang", "gcc"].flatMap { name in folders.map { URL(fileURLWithPath: "\($0)/\(name)") } }
        return all.first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// A token `trial` in slot 0 with a key: as many slots, objects and bytes of an attribute as it is compiled with.
    private static let source = """
        #include "CPKCS11.h"
        #include <string.h>

        static p11_number initialize(p11_initialize_arguments *arguments) { return 0; }
        static p11_number slot_list(unsigned char present, p11_number *slots, p11_number *count) {
            *count = slots == NULL ? 1 : SLOTS;
            return 0;
        }
        static p11_number token_info(p11_number slot, p11_token_info *info) {
            memset(info, ' ', sizeof *info);
            memcpy(info->label, "trial", 5);
            info->flags = 0x400;
            return 0;
        }
        static p11_number open_session(
            p11_number slot, p11_number flags, void *context, void *notify, p11_number *session) { return 0; }
        static p11_number find_init(p11_number session, p11_attribute *attributes, p11_number count) { return 0; }
        static p11_number find(p11_number session, p11_number *objects, p11_number most, p11_number *count) {
            *count = OBJECTS;
            return 0;
        }
        static p11_number find_final(p11_number session) { return 0; }
        static p11_number value(p11_number session, p11_number object, p11_attribute *attribute, p11_number count) {
            attribute->length = BYTES;
            return 0;
        }
        static p11_functions functions = {
            .version = {2, 40}, .initialize = initialize, .get_slot_list = slot_list, .get_token_info = token_info,
            .open_session = open_session, .find_objects_init = find_init, .find_objects = find,
            .find_objects_final = find_final, .get_attribute_value = value,
        };
        p11_number C_GetFunctionList(p11_functions **list) {
            *list = &functions;
            return 0;
        }
        """

    @Test(
        "its numbers are cut, and the command ends with a sentence",
        arguments: [
            ("-DSLOTS=1 -DOBJECTS=1 -DBYTES=-1", "failed to show the public key"),
            ("-DSLOTS=-1 -DOBJECTS=1 -DBYTES=-1", "failed to show the public key"),
            ("-DSLOTS=1 -DOBJECTS=-1 -DBYTES=0", "16 keys fit this name"),
            ("-DSLOTS=0 -DOBJECTS=1 -DBYTES=0", "there is no such token"),
        ])
    func itsNumbersAreCutAndTheCommandEndsWithASentence(numbers: String, words: String) async throws {
        let compiler = try #require(Self.compiler)
        let headers = SharedData.package.appendingPathComponent("Service/Sources/CPKCS11/include").path
        try await withTemporaryFolder { folder in
            try folder.write(Self.source, as: "module.c")
            let arguments = ["-shared", "-fPIC", "-I", headers, "-o", "module.so", "module.c"]
            let compiled = try await FinishedProcess.run(
                compiler, numbers.split(separator: " ").map(String.init) + arguments, in: folder)
            #expect(compiled.status == 0, "\(String(decoding: compiled.errors, as: UTF8.self))")
            let key = "pkcs11:token=trial;object=a?module-path=\(folder.path)/module.so"
            let run = try await CommandRun.tumbler(["key", "show", key], in: folder)
            run.expectError(2)
            #expect(run.errors.contains(words), "\(run)")
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips where there is no compiler of C.
    fileprivate static var needsCompilerOfC: Self {
        .enabled(if: LyingTokenTests.compiler != nil, "there is no compiler of C: cc, clang or gcc")
    }
}
