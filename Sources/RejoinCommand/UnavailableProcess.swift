// SPDX-License-Identifier: Apache-2.0

// Indexes of packages build every target for every platform. Where apps cannot start
// other programs, the command is built and of no use.
#if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS) || os(WASI) || NO_PROCESS
  import Foundation

  /// A process that cannot be started.
  final class Process: @unchecked Sendable {
    var executableURL: URL?
    var arguments: [String]?
    var environment: [String: String]?
    var standardInput: Any?
    var standardOutput: Any?
    var terminationHandler: (@Sendable (Process) -> Void)?
    var isRunning: Bool { false }
    var processIdentifier: Int32 { 0 }
    var terminationStatus: Int32 { 1 }

    func run() throws { throw CocoaError(.featureUnsupported) }
    func waitUntilExit() {}
  }
#endif
