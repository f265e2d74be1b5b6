// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinSync
import RejoinTesting

/// The saves of an ``ObjectExplorer``, each of which inserts its dot into two sets.
struct ObjectElements {
  private static let tags = FieldKey("tags", .set)
  private static let records = [RecordID("Item", "1"), RecordID("Item", "2")]
  private static let schema = Schema(["Item": .init(fields: [tags])])

  /// The devices that were copied with their ID.
  var suspects: Set<DeviceID> = []

  private func clock() -> WallClock { WallClock { 1_000_000 } }

  /// Returns a new replica of a device.
  func replica(_ i: Int) -> Replica {
    Replica(
      device: DeviceID(UInt64(i + 1)), schema: Self.schema, wallClock: clock(),
      makeDeviceID: { DeviceID(UInt64(i + 101)) })
  }

  func copy(of replica: Replica, at i: Int) -> Replica {
    Replica(
      resuming: replica.state, schema: Self.schema, wallClock: clock(),
      makeDeviceID: { DeviceID(UInt64(i + 101)) })
  }

  /// Makes a save, whose element names the device also if two have the same ID.
  func save(
    at i: Int, on replica: Replica
  ) throws(ScriptMismatch) {
    // The element is the dot of the save, which a first save reveals.
    let dot = try save("", on: copy(of: replica, at: i))
    let element = suspects.contains(dot.device) ? "\(dot) of \(i)" : "\(dot)"
    try agree("the dot of a save", save(element, on: replica), dot)
  }

  private func save(
    _ element: String, on replica: Replica
  ) throws(ScriptMismatch) -> Dot {
    let report = try? replica.save { transaction in
      for id in Self.records {
        transaction.apply(
          .members(SetEdit(inserting: [.string(element)])), to: Self.tags,
          of: id)
      }
    }
    guard let dot = report?.dot else { throw ScriptMismatch("a save fails") }
    return dot
  }

  /// Returns the elements of a record.
  private static func elements(
    of id: RecordID, in replica: Replica
  ) -> Set<String> {
    let found =
      ReplicaView(replica).record(id)?.reading(of: tags).elements ?? []
    return Set(
      found.compactMap { if case .string(let text) = $0 { text } else { nil } })
  }

  /// The elements that each of some replicas or another one has.
  static func elements(of replicas: [Replica]) -> Set<String> {
    replicas.reduce(into: []) { all, replica in
      for id in records { all.formUnion(elements(of: id, in: replica)) }
    }
  }

  /// Returns the elements that a new device finds in a storage.
  func elements(in storage: FaultyStorage) -> Set<String> {
    let replica = replica(90)
    for bytes in storage.objects.values {
      guard let part = try? SyncMessage(decoding: bytes).part else { continue }
      replica.apply(part)
    }
    // Only saves without a hole before them are safe.
    return Set(
      replica.version.vectorClock.entries.flatMap { entry in
        (1..<(entry.count + 1)).map { "\(Dot(entry.device, $0))" }
      }.filter { !suspectsContain($0) })
  }

  private func suspectsContain(_ element: String) -> Bool {
    suspects.contains { element.hasPrefix("\($0):") }
  }

  /// Checks that a replica has the elements of all saves in its version.
  func check(_ replica: Replica, _ name: String) throws(ScriptMismatch) {
    let held = Self.records.map { Self.elements(of: $0, in: replica) }
    for entry in replica.version.vectorClock.entries
    where !suspects.contains(entry.device) {
      for sequence in 1..<(entry.count + 1) {
        let element = "\(Dot(entry.device, sequence))"
        if held.contains(where: { !$0.contains(element) }) {
          throw ScriptMismatch("\(name) claims \(element), and lacks it")
        }
      }
    }
  }
}
