// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin

/// Purges do not change an undo, except that a purged record does not return.
@Suite(.encodes) struct PurgedUndoTests {
  private let berth = RecordID("Berth", "b")

  /// The announcement of the device that created the record is not an edit.
  @Test(arguments: [false, true], [1, 2])
  func undoOfCreationIgnoresAnnouncement(purges: Bool, deletions: Int) throws {
    let (a, b) = (Replica.empty(1), Replica.empty(2))
    try a.enroll(b.device)
    try a.save(undoable: "Create") { $0[Sailor.self, "ada"].name = "ada" }
    settle(a, b)
    try b.save(undoable: "Delete") { $0[Sailor.self, "ada"].delete() }
    settle(a, b)
    if purges {
      #expect(try a.purgeDeletedRecords().announcedRecords == [Sailor.ada])
    }
    // The device that deleted the record has not received the announcement.
    try b.undo()
    settle(a, b)
    if deletions == 2 {
      // A deletion that was undone supersedes the announcement.
      try b.save(undoable: "Delete") { $0[Sailor.self, "ada"].delete() }
      try b.undo()
      settle(a, b)
    }
    #expect(a.ada?.name == "ada")
    #expect(try a.undo().left == [])
    settle(a, b)
    #expect(a.ada == nil)
    #expect(b.ada == nil)
  }

  @Test func undoOfCreationLeavesLaterDeletion() throws {
    let (a, b) = (Replica.empty(1), Replica.empty(2))
    let creation = try a.save(undoable: "Create") {
      $0[Sailor.self, "ada"].name = "ada"
    }
    settle(a, b)
    try b.save { $0[Sailor.self, "ada"].miles.increment() }
    try a.save { $0[Sailor.self, "ada"].delete() }
    settle(a, b)
    let report = try a.undo(#require(creation.undo))
    #expect(report.unrevertedFields.map(\.field) == [.existence])
    #expect(marks(of: Sailor.ada, in: a).map(\.dot) == [Dot(a.device, 2)])
  }

  @Test func announcementPreventsRedoOfCreation() throws {
    let a = Replica.empty(1)
    let nights = FieldKey("nights", .counter)
    try a.save(undoable: "Create") {
      $0.apply(.count(CounterEdit(by: 3)), to: nights, of: berth)
    }
    try a.undo()
    #expect(try a.purgeDeletedRecords().announcedRecords == [berth])
    let before = a.delta()
    #expect(try a.redo().isPrevented)
    #expect(a.delta() == before)
    #expect(a.undoHistory.redoName == "Create")
  }

  /// This device dropped the contents while another one created the record
  /// again, so an edit supersedes the mark of the purge.
  @Test func undoOfEditKeepsRecordRecreatedDuringPurge() throws {
    let (a, b) = (Replica.empty(1), Replica.empty(2))
    try a.write("ada", value: "old")
    settle(a, b)
    try a.save { $0[Sailor.self, "ada"].delete() }
    settle(a, b)
    try a.purgeDeletedRecords()
    settle(a, b)
    try b.write("ada", value: "new")
    #expect(try a.purgeDeletedRecords().droppedRecords == [Sailor.ada])
    settle(a, b)
    #expect(marks(of: Sailor.ada, in: a).map(\.kind) == [.purge])
    try a.save(undoable: "Edit") { $0[Sailor.self, "ada"].name = "newer" }
    #expect(try a.undo().left == [])
    #expect(a.ada?.name == "new")
    #expect(marks(of: Sailor.ada, in: a) == [])
  }

  /// The redone deletion names itself, so the record cannot return without its
  /// contents.
  @Test func redoneDeletionOfPurgedRecordIsFinal() throws {
    let (a, b) = (Replica.empty(1), Replica.empty(2))
    try a.write("ada", value: "Ada")
    settle(a, b)
    try a.save(undoable: "Delete") { $0[Sailor.self, "ada"].delete() }
    try b.save { $0[Sailor.self, "ada"].delete() }
    settle(a, b)
    #expect(try b.purgeDeletedRecords().announcedRecords == [Sailor.ada])
    // This device has not received the announcement.
    try a.undo()
    settle(a, b)
    #expect(try a.purgeDeletedRecords().droppedRecords == [Sailor.ada])
    try a.redo()
    #expect(throws: SaveError.purged(Sailor.ada)) {
      try a.save { $0.undelete(Sailor.ada) }
    }
  }

  /// After the redo, the record is still deleted by another device.
  @Test func undoOfRedoKeepsRecordUndeletedByOtherDevice() throws {
    let (a, b) = (Replica.empty(1), Replica.empty(2))
    try a.save(undoable: "Create") { $0[Berth.self, "b"].name = "b" }
    settle(a, b)
    try b.save { $0[Berth.self, "b"].delete() }
    try a.undo()
    settle(a, b)
    try a.redo()
    settle(a, b)
    #expect(a[Berth.self, "b"] == nil)
    try b.save { $0.undelete(berth) }
    settle(a, b)
    #expect(a[Berth.self, "b"]?.name == "b")
    #expect(try a.undo().left == [""])
    settle(a, b)
    #expect(a[Berth.self, "b"] != nil && b[Berth.self, "b"] != nil)
  }

