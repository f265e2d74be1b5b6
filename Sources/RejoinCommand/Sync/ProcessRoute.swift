// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinSync

/// A command that answers requests in the pipe form.
///
/// It runs in a shell. Its standard error is the one of this process.
final class ProcessRoute: @unchecked Sendable {
  private let command: String
  private let process = Process()
  private let (input, output) = (Pipe(), Pipe())
  private let pipe: MessagePipe
  private let exit = DispatchSemaphore(value: 0)

  /// Starts a command.
  init(_ command: String) async throws {
    self.command = command
    pipe = MessagePipe(
      input: output.fileHandleForReading.fileDescriptor,
      output: input.fileHandleForWriting.fileDescriptor)
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", command]
    (process.standardInput, process.standardOutput) = (input, output)
    process.terminationHandler = { [exit] _ in exit.signal() }
    do {
      try await Thread.run { [process] in
        // The command inherits the blocked signals of this thread. If SIGTERM is one
        // of them, the command cannot be terminated.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        try process.run()
      }
    } catch {
      throw CommandError.failed(
        "/bin/sh cannot be started (\(Files.reason(error))); install a shell")
    }
  }

  /// Carries a request to the command, and returns its answer.
  ///
  /// If the task is canceled, the command is terminated.
  ///
  /// - Throws: `CommandError` if the command does not write exactly one answer.
  func ask(_ request: [UInt8]) async throws -> [UInt8] {
    var reason = "ended without an answer"
    do {
      let answer = try await withTaskCancellationHandler {
        try await pipe.ask(request)
      } onCancel: {
        signal(SIGTERM)
      }
      if let answer { return answer }
    } catch is WireError {
      reason = "wrote bytes that are not an answer"
    } catch { reason = "cannot be reached (\(error.localizedDescription))" }
    try Task.checkCancellation()
    throw await failure(reason)
  }

  /// Ends the command and waits for its exit.
  func close() async {
    try? input.fileHandleForWriting.close()
    for number in [SIGTERM, SIGKILL] {
      if await waits(seconds: 5) { return }
      signal(number)
    }
    _ = await waits(seconds: 5)
  }

  private func failure(_ reason: String) async -> CommandError {
    // A command that fails closes its output shortly before it exits.
    let code = await waits(seconds: 5) ? process.terminationStatus : nil
    let end = code.map { " and exited with code \($0)" } ?? ""
    // The shell did not find the command.
    if code == 127 {
      return .failed(
        "the command \"\(command)\" \(reason)\(end); name a URL, a command or "
          + "an existing folder")
    }
    return .failed(
      "the command \"\(command)\" \(reason)\(end); check that it runs `rejoin "
        + "serve --stdio` and prints nothing else")
  }

  /// Waits for the exit of the command.
  private func waits(seconds: Int) async -> Bool {
    let result = try? await Thread.run { [exit] in
      let result = exit.wait(timeout: .now() + .seconds(seconds))
      if result == .success { exit.signal() }
      return result
    }
    return result == .success
  }

  /// Sends a signal to the shell and the commands that it started.
  private func signal(_ number: Int32) {
    let id = process.processIdentifier
    guard process.isRunning else { return }
    kill(getpgid(id) == id ? -id : id, number)
  }
}
