// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinStore

/// A request to a hub in a process of its own.
///
/// A message is its length in eight bytes and its content. The content of a
/// request is one of these numbers and the bytes of a delta or a version. The
/// empty answer stands for `nil`.
enum HubRequest: UInt8 {
  case version, apply, delta, part
  /// The largest resident memory of the process so far, in kilobytes.
  case peakMemory
}

/// The size of a part of a transfer, as in <doc:SyncingThroughAHub>.
let partBytes = 256_000
private let scope = "growth"

/// Answers the requests of standard input until it ends.
func serveStandardInput(_ database: Database) async throws {
  let session = try await database.openHub().makeSession { _ in }
  while let message = FileHandle.standardInput.readMessage() {
    guard let request = message.first.flatMap(HubRequest.init) else { return }
    let bytes = message.dropFirst()
    let answer: [UInt8]
    switch request {
    case .version: answer = try await session.version(of: scope).encoded()
    case .apply:
      try await session.apply(Delta(decoding: bytes), in: scope)
      answer = []
    case .delta:
      let basis = try ReplicaVersion(decoding: bytes)
      answer = try await session.delta(since: basis, in: scope)?.encoded() ?? []
    case .part:
      let basis = try ReplicaVersion(decoding: bytes)
      answer =
        try await session.delta(since: basis, byteLimit: partBytes, in: scope)?
        .encoded() ?? []
    case .peakMemory: answer = Array("\(peakMemory())".utf8)
    }
    FileHandle.standardOutput.writeMessage(answer)
  }
}

/// Returns the peak of the resident memory in kilobytes, or 0 if the system
/// does not report it.
///
/// `getrusage` would also count the parent's memory before `exec`.
private func peakMemory() -> Int {
  let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
  return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
}

/// A hub that runs in a child process.
final class HubProcess {
  private let process = Process()
  private let (input, output) = (Pipe(), Pipe())
  /// The total time of the requests.
  private(set) var waited = Duration.zero

  init(_ database: Database) throws {
    process.executableURL = Bundle.main.executableURL
    process.arguments = ["serve", database.address]
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// The hub stopped after it printed the reason.
  struct Stopped: Error {}

  /// - Returns: The bytes of the answer, or `nil` if they are empty.
  @discardableResult
  func send(_ request: HubRequest, _ bytes: [UInt8] = []) throws -> [UInt8]? {
    let start = ContinuousClock.now
    input.fileHandleForWriting.writeMessage([request.rawValue] + bytes)
    guard let answer = output.fileHandleForReading.readMessage() else {
      throw Stopped()
    }
    waited += ContinuousClock.now - start
    return answer.isEmpty ? nil : answer
  }

  func version() throws -> ReplicaVersion {
    try send(.version).map { try ReplicaVersion(decoding: $0) }
      ?? ReplicaVersion()
  }

  func delta(
    _ request: HubRequest, since basis: ReplicaVersion
  ) throws -> Delta? {
    try send(request, basis.encoded()).map { try Delta(decoding: $0) }
  }

  func peakMegabytes() throws -> Double {
    let kilobytes = String(decoding: try send(.peakMemory) ?? [], as: UTF8.self)
    return (Double(kilobytes) ?? 0) / 1024
  }
}

extension FileHandle {
  fileprivate func writeMessage(_ bytes: [UInt8]) {
    write(withUnsafeBytes(of: UInt64(bytes.count)) { Data($0) } + bytes)
  }

  /// - Returns: The content, or `nil` at the end of the input.
  fileprivate func readMessage() -> [UInt8]? {
    guard let head = readBytes(8) else { return nil }
    let count = head.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    return readBytes(Int(count))
  }

  private func readBytes(_ count: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      let part = readData(ofLength: count - bytes.count)
      if part.isEmpty { return nil }
      bytes += part
    }
    return bytes
  }
}
