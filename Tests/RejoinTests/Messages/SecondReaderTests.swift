// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Rejoin
import Testing

/// Compares the library with a reader in Python that was written from the
/// article alone.
@Suite struct SecondReaderTests {
  private static let file = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .appending(path: "Checks/SecondReader/examples.txt")

  private struct Example {
    let line: String
    let isRead: Bool
    let bytes: [UInt8]
  }

  /// Each line has a name, and words that are names of earlier lines or digits.
  private func examples() throws -> [Example] {
    var (named, examples) = ([:] as [Substring: [UInt8]], [] as [Example])
    let text = try String(contentsOf: SecondReaderTests.file, encoding: .utf8)
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let words = line.split(separator: " ")
      let bytes = try words.dropFirst().flatMap { word in
        try named[word] ?? #require(hexadecimal(word), "\(word) in \(line)")
      }
      named[words[0]] = bytes
      if words[0] == "read" || words[0] == "refused" {
        examples.append(
          Example(
            line: String(line), isRead: words[0] == "read",
            bytes: (bytes + [0, 0, 0, 0]).resealed))
      }
    }
    return examples
  }

  private func hexadecimal(_ digits: Substring) -> [UInt8]? {
    let values = digits.compactMap(\.hexDigitValue)
    guard values.count == digits.count, values.count % 2 == 0 else {
      return nil
    }
    return stride(from: 0, to: values.count, by: 2).map {
      UInt8(values[$0] << 4 | values[$0 + 1])
    }
  }

  private func isRead(_ bytes: [UInt8]) -> Bool {
    func isRead<Value>(_ read: ([UInt8]) throws -> Value) -> Bool {
      (try? read(bytes)) != nil
    }
    return isRead(Delta.init(decoding:))
      || isRead(VectorClock.init(decoding:))
      || isRead(ReplicaVersion.init(decoding:))
      || isRead(RestoreToken.init(decoding:))
      || isRead(ReplicaState.init(decoding:)) || isRow(bytes)
  }

  /// Whether a store could read the bytes as a record or as a patch.
  private func isRow(_ bytes: [UInt8]) -> Bool {
    var state = ReplicaState(device: DeviceID(9), hybrid: HybridClock())
    let row = try? bytes.withUnsafeBytes {
      try state.joinFields(ofPatch: $0)
    }
    guard let row else { return false }
    return state.restore(row.horizons, of: row.fields.map(\.location))
  }

  @Test func libraryAgreesWithSecondReader() throws {
    let examples = try examples()
    for example in examples {
      #expect(isRead(example.bytes) == example.isRead, "\(example.line)")
    }
    #expect(examples.count { $0.isRead } > 40)
    #expect(examples.count { !$0.isRead } > 80)
  }
}
