// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinTesting

/// The inputs that fuzzing begins with, made by the library itself.
public enum Seeds {
  /// The inputs of a target.
  public static func inputs(of target: FuzzTarget) -> [[UInt8]] {
    switch target {
    case .decode: messages
    case .open: messages.filter { $0[1] == UInt8(ascii: "p") }
    case .apply: messages.filter { "dsr".utf8.contains($0[1]) }
    case .scripts: choices(upTo: 300)
    case .contexts: choices(upTo: 90)
    }
  }

  /// Writes the inputs of every target into a folder of its name.
  static func write(to path: String) throws {
    let folder = URL(fileURLWithPath: path, isDirectory: true)
    for target in FuzzTarget.allCases {
      let part = folder.appendingPathComponent(target.rawValue)
      try FileManager.default.createDirectory(
        at: part, withIntermediateDirectories: true)
      for (number, bytes) in inputs(of: target).enumerated() {
        let file = part.appendingPathComponent("seed-\(number)")
        try Data(bytes).write(to: file)
      }
    }
  }

  private static var messages: [[UInt8]] {
    LiveHistory.shared.messages
      + (10..<16).flatMap { LiveHistory(seed: $0, steps: 20).messages }
  }

  /// Bytes at random, of growing length.
  private static func choices(upTo size: Int) -> [[UInt8]] {
    var random = SeededRandom(seed: 1)
    return (0..<60).map { i in
      (0..<(8 + i * size / 60)).map { _ in UInt8(random.below(256)) }
    }
  }
}

/// Writes the seeds instead of fuzzing, where the environment names a folder.
///
/// It is called by libFuzzer before anything else. A program of its own could not
/// be linked: with the fuzzer's sanitizer, every one has the fuzzer's `main`.
@_cdecl("LLVMFuzzerInitialize")
public func writeSeedsIfAsked(
  _ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?
) -> Int32 {
  let environment = ProcessInfo.processInfo.environment
  guard let folder = environment["REJOIN_FUZZ_SEEDS"] else { return 0 }
  do { try Seeds.write(to: folder) } catch {
    fatalError("the seeds cannot be written: \(error)")
  }
  _exit(0)
}