  /// The same history with and without purges.
  @Test func purgesDoNotChangeShownRecords() throws {
    var ends: [Twins.End: Int] = [:]
    for seed in 1...400 as ClosedRange<UInt64> {
      var twins = Twins(seed: seed)
      ends[try twins.run(steps: 60), default: 0] += 1
    }
    #expect(ends[.difference, default: 0] > 50, "\(ends)")
    #expect(ends[.complete, default: 0] > 200, "\(ends)")
  }

  private func marks(of id: RecordID, in replica: Replica) -> [RecordMark] {
    replica.recordForEditing(id)[.existence].marks
  }
}

/// Two groups of devices that make the same saves.
///
/// Only the first group purges. For each purge, the other group saves an
/// unrelated record instead, so the other saves have the same dots in both.
private struct Twins {
  enum End { case complete, difference }

  private static let records = [
    Sailor.ada, RecordID("Sailor", "bo"), RecordID("Berth", "b"),
  ]
  private static let name = FieldKey("name", .register)
  private static let miles = FieldKey("miles", .counter)

  private var random: SeededRandom
  private let seed: UInt64
  /// The devices that purge, and the others.
  private let groups: [[Replica]]

  init(seed: UInt64) {
    (random, self.seed) = (SeededRandom(seed: seed), seed)
    groups = (0...1).map { _ in (1...2 + seed % 2).map { Replica.empty($0) } }
    for group in groups {
      for other in group.dropFirst() {
        _ = try? group[0].enroll(other.device)
      }
      for _ in group {
        for other in group.dropFirst() { settle(group[0], other) }
      }
    }
  }

  mutating func run(steps: Int) throws -> End {
    for step in 1...steps {
      let count = groups[0].count
      let device = random.number(below: count)
      let other = (device + 1 + random.number(below: count - 1)) % count
      let id = Self.records[random.number(below: 3)]
      let kind = random.number(below: 20)
      let wasPurged = isAnyPurged(on: device)
      if kind < 4 {
        let dot = try groups[0][device].purgeDeletedRecords().dot
        if dot != nil {
          try groups[1][device].save {
            $0.ensureExists(RecordID("Sailor", "-"))
          }
        }
      } else {
        let results = groups.map {
          Self.take(kind, id, step, on: $0[device], with: $0[other])
        }
        if results[0] != results[1] {
          // A purged record is refused. Otherwise, the same records show.
          if !wasPurged { try agree(step) }
          return .difference
        }
      }
      try agree(step)
    }
    return .complete
  }

  /// Takes a step and returns its result.
  private static func take(
    _ kind: Int, _ id: RecordID, _ step: Int, on replica: Replica,
    with other: Replica
  ) -> String {
    func undoing(_ undo: () throws(SaveError) -> UndoResult) -> String {
      switch Result(catching: undo) {
      case .success(.done(let report)):
        return "done, left \(report.unrevertedFields)"
      case .success(.prevented): return "prevented"
      case .success(.nothing): return "nothing"
      case .failure(let error): return "\(error)"
      }
    }
    // The undo of a re-creation returns other contents if a purge dropped them.
    let isDead = replica.recordForEditing(id).isDead
    let isUndoable = step % 3 != 0 && !isDead ? "Edit" : nil
    do {
      switch kind {
      case 4...6:
        try replica.save(undoable: isUndoable) {
          $0.apply(.write(.string("\(step)")), to: name, of: id)
        }
      case 7 where id.entity == "Sailor":
        try replica.save(undoable: isUndoable) {
          $0.apply(.count(CounterEdit(by: Int64(step))), to: miles, of: id)
        }
      case 7...9: try replica.save(undoable: isUndoable) { $0.delete(id) }
      case 10: try replica.save { $0.undelete(id) }
      case 11, 12: return undoing(replica.undo)
      case 13: return undoing(replica.redo)
      case 14: replica.merge(other)
      default: settle(replica, other)
      }
      return "saved"
    } catch { return "\(error)" }
  }

  private func isAnyPurged(on device: Int) -> Bool {
    Self.records.contains { groups[0][device].isPurged($0) }
  }

  /// Compares the records on all devices.
  ///
  /// Under delete-wins, a value that a deletion hid can be gone.
  private func agree(_ step: Int) throws {
    for (purging, plain) in zip(groups[0], groups[1]) {
      for id in Self.records {
        let shown = [purging, plain].map { replica -> String in
          guard let record = replica.record(id), record.exists else {
            return "gone"
          }
          if id.entity == "Berth" { return "here" }
          let names = record[Self.name].writes.map { "\($0.value ?? "-")" }
          return "\(names) \(record.count(of: FieldKey("miles", .counter)))"
        }
        try #require(
          shown[0] == shown[1],
          "seed \(seed), step \(step): \(id) on \(purging.device)")
      }
    }
  }
}
