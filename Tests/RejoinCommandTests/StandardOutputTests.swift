// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import _RejoinVerification

/// If standard output cannot be written, every subcommand ends with a message
/// and exit code 1.
///
/// If the reader closed the pipe, it ends without a message.
@Suite struct StandardOutputTests {
  private static let tests = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let script = tests.appending(
    path: "RejoinCommandTests/Scripts/001-ledger-adds-up.jsonl")
  private static let message = tests.appending(
    path: "RejoinTests/Golden/delta-every-kind.bin")

  static let commands = [
    ["compare", "--episodes", "2"],
    ["compare", "--episodes", "2", "--format", "json"],
    ["compare", "--explain", "steps"],
    ["replay", script.path],
    ["inspect", message.path],
    ["inspect", "--format", "json", message.path],
    ["--help"],
    ["replay", "--help"],
  ]

  private struct Outcome {
    let exitCode: Int32
    let reason: Process.TerminationReason
    let complaint: String
  }

  /// Runs the command in a shell with redirections.
  private func run(_ words: [String], _ redirection: String) throws -> Outcome {
    let process = Process()
    let complaint = Pipe()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments =
      ["-c", "exec \"$0\" \"$@\" \(redirection)", rejoin.path] + words
    process.standardOutput = try brokenPipe()
    process.standardError = complaint
    // A crash would otherwise wait minutes for its backtrace.
    process.environment = ["SWIFT_BACKTRACE": "enable=no"]
    try process.run()
    let text = try TestProgram.output(of: complaint)
    process.waitUntilExit()
    return Outcome(
      exitCode: process.terminationStatus, reason: process.terminationReason,
      complaint: String(decoding: text, as: UTF8.self))
  }

  /// The path of the command, which is built into the folder of the tests.
  private var rejoin: URL {
    Bundle.module.bundleURL.deletingLastPathComponent().appending(
      path: "rejoin")
  }

  /// A pipe without a reader.
  private func brokenPipe() throws -> FileHandle {
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    return pipe.fileHandleForWriting
  }

  private func expectFailure(_ outcome: Outcome, _ reason: String) {
    #expect(outcome.exitCode == 1 && outcome.reason == .exit)
    #expect(
      outcome.complaint.hasPrefix(
        "rejoin: cannot write to standard output: \(reason); "))
    #expect(outcome.complaint.split(separator: "\n").count == 1)
  }

  /// A reader such as `head` closes the pipe early.
  @Test(arguments: commands)
  func closedPipeEndsCommandQuietly(command: [String]) throws {
    let outcome = try run(command, "")
    #expect(outcome.complaint.isEmpty)
    #expect(outcome.reason == .uncaughtSignal && outcome.exitCode == SIGPIPE)
  }

  @Test(arguments: commands) func closedOutputFails(command: [String]) throws {
    expectFailure(try run(command, ">&-"), "Bad file descriptor")
  }

  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")),
    arguments: commands)
  func fullOutputFails(command: [String]) throws {
    expectFailure(try run(command, ">/dev/full"), "No space left on device")
  }

  /// Without standard error, the message is lost.
  @Test func closedErrorOutputKeepsExitCode() throws {
    #expect(try run(["sing"], "2>&-").exitCode == 2)
    #expect(try run(["replay", "no/such/file"], "2>&1").exitCode == 1)
  }

  @Test func writableOutputSucceeds() throws {
    let outcome = try run(["replay", Self.script.path], ">/dev/null")
    #expect(outcome.exitCode == 0)
    #expect(outcome.complaint.isEmpty)
  }
}
