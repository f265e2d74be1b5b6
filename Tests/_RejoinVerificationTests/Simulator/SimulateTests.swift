// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Simulate
@testable import _RejoinVerification

/// The program `Simulate`.
@Suite struct SimulateTests {
  private func simulate(_ words: String...) throws -> (
    code: Int32, text: String
  ) {
    let (process, output) = (Process(), Pipe())
    process.executableURL = try #require(TestProgram.named("Simulate"))
    process.arguments = words
    (process.standardOutput, process.standardError) = (output, output)
    try process.run()
    let text = try TestProgram.output(of: output)
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: text, as: UTF8.self))
  }

  @Test func reportHasCounts() throws {
    let report = FileManager.default.temporaryDirectory.appending(
      path: "simulate-\(UUID())")
    defer { try? FileManager.default.removeItem(at: report) }
    let printed = try simulate(
      "--seconds=2", "--seed=7", "--seeds=2", "--report=\(report.path)")
    #expect(printed.code == 0, "\(printed.text)")
    #expect(printed.text.contains("explorer: "))
    #expect(!printed.text.contains(" 0 configurations"))
    #expect(!printed.text.contains(" 0 saves"))
    #expect(printed.text.contains("seeds from 7"))
    let text = try String(contentsOf: report, encoding: .utf8)
    #expect(text.contains("No violation."))
  }

  @Test func unwritableReportKeepsCounts() throws {
    let printed = try simulate(
      "--seconds=0", "--seeds=1", "--report=/no/such/report")
    #expect(printed.code == 1)
    #expect(printed.text.contains("explorer: 0 programs"))
    #expect(printed.text.contains("cannot write /no/such/report"))
  }

  @Test func faultHasReasonAndScript() throws {
    let program = ExplorerProgram.quick[0]
    let script = Script(deviceCount: 3)
    var result = SearchResult(
      explored: .init(), simulated: SimulationResult(), seeds: 0..<1,
      scale: .quick, time: .zero)
    #expect(result.fault == nil)
    result.explored.violation = ExplorerViolation(
      mismatch: ScriptMismatch("two replicas differ"), program: program,
      script: script, counts: ExplorerCounts())
    let fault = try #require(result.fault)
    let reason =
      "\(program.name): when everybody has synced: two replicas differ"
    #expect(fault.what == reason)
    #expect(fault.script == script.replayText(universe: program.universe))
    #expect(result.text.contains("stopped in the program \(program.name)"))
    #expect(result.markdown.contains(reason))
  }

  @Test(arguments: [
    "--seeds", "=--seed=3", "--seed=x", "--seconds=-1", "--report=", "seed",
  ])
  func wrongOptionExitsWithTwo(word: String) throws {
    let printed = try simulate(word)
    #expect(printed.code == 2)
    #expect(printed.text.contains("\"\(word)\" is not an option"))
  }
}
