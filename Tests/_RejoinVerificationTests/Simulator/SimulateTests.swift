// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The program `Simulate`.
@Suite struct SimulateTests {
  private func simulate(_ words: String...) throws -> (
    code: Int32, text: String
  ) {
    let (process, output) = (Process(), Pipe())
    process.executableURL = try #require(Self.program)
    process.arguments = words
    (process.standardOutput, process.standardError) = (output, output)
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: text, as: UTF8.self))
  }

  /// The program in the folder of the tests.
  private static var program: URL? {
    [
      Bundle.main.bundleURL,
      Bundle.main.executableURL?.deletingLastPathComponent(),
    ]
    .compactMap { $0?.appending(path: "Simulate") }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }

  @Test func reportHasCounts() throws {
    let report = FileManager.default.temporaryDirectory.appending(
      path: "simulate-\(UUID())")
    defer { try? FileManager.default.removeItem(at: report) }
    let printed = try simulate(
      "--minutes=0", "--seed=7", "--seeds=2", "--report=\(report.path)")
    #expect(printed.code == 0, "\(printed.text)")
    #expect(printed.text.contains("explorer: 0 programs"))
    #expect(printed.text.contains("seeds from 7"))
    let text = try String(contentsOf: report, encoding: .utf8)
    #expect(text.contains("No violation."))
  }

  @Test func unwritableReportKeepsCounts() throws {
    let printed = try simulate(
      "--minutes=0", "--seeds=1", "--report=/no/such/report")
    #expect(printed.code == 1)
    #expect(printed.text.contains("explorer: 0 programs"))
    #expect(printed.text.contains("cannot write /no/such/report"))
  }

  @Test(arguments: [
    "--seeds", "=--seed=3", "--seed=x", "--minutes=-1", "--report=", "seed",
  ])
  func wrongOptionExitsWithTwo(word: String) throws {
    let printed = try simulate(word)
    #expect(printed.code == 2)
    #expect(printed.text.contains("\"\(word)\" is not an option"))
  }
}
