// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite struct KeyLengthTests {
  private let replica = Replica.empty(1)
  /// 256 characters with 1,024 bytes.
  private static let longest = String(repeating: "\u{1f30d}", count: 256)
  private static let tooLong = longest + "a"

  /// Returns a state with a record that no save could create.
  private func state(of key: String) -> ReplicaState {
    var stored = Replica.empty(7).state
    let location = FieldPosition(
      record: UInt32(stored.intern(RecordID("Sailor", key))),
      name: stored.names.intern(FieldKey("name", .register)))
    let write = Siblings(
      Stamped(.string("Ada"), at: .zero), at: Dot(DeviceID(9), 1))
    stored.add(FieldState(Causal(write, nil)), at: location)
    stored.ahead.insert(location)
    return stored
  }

  @Test func saveAcceptsKeyOf1024Bytes() throws {
    #expect(RecordID.keyByteLimit == 1024)
    #expect(Self.longest.utf8.count == 1024)
    try replica.save { $0[Sailor.self, Self.longest].name = "Ada" }
    try replica.save { $0[Sailor.self, Self.longest].miles.increment() }
    let other = Replica.empty(2)
    let delta = try #require(replica.delta()).encoded()
    other.apply(try Delta(decoding: delta))
    #expect(other[Sailor.self, Self.longest]?.name == "Ada")
    #expect(areEqual(replica, other))
  }

  @Test func saveRefusesLongerKey() throws {
    let id = RecordID("Sailor", Self.tooLong)
    let error = SaveError.keyTooLong(id, limit: 1_024)
    try replica.edit { $0.name = "Ada" }
    let (version, bytes) = (replica.version, replica.state.encoded())
    let edits: [(Transaction) -> Void] = [
      { $0[Sailor.self, id.key].name = "nobody" },
      { $0[Sailor.self, id.key].ensureExists() },
      {
        $0.ensureExists(
          id, observed: FieldState(.existence), recreatingWith: nil)
      },
      {
        $0[Sailor.self, "ada"].name = "Bea"
        $0[Sailor.self, id.key].tags.insert("x")
      },
      {
        $0[Sailor.self, id.key].name = "nobody"
        $0[Sailor.self, id.key].delete()
      },
    ]
    for edit in edits {
      #expect(throws: error) { try replica.save(edit) }
      #expect(throws: error) { try replica.importRows(edit) }
    }
    #expect(throws: error) {
      try replica.importRows(from: "crm", modifiedAt: 1, edits[0])
    }
    #expect(throws: error) {
      try replica.save { transaction -> Int in
        edits[0](transaction)
        return 1
      }
    }
    #expect(replica.version == version)
    #expect(replica.state.encoded() == bytes)
    #expect("\(error)".contains("1025 bytes"))
    // The save deletes nothing, so no record needs the key.
    try replica.save { $0.delete(id) }
    #expect(replica.version == version)
  }

  /// A pull stores the row under a key that contains the names of the entity
  /// and the server.
  @Test func pullRefusesKeyTooLongForItsMemory() throws {
    let key = String(repeating: "k", count: 1006)
    // The other key contains "6:1006:Sailor" and the name of the server.
    let error = SaveError.keyTooLong(
      RecordID("Sailor", key), limit: 1_024 - 13 - 8)
    #expect(throws: error) {
      try replica.importRows(from: "a server", modifiedAt: 1) {
        $0[Sailor.self, key].name = "Ada"
      }
    }
    #expect(replica.delta() == nil)
    try replica.importRows(from: "crm", modifiedAt: 1) {
      $0[Sailor.self, key].name = "Ada"
    }
    #expect(replica[Sailor.self, key]?.name == "Ada")
    let bytes = try #require(replica.delta()).encoded()
    #expect(throws: Never.self) { try Delta(decoding: bytes) }
  }

  @Test(arguments: [longest, tooLong])
  func decodingRefusesLongerKey(_ key: String) throws {
    let stored = state(of: key)
    let replica = Replica.opening(stored, token: nil, as: 8)
    let id = RecordID("Sailor", key)
    let change = try #require(replica.change(of: id))
    let range = RecordRange(after: id, through: nil)
    let isValid = key == Self.longest
    func check(_ decode: () throws -> Void) {
      do {
        try decode()
        #expect(isValid)
      } catch {
        #expect(!isValid)
        #expect((error as? WireError)?.code == .invalid)
        #expect("\(error)".contains("1024 bytes"))
      }
    }
    check { _ = try Delta(decoding: Delta([change]).encoded()) }
    check { _ = try ReplicaState(decoding: stored.encoded()) }
    check {
      let delta = Delta(changes: [], range: range)
      _ = try Delta(decoding: delta.encoded())
    }
    check {
      var assembly = try StoredAssembly(head: stored.encodedHead())
      try assembly.endSaves()
      try stored.encodedRecord(at: 0).withUnsafeBytes {
        _ = try assembly.add(record: $0)
      }
    }
  }

  /// The limit counts the bytes that a key shares with the previous key.
  @Test func decodingCountsSharedBytes() throws {
    let one = String(repeating: "a", count: 70)
    for (length, isValid) in [(1024, true), (1025, false)] {
      let other =
        String(repeating: "a", count: 69)
        + String(repeating: "b", count: length - 69)
      let changes = [one, other].compactMap { key in
        Replica.opening(state(of: key), token: nil, as: 8)
          .change(of: RecordID("Sailor", key))
      }
      let bytes = Delta(changes).encoded()
      #expect(((try? Delta(decoding: bytes)) != nil) == isValid)
    }
  }
}
