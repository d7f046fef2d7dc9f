// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
import Testing

@testable import RuntimeIntegrity

extension ThisProcess {
    @Suite("The code of this very process")
    struct OwnProcessTests {
        @Test("all code of the program and its libraries is what stands on disk")
        func allCodeOfTheProgramAndItsLibrariesIsWhatStandsOnDisk() throws {
            let memory = try ExecutableBytes.ownMemory()
            let images = try OwnImages.all().all
            #expect(images.count > 5)
            var compared = 0
            for loaded in images {
                guard let image = loaded.image else { continue }
                let result = try CodeComparison(of: image, bias: loaded.bias, memory: memory).result()
                #expect(result.isSame, "\(loaded.path): \(result)")
                #expect(
                    result.comparedBytes >= image.segments.filter(\.isExecutable).reduce(0) { $0 + Int($1.fileSize) })
                compared += result.comparedBytes
            }
            // Only what the system itself maps has no file.
            #expect(images.filter { $0.image == nil }.allSatisfy { $0.path == "[vdso]" })
            #expect(compared > 5_000_000)
        }

        @Test("all slots of the program and its libraries point where the loader put them")
        func allSlotsOfTheProgramAndItsLibrariesPointWhereTheLoaderPutThem() throws {
            let images = try OwnImages.all()
            let check = ImportSlots(in: images, memory: try .ownMemory())
            var evaluated = 0
            for index in images.all.indices {
                let (findings, count) = try check.findings(ofImage: index)
                #expect(findings.isEmpty, "\(images.all[index].path): \(findings.prefix(5))")
                evaluated += count
            }
            #expect(evaluated > 1_000)
        }

        @Test("no function that libc exports begins with a jump out of it")
        func noFunctionThatLibcExportsBeginsWithAJumpOutOfIt() throws {
            let images = try OwnImages.all()
            let memory = try ExecutableBytes.ownMemory()
            let check = PrologueCheck(try #require(.own), images: images, memory: memory)
            let libc = try #require(images.all.first { $0.path.contains("/libc.so") })
            let image = try #require(libc.image as? ELFImage)
            var count = 0
            var names = ByteWindow(image.bytes)
            image.dynamicSymbols?.forEach(in: image.bytes) { entry in
                guard entry.kind == .function, entry.value != 0 else { return }
                count += 1
                let name = image.dynamicSymbols?.string(at: UInt64(entry.name), &names)
                let finding = check.finding(at: entry.value &+ libc.bias)
                #expect(finding == nil, "\(name ?? "?"): \(String(describing: finding))")
            }
            #expect(count > 1_000)
        }
    }
}
#endif
