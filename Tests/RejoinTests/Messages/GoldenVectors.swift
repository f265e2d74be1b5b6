// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import Testing

/// Messages whose checked-in bytes reveal every change of the format.
///
/// `REJOIN_WRITE_GOLDEN=1 swift test --filter GoldenVectorTests` writes missing
/// files. It does not overwrite files, because every release must read the
/// bytes that earlier releases sent. Before the first release, if the format
/// changes, delete the files and write their content with `rejoin inspect`.
enum GoldenVectors {
  static func all() throws -> [(name: String, bytes: [UInt8])] {
    let (phone, tablet) = try crew()
    let delta = try #require(phone.delta(since: tablet.version))
    tablet.merge(phone)
    phone.merge(tablet)
    try phone.edit { $0.name = "after" }
    let one = try #require(phone.delta(since: tablet.version))
    let record = try #require(phone.change(of: Sailor.ada))
    let (deleted, basis) = try deleted()
    let (part, newcomer) = try cut(phone)
    return [
      ("delta-one-write", one.encoded()),
      ("delta-every-kind", delta.encoded()),
      ("delta-part", delta.split(into: 3)[1].encoded()),
      ("delta-strange", strange().encoded()),
      ("delta-empty", Delta([]).encoded()),
      ("delta-fragments", try fragments().encoded()),
      ("stored-horizons", try large().state.encoded()),
      ("stored-patch", try patch()),
      ("delta-purged", try #require(purged().delta()).encoded()),
      ("delta-deleted", try #require(deleted.delta(since: basis)).encoded()),
      ("delta-record", Delta([record]).encoded()),
      ("delta-range", part.encoded()),
      ("vector-clock", phone.version.vectorClock.encoded()),
      ("replica-clock", phone.version.encoded()),
      ("replica-clock-ahead", try ahead().encoded()),
      ("replica-clock-prefix", prefixed(phone.version).encoded()),
      ("stored", phone.state.encoded()),
      ("stored-prefix", newcomer.state.encoded()),
      ("token", phone.restoreToken.encoded()),
    ]
  }

  /// A part of a transfer with others before and after it, and its receiver.
  private static func cut(_ sender: Replica) throws -> (Delta, Replica) {
    let (relay, newcomer) = (Replica.empty(8), Replica.empty(9))
    // A part of a relay has the saves of all devices.
    sender.tell(relay)
    let first = relay.delta(since: newcomer.version, byteLimit: 1)
    newcomer.apply(try #require(first))
    let part = relay.delta(since: newcomer.version, byteLimit: 1)
    newcomer.apply(try #require(part))
    return (try #require(part), newcomer)
  }

  /// A version with two prefixes.
  private static func prefixed(_ version: ReplicaVersion) -> ReplicaVersion {
    var version = version
    let save = DeviceSave(
      sequence: 300, time: Timestamp(rawValue: 1 << 20), digest: 5)
    version.prefixes = [
      .init(through: RecordID("Sailor", "ada"), saves: [DeviceID(9): save]),
      .init(
        through: RecordID("Sailor", "eve"),
        saves: [DeviceID(8): save, DeviceID(10): save]),
    ]
    return version
  }

  /// A patch of a record with large fields.
  private static func patch() throws -> [UInt8] {
    let replica = try large()
    var state = replica.state
    state.recordWritten(0)
    let changed = Replica.opening(state, token: nil, as: 9)
    try changed.save {
      let sailor = $0[Sailor.self, "added"]
      sailor.tags.insert("b")
      sailor.tags.remove("a")
      sailor.miles.increment(by: 1)
    }
    return try #require(changed.state.encodedPatch(ofRecordAt: 0))
  }

  /// Returns two devices that made every kind of edit, some concurrently.
  private static func crew() throws -> (Replica, Replica) {
    let clock = ManualClock(1_770_000_000_000)
    let phone = Replica.empty(1, wallClock: clock)
    let tablet = Replica.empty(0xabcd_ef01_2345_6789, wallClock: clock)
    try tablet.edit {
      $0.name = "tablet's"
      $0.miles.increment(by: 70)
      $0.tags.insert("a")
      $0.roles.insert("cook")
      $0.pay.append(100, memo: .string("advance"))
    }
    phone.merge(tablet)
    clock.now += 5
    try phone.edit {
      $0.rank = "mate"
      $0.miles.set(to: -3)
      $0.tags.remove("a")
      $0.roles.remove("cook")
      $0.pay.append(-30)
    }
    clock.now += 250
    try tablet.edit {
      $0.name = "tablet's second"
      $0.tags.insert("b")
      $0.roles.insert("mate")
    }
    try phone.save {
      for (i, value) in values.enumerated() {
        $0.apply(
          .write(value), to: FieldKey("v\(i)", .register),
          of: RecordID("Value", "all"))
      }
      $0[Sailor.self, "bob"].name = "Bob"
      $0[Sailor.self, "bo\u{e9}"].mentor = Reference("ada")
    }
    try phone.edit { $0.name = "phone's" }
    try phone.save { $0[Sailor.self, "bob"].delete() }
    tablet.tell(phone)
    phone.foldLedgers()
    return (phone, tablet)
  }

  /// Returns a replica that sends as many fields as possible as fragments.
  private static func large() throws -> Replica {
    let phone = Replica.empty(1, wallClock: ManualClock(1_770_000_000_000))
    phone.fragmentSize = 0
    for key in ["added", "cancelled", "folded"] {
      try phone.save {
        let sailor = $0[Sailor.self, key]
        sailor.tags.insert("a")
        sailor.roles.insert("cook")
        sailor.miles.increment(by: 7)
        sailor.pay.append(100, memo: .string("advance"))
      }
    }
    return phone
  }

  /// Returns a delta with a fragment for each row of the rule.
  private static func fragments() throws -> Delta {
    let phone = try large()
    let tablet = Replica.empty(
      2, wallClock: ManualClock(1_770_000_000_000))
    tablet.fragmentSize = 0
    tablet.merge(phone)
    try tablet.save { $0[Sailor.self, "added"].pay.append(5) }
    phone.merge(tablet)
    let basis = phone.version
    try phone.save {
      let sailor = $0[Sailor.self, "added"]
      sailor.tags.insert("b")
      sailor.roles.remove("cook")
      sailor.miles.increment(by: 1)
      sailor.pay.append(-30)
    }
    try phone.save {
      $0[Sailor.self, "cancelled"].miles.reset()
      $0.apply(
        .append(.cancelling), to: FieldKey("pay", .ledger),
        of: RecordID("Sailor", "cancelled"))
    }
    try tablet.save { $0[Sailor.self, "folded"].pay.append(8) }
    tablet.foldLedgers()
    phone.merge(tablet)
    return try #require(phone.delta(since: basis))
  }

  /// Deleted records with the marks of purges, and with bare fields.
  private static func purged() throws -> Replica {
    let phone = Replica.empty(1)
    try phone.save {
      for key in ["ada", "bob", "cy"] {
        $0[Sailor.self, key].name = "gone"
        $0[Sailor.self, key].mentor = Reference("ada")
      }
    }
    try phone.save {
      $0[Sailor.self, "ada"].delete()
      $0[Sailor.self, "bob"].delete()
    }
    // The first call announces the purge of two records. The second one drops
    // their contents, and announces that of the third record.
    try phone.purgeDeletedRecords()
    try phone.save { $0[Sailor.self, "cy"].delete() }
    try phone.purgeDeletedRecords()
    // The undo restores a deletion that cannot be undone.
    try phone.save(undoable: "Again") { $0[Sailor.self, "bob"].name = "again" }
    try phone.undo()
    return phone
  }

  /// Returns records with every form of marks, and the version before those.
  private static func deleted() throws -> (Replica, ReplicaVersion) {
    let (a, b, c) = (Replica.empty(1), Replica.empty(2), Replica.empty(3))
    try a.save {
      for key in ["all", "beside", "both", "part"] {
        $0[Sailor.self, key].name = "name"
      }
      $0[Sailor.self, "again"].ensureExists()
    }
    let basis = a.version
    for other in [b, c] { other.merge(a) }
    let shown = a.recordForEditing(RecordID("Sailor", "part"))
    try a.save { $0[Sailor.self, "part"].miles.increment() }
    try a.save {
      $0.delete(shown.id, observed: shown[.existence], seen: shown.clock)
      for key in ["all", "beside", "both", "again"] {
        $0[Sailor.self, key].delete()
      }
    }
    try b.save {
      $0[Sailor.self, "beside"].rank = "mate"
      $0[Sailor.self, "both"].delete()
    }
    try c.save { $0[Sailor.self, "both"].ensureExists() }
    a.merge(b)
    a.merge(c)
    try a.save {
      $0[Sailor.self, "again"].name = "again"
      $0[Sailor.self, "touched"].ensureExists()
    }
    return (a, basis)
  }

  private static let values: [Value?] = [
    nil, .null, .bool(false), .bool(true), .int(0), .int(-1), .int(.max),
    .int(.min), .double(0.5), .double(.nan), .double(-.infinity),
    .string(""), .string("\u{e9}e\u{301}"), .bytes([0, 255]),
    .date(1_770_000_000_000_000), .date(.min),
    .reference(RecordID("Sailor", "ada")),
  ]

  /// The version of a replica with a part of a message, a stability cut and a
  /// forked device.
  private static func ahead() throws -> ReplicaVersion {
    let (a, b) = (Replica.empty(1), Replica.empty(2))
    try b.edit { $0.name = "b" }
    a.merge(b)
    for _ in 0..<2 { a.recordVersion(b.version, of: b.device) }
    try b.save {
      $0[Sailor.self, "bo\u{e9}"].name = "one"
      $0[Berth.self, "two"].name = "two"
    }
    let half = try #require(b.delta(since: a.version)).split(into: 2)[0]
    a.apply(half)
    a.current.version.fork(b.device)
    return a.version
  }

  /// Content that only a newer version, a wrong clock or a forked device writes.
  private static func strange() -> Delta {
    let (a, b) = (DeviceID(1), DeviceID(high: .max, low: 2))
    let kind = FieldKey("speed", .counter, variant: "gauge")
    var tally = PNCounter()
    _ = tally.add(.max, 3, on: a, sequence: .max)
    _ = tally.add(0, 1, on: b, sequence: 3)
    tally.turn([
      a: Cancellation(
        checked: .max - 1, turns: 1, canceled: 1, sum: WideInt(UInt64.max)),
      b: Cancellation(checked: 3, turns: 2, canceled: 0, sum: 0),
    ])
    let late = Siblings(
      sorted: [
        .init(dot: Dot(a, 4), payload: Stamped(.int(1), at: .max)),
        .init(
          dot: Dot(a, 9),
          payload: Stamped(.int(2), at: Timestamp(rawValue: 7))),
        .init(dot: Dot(b, 1), payload: Stamped(nil, at: .zero)),
      ])
    let line = DeviceEntries(
      folded: 5, sum: WideInt(high: -1, low: 0),
      cancellation: Cancellation(
        checked: 4, turns: .max, canceled: 2,
        sum: WideInt(high: 0, low: 1 << 63)),
      tail: [])
    let fields: [FieldKey: FieldState] = [
      kind: FieldState(
        Causal(store: tally, context: CausalContext([a: .max, b: 3]))),
      FieldKey("late", .register): FieldState(
        Causal(store: late, context: CausalContext([a: 12, b: 1]))),
      FieldKey("gone", .set): FieldState(
        Causal(store: ORSetStore(), context: CausalContext([b: 8]))),
      FieldKey("log", .ledger): FieldState(
        Causal(
          store: Ledger(lines: [b: line]), context: CausalContext([b: 8]))),
    ]
    return Delta(
      changes: [.init(id: RecordID("rejoin.future", ""), fields: fields)],
      intervals: [
        a: .init(
          from: 0,
          to: .init(sequence: .max, time: .max, digest: 1, isForked: true)),
        b: .init(
          from: 0,
          to: .init(sequence: 1, time: Timestamp(rawValue: 3), digest: 2)),
      ])
  }
}
