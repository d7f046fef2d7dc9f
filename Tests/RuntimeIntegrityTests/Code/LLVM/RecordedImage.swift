// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import RuntimeIntegrity

/// An executable that was made once, with clang and lld of LLVM 19 and 21, so that tests of both formats run anywhere.
///
/// All are made of one source, or of its part that both formats have. Its tables are what `readelf`, `llvm-objdump` and
/// LIEF 1.0 print of the files.
///
///     extern int knock(int); extern int bell; extern int spare(int) __attribute__((weak));   // Mach-O: weak_import
///     int table[4] = {1, 2, 3, 4}; int *bell_pointer = &bell; int (*knock_pointer)(int) = knock;
///     __attribute__((visibility("hidden"), noinline)) int inner(int x) { return x * 3 + table[x & 3]; }
///     int open_door(int x) { return knock(x) + inner(x) + bell; }
///     int close_door(int x) { return spare ? spare(x) : inner(x + 1); }
///     // ELF only:
///     int *table_pointer = table + 1;
///     static int slow(int x) { return x; }  static int slower(int x) { return x + 5; }
///     static void *choose(void) { return table[0] ? (void *)slow : (void *)slower; }
///     int fast(int) __attribute__((ifunc("choose")));  int use_fast(int x) { return fast(x) + 1; }
///     __attribute__((visibility("hidden"))) int hidden_fast(int) __attribute__((ifunc("choose")));
///     int use_hidden(int x) { return hidden_fast(x) + 2; }
///     __asm__(".text\n.globl written\n.type written,%function\n.p2align 3\nwritten: .quad knock\n.quad inner+8\n"
///             ".size written,16\n");
///
/// ELF: `clang -O1 -fPIC -shared -nostdlib -fuse-ld=lld -Wl,-z,notext,--pack-dyn-relocs=relr,--build-id=sha1`
/// `,-z,max-page-size=4096,-soname,libdoor.so.1`. Mach-O: `clang -O1 -c`, `ld64.lld -dylib`
/// `-install_name @rpath/libdoor.dylib -undefined dynamic_lookup` and `-fixup_chains` or `-no_fixup_chains`.
struct RecordedImage: Sendable {
    /// The file's size.
    let size: Int
    /// Of each 32 bytes that are not all zero a line: the offset, and the bytes up to the last that is not zero.
    let rows: String

    /// The file.
    var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: self.size)
        for row in self.rows.split(separator: "\n") {
            let words = row.split(separator: " ")
            guard words.count == 2, let offset = Int(words[0], radix: 16) else { continue }
            let digits = words[1].compactMap(\.hexDigitValue)
            for index in 0..<digits.count / 2 {
                bytes[offset + index] = UInt8(digits[index * 2] * 16 + digits[index * 2 + 1])
            }
        }
        return bytes
    }

    /// The file, as an image; ELF or Mach-O by its first byte.
    func image(_ architecture: CodeArchitecture) throws -> any ExecutableImage {
        try Self.image(self.bytes, architecture)
    }

    /// These bytes as an image; ELF or Mach-O by the first.
    static func image(_ bytes: [UInt8], _ architecture: CodeArchitecture) throws -> any ExecutableImage {
        bytes.first == 0x7F
            ? try ELFImage(ExecutableBytes(bytes)) : try MachOImage(ExecutableBytes(bytes), architecture: architecture)
    }

    /// All of them, and what they are made for.
    static let all: [(name: String, image: RecordedImage, architecture: CodeArchitecture)] = [
        ("ELF x86", .elfX86, .x86), ("ELF arm64", .elfARM64, .arm64), ("Mach-O x86 chained", .machOX86Chained, .x86),
        ("Mach-O x86 opcodes", .machOX86Opcodes, .x86), ("Mach-O arm64 chained", .machOARM64Chained, .arm64),
        ("Mach-O arm64 program", .machOARM64Program, .arm64),
    ]
}
