//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//
import Foundation
import RejoinTesting
import Testing

@Suite struct ExplorerTests {
  @Test func everythingIsAsTheOracleSays() throws {
    let env = ProcessInfo.processInfo.environment
    var program = ExplorerProgram.registers
    if env["T1"] != nil { program.times = [0] }
    program.keptMessages = Int(env["KEPT"] ?? "1")!
    var explorer = Explorer<LibraryReplica>(program)
    let start = ContinuousClock.now
    let counts = try explorer.search(atMost: Int(env["MAX"] ?? "100000")!)
    print(counts, ContinuousClock.now - start)
  }
}
