// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A real certificate, P-256 and self-signed, made once with `openssl req -x509`, for tests that damage one.
enum SampleCertificate {
    /// What the pipeline of formats.md, section 1, printed for it (OpenSSL 3.0.19).
    static let pin = "X6BO02cnmycIHlugPsQatvczGqdwvMdKt7N/K0SlWCA="

    static let der = [UInt8](Data(base64Encoded: Self.base64, options: .ignoreUnknownCharacters) ?? Data())

    private static let base64 = """
        MIIBczCCARmgAwIBAgIUcCcAMzvPcOHc1x8CGDrgB6y8P30wCgYIKoZIzj0EAwIwDzENMAsGA1UEAwwEcDI1NjAeFw0yNjExMjEwNTMwMjlaFw0y
        NjEyMjEwNTMwMjlaMA8xDTALBgNVBAMMBHAyNTYwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATwxrg8FwTJ5OH7339zVf5RomszEmU0PNBgUeex
        aYKL/GfSw/34IY66yoQmkKKwLBW/M1s/HBkBPGhCwc9l9cr1o1MwUTAdBgNVHQ4EFgQU+R1Qx5O96Yzcm+Ql+r3q+Li1lDUwHwYDVR0jBBgwFoAU
        +R1Qx5O96Yzcm+Ql+r3q+Li1lDUwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiBNuguk+BPNUEYKUlwqTn3kcF05gOy280nttYnn
        z8LgxQIhAJ/hqR+azvkxm0hEVoXu0M7QT6rv3nYliNXc49xacwTq
        """
}
