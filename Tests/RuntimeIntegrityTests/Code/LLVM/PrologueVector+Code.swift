// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@testable import RuntimeIntegrity

extension PrologueVector {
    static let x86: [PrologueVector] = [
        PrologueVector("jmp rel32", "e9 00 00 00 20", PrologueJump(.near, target: 0x3000_0005)),
        PrologueVector("jmp rel8", "eb 10", PrologueJump(.near, target: 0x1000_0012)),
        PrologueVector("jmp back", "e9 fb ff ff ff", PrologueJump(.near, target: 0x1000_0000)),
        PrologueVector("endbr64, jmp", "f3 0f 1e fa e9 00 10 00 00", PrologueJump(.near, target: 0x1000_1009)),
        PrologueVector("nops, jmp", "90 66 90 0f 1f 44 00 00 e9 00 10 00 00", PrologueJump(.near, target: 0x1000_100D)),
        PrologueVector("bnd jmp", "f2 e9 00 10 00 00", PrologueJump(.near, target: 0x1000_1006)),
        PrologueVector("call", "e8 00 10 00 00", PrologueJump(.call, target: 0x1000_1005)),
        PrologueVector("jmp *rip", "ff 25 22 11 00 00", PrologueJump(.slot, slot: 0x1000_1128)),
        PrologueVector("rex jmp *rip", "48 ff 25 22 11 00 00", PrologueJump(.slot, slot: 0x1000_1129)),
        PrologueVector("jmp *absolute", "ff 24 25 44 33 22 11", PrologueJump(.slot, slot: 0x1122_3344)),
        PrologueVector(
            "mov rax, jmp", "48 b8 55 44 33 22 11 7f 00 00 ff e0", PrologueJump(.absolute, target: 0x7F11_2233_4455)),
        PrologueVector(
            "mov r11, jmp", "49 bb 55 44 33 22 11 7f 00 00 41 ff e3", PrologueJump(.absolute, target: 0x7F11_2233_4455)),
        PrologueVector(
            "mov rax, push, ret", "48 b8 55 44 33 22 11 7f 00 00 50 c3",
            PrologueJump(.absolute, target: 0x7F11_2233_4455)),
        PrologueVector(
            "mov r10, push, ret", "49 ba 55 44 33 22 11 7f 00 00 41 52 c3",
            PrologueJump(.absolute, target: 0x7F11_2233_4455)),
        PrologueVector("push, ret", "68 44 33 22 11 c3", PrologueJump(.absolute, target: 0x1122_3344)),
        PrologueVector(
            "push, mov, ret", "68 66 55 44 33 c7 44 24 04 11 7f 00 00 c3",
            PrologueJump(.absolute, target: 0x7F11_3344_5566)),
        PrologueVector("int3", "cc 48 89 e5", PrologueJump(.breakpoint)),
        PrologueVector("frame, jmp", "55 48 89 e5 e9 fb 0f 00 00", nil),
        PrologueVector("mov, ret", "48 89 f8 c3", nil),
        PrologueVector("mov imm, ret", "48 b8 55 44 33 22 11 7f 00 00 c3", nil),
        PrologueVector("mov rax, jmp rcx", "48 b8 55 44 33 22 11 7f 00 00 ff e1", nil),
        PrologueVector("a jump that is cut", "e9 00 00", nil),
        PrologueVector("nothing", "", nil),
        // What Frida 17 was seen to leave (abort, ld.so's _dl_debug_state, check_pin), and what had stood there.
        PrologueVector("Frida, abort", "e9 64 4c 90 fc 0f 1f 40", PrologueJump(.near, target: 0x0C90_4C69)),
        PrologueVector("Frida, ld.so", "e9 a3 e9 72 fc", PrologueJump(.near, target: 0x0C72_E9A8)),
        PrologueVector("Frida, check_pin", "e9 2a 3e 00 00 b9", PrologueJump(.near, target: 0x1000_3E2F)),
        PrologueVector("Frida, open", "e9 43 38 83 fc 66 90", PrologueJump(.near, target: 0x0C83_3848)),
        PrologueVector("abort", "55 53 48 8d 1d", nil),
        PrologueVector("signal", "48 81 ec 48 01", nil),
        PrologueVector("check_pin", "48 85 d2 74 2b b9", nil),
        PrologueVector("open", "55 41 89 f2 48 89 fd", nil),
        PrologueVector("getaddrinfo", "55 48 89 e5 41 57", nil),
        PrologueVector("_dl_debug_state", "c3", nil),
    ]

    static let arm64: [PrologueVector] = [
        PrologueVector("b", "14100000", PrologueJump(.near, target: 0x1040_0000)),
        PrologueVector("b back", "17fffffe", PrologueJump(.near, target: 0x0FFF_FFF8)),
        PrologueVector("bti, b", "d503245f 14000400", PrologueJump(.near, target: 0x1000_1004)),
        PrologueVector("paciasp, nop, b", "d503233f d503201f 14000400", PrologueJump(.near, target: 0x1000_1008)),
        PrologueVector("bl", "94000400", PrologueJump(.call, target: 0x1000_1000)),
        PrologueVector("adrp, add, br", "903f8010 91048e10 d61f0200", PrologueJump(.absolute, target: 0x8F00_0123)),
        PrologueVector("adrp, br", "903f8010 d61f0200", PrologueJump(.absolute, target: 0x8F00_0000)),
        PrologueVector(
            "adrp back, add, br", "f0ffffd1 91004231 d61f0220", PrologueJump(.absolute, target: 0x0FFF_B010)),
        PrologueVector("adrp, ldr, br", "b0000030 f9400e11 d61f0220", PrologueJump(.slot, slot: 0x1000_5018)),
        PrologueVector(
            "adrp, ldr, add, br (plt)", "b0000030 f9400e11 91006210 d61f0220", PrologueJump(.slot, slot: 0x1000_5018)),
        PrologueVector("ldr, br", "58000050 d61f0200 22334455 00007f11", PrologueJump(.slot, slot: 0x1000_0008)),
        PrologueVector("bti, ldr, br", "d503245f 58000051 d61f0220", PrologueJump(.slot, slot: 0x1000_000C)),
        PrologueVector("ldr, ret", "58000051 d65f0220", PrologueJump(.slot, slot: 0x1000_0008)),
        PrologueVector("ldr, braaz", "58000050 d61f0a1f", PrologueJump(.slot, slot: 0x1000_0008)),
        PrologueVector(
            "mov, movk, movk, br", "d2888ab0 f2a44670 f2cfe230 d61f0200",
            PrologueJump(.absolute, target: 0x7F11_2233_4455)),
        PrologueVector("adr, br", "30091a30 d61f0200", PrologueJump(.absolute, target: 0x1001_2345)),
        PrologueVector("brk", "d43e0000", PrologueJump(.breakpoint)),
        PrologueVector("frame, b", "a9bf7bfd 910003fd 14000400", nil),
        PrologueVector("mov, ret", "d2800020 d65f03c0", nil),
        PrologueVector("adrp, add, ret", "b0000020 91004000 d65f03c0", nil),
        PrologueVector("adrp, add, br of another", "b0000030 91004210 d61f0120", nil),
        PrologueVector("a load that is cut", "58000050", nil),
        PrologueVector("nothing", "", nil),
    ]
}
