// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite struct DigestTests {
  private func digest(_ add: (inout Digest) -> Void) -> UInt64 {
    var digest = Digest()
    add(&digest)
    return digest.value
  }

  private func members(_ numbers: some Sequence<Int64>) -> SetEdit {
    var edit = SetEdit()
    for number in numbers { edit.change(.int(number), isIn: true) }
    return edit
  }

  private func entry(_ amount: Int64, _ memo: Value?) -> FieldEdit {
    var edit = LedgerEdit()
    edit.append(amount, memo: memo)
    return .append(edit)
  }

  @Test func differentEditsHaveDifferentDigests() {
    let edits: [FieldEdit] = [
      .write(nil), .write(.null), .write(.int(0)), .write(.int(1)),
      .write(.date(1)), .write(.bool(true)), .write(.double(1)),
      .write(.string("ab")), .write(.bytes([0x61, 0x62])),
      .write(.reference(RecordID("a", "b"))),
      .write(.reference(RecordID("b", "a"))),
      .count(CounterEdit(by: 1)), .count(CounterEdit(by: 2)),
      .count(CounterEdit(by: -1)), .count(CounterEdit(by: -2)),
      .count(CounterEdit(by: 1, isReset: true)),
      .members(SetEdit()), .members(.clearing),
      .members(SetEdit(inserting: [.int(1)])),
      .members(SetEdit(inserting: [.int(2)])),
      .members(SetEdit(inserting: [], removing: [.int(1)])),
      .append(LedgerEdit()), .append(.cancelling), entry(1, nil),
      entry(2, nil), entry(1, .null), entry(1, .int(1)),
    ]
    let digests = edits.map { edit in digest { $0.add(edit) } }
    #expect(Set(digests).count == edits.count)
  }

  /// Devices that restored the same backup can save the same edits again.
  @Test func digestOfSaveIgnoresOrderOfEdits() throws {
    func digest(_ order: [Int]) throws -> UInt64 {
      let replica = Replica.empty(1)
      let edits: [(FieldEdit, FieldKey)] = [
        (.write("Ada"), FieldKey("name", .register)),
        (.count(CounterEdit(by: 1)), FieldKey("miles", .counter)),
        (.members(SetEdit(inserting: ["a"])), FieldKey("tags", .set)),
      ]
      // The fields get their numbers in this order.
      try replica.save { transaction in
        for i in order {
          transaction.apply(edits[i].0, to: edits[i].1, of: Sailor.ada)
        }
      }
      return replica.version[replica.device].digest
    }
    let digests = try [[0, 1, 2], [2, 1, 0], [1, 2, 0]].map(digest)
    #expect(Set(digests).count == 1)
  }

  @Test func digestSeparatesTexts() {
    let words = ["", "a", "ab", "b", "abcdefgh", "\0", "\0a"]
    var digests: Set<UInt64> = []
    for first in words {
      for second in words {
        digests.insert(
          digest {
            $0.add(first)
            $0.add(second)
          })
      }
    }
    #expect(digests.count == words.count * words.count)
  }

  @Test func digestIgnoresOrderOfSetMembers() {
    let (rising, falling) = (members(0..<100), members((0..<100).reversed()))
    #expect(
      digest { $0.add(.members(rising)) }
        == digest {
          $0.add(.members(falling))
        })
  }

  /// Another program computed the value from the article on the wire format.
  @Test func fieldDigestMatchesArticle() {
    #expect(
      digest {
        for text in ["Sailor", "y", "name", "register", ""] { $0.add(text) }
      } == 0xcc7d_1a2e_0c38_127c)
  }

  @Test func seedChangesDigest() {
    var (a, b) = (Digest(seed: 1), Digest(seed: 2))
    a.add(7)
    b.add(7)
    #expect(a.value != b.value)
  }
}
