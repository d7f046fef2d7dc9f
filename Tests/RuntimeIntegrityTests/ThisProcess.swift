// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

/// What is tested on the process that runs the tests: one test after the other, for some change its code and others look
/// whether it was.
@Suite(.serialized) enum ThisProcess {}
