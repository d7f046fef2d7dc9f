#pragma once

/// The system calls of a look before a connection (RuntimeIntegrity), with nothing done about their answers: what such a
/// look is measured against. 0, or the error of the kernel.
long bare_quick_look(void);

/// The least that a look at all code can be: each executable mapping of a file read from the file and compared with
/// memory, in pieces of 64 KiB. The bytes that were compared, or the error of the kernel.
long bare_whole_look(void);
