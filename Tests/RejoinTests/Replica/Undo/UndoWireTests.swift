// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Rejoin

/// The bytes of undo steps, which a store keeps.
@Suite(.encodes) struct UndoWireTests {
  private let phone = Replica.empty(1)
  private let watch = Replica.empty(2)

  private func save(
    _ body: (RecordEditor<Sailor>) -> Void
  ) throws -> UndoStep {
    let report = try phone.save { transaction in
      transaction.isUndoable = true
      body(transaction[Sailor.self, "ada"])
    }
    return try #require(report.undo)
  }

  private func decoded(
    _ bytes: [UInt8], as step: UndoStep
  ) throws(WireError) -> UndoStep {
    try UndoStep(decoding: bytes, dot: step.dot, name: step.name)
  }

  /// Returns steps with every kind of field, of existence and of conflict.
  private func steps() throws -> [UndoStep] {
    try watch.edit { ada in
      (ada.name, ada.rank) = ("Countess", "light")
      ada.tags.insert("x")
      ada.miles.increment(by: 7)
      ada.pay.append(9)
    }
    settle(phone, watch)
    var steps = [
      try save { ada in
        (ada.name, ada.rank) = ("Ada", nil)
        ada.tags.remove("x")
        ada.roles.insert("y")
        ada.miles.reset()
        ada.miles.increment(by: 2)
        ada.pay.append(-4)
      }
    ]
    let deletion = try phone.save { transaction in
      transaction.isUndoable = true
      transaction.delete(Sailor.ada)
    }
    steps.append(try #require(deletion.undo))
    steps.append(try save { $0.name = "Lovelace" })
    steps.append(try #require(phone.undo(steps[2]).undo))
    return steps
  }

  @Test func decodedStepEqualsEncodedStep() throws {
    for step in try steps() {
      #expect(try decoded(step.encoded(), as: step) == step)
      let data = try JSONEncoder().encode(step)
      let again = try JSONDecoder().decode(UndoStep.self, from: data)
      #expect(again.encoded() == step.encoded())
    }
  }

  @Test func encodedStepHasDocumentedLayout() throws {
    try watch.edit { $0.name = "Countess" }
    settle(phone, watch)
    let step = try save { $0.name = "Ada" }
    let own = phone.version[DeviceID(1)]
    let other = phone.version[DeviceID(2)]
    func bytes(_ word: UInt64) -> [UInt8] {
      (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
    }
    let one: [UInt8] = Array(repeating: 0, count: 15) + [1]
    let two: [UInt8] = Array(repeating: 0, count: 15) + [2]
    var expected: [UInt8] = Array("Ru".utf8) + [2]
    // It undoes no save and has two changes.
    expected += [0, 2]
    // The existence of the first record of the first entity.
    expected += [1, 0, 6] + Array("Sailor".utf8) + [3] + Array("ada".utf8)
    // The first save, of the first device.
    expected += [0, 0] + one + [1] + bytes(own.digest)
    // The record existed and exists, without other saves: 0 before, 1 after.
    expected += [3, 0, 0, 1]
    // The first field: the kind, and the length of the name.
    expected += [2, 0x40] + Array("name".utf8)
    // The same save: the value is there, and replaced one with time and dot.
    expected += [0, 15, 8 << 3 | 4] + Array("Countess".utf8)
    // The first time, and the first save of the second device.
    expected += [0] + bytes(other.time.rawValue) + [1] + two + [1]
    #expect(step.encoded() == (expected + [0, 0, 0, 0]).resealed)
  }

  @Test func encodingWritesNamesOnce() throws {
    let report = try phone.save { transaction in
      transaction.isUndoable = true
      for i in 0..<100 { transaction[Sailor.self, "\(i)"].name = "Ada" }
    }
    let bytes = try #require(report.undo).encoded()
    func count(_ text: String) -> Int {
      bytes.indices.count { bytes[$0...].starts(with: text.utf8) }
    }
    #expect(count("Sailor") == 1 && count("name") == 1)
    // A key, its existence and its field.
    #expect(bytes.count < 100 * 20)
  }

  @Test func decodingRefusesTruncatedBytes() throws {
    for step in try steps() {
      let bytes = step.encoded()
      for count in 0..<bytes.count {
        #expect(throws: WireError.self) {
          try decoded(Array(bytes[..<count]), as: step)
        }
        let cut = Array(bytes[..<count]).resealed
        #expect(throws: WireError.self) { try decoded(cut, as: step) }
      }
    }
  }

  @Test func decodingRefusesFlippedBitsUnlessCanonical() throws {
    for step in try steps() {
      let bytes = step.encoded()
      for bit in 0..<(8 * bytes.count - 32) {
        let flipped = bytes.flipping(bit)
        #expect(throws: WireError.self) { try decoded(flipped, as: step) }
        guard let other = try? decoded(flipped.resealed, as: step) else {
          continue
        }
        #expect(other.encoded() == flipped.resealed, "bit \(bit)")
      }
    }
  }

  /// A count beyond the bytes must not allocate memory.
  @Test func decodingRefusesHugeCounts() throws {
    let step = try #require(steps().first)
    let huge: [UInt8] = Array(repeating: 0xff, count: 9) + [1]
    let head: [UInt8] = Array("Ru".utf8) + [2, 0]
    #expect(throws: WireError.self) {
      try decoded((head + huge + [0, 0, 0, 0]).resealed, as: step)
    }
  }

  @Test func decodingReportsOlderAndNewerVersions() throws {
    let step = try #require(steps().first)
    var bytes = step.encoded()
    let codes: [(UInt8, WireError.Code)] = [
      (1, .olderVersion), (3, .newerVersion),
    ]
    for (version, code) in codes {
      bytes[2] = version
      do throws(WireError) {
        _ = try decoded(bytes.resealed, as: step)
        Issue.record("version \(version) is accepted")
      } catch { #expect(error.code == code) }
    }
  }
}
