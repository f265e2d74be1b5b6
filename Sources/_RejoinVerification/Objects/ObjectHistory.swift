// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinTesting

/// The saves of some devices, each of which inserted an element of its own.
///
/// The elements tell which saves a replica really has, whatever its version says.
struct ObjectHistory {
  private static let fields = [FieldKey("tags", .set), FieldKey("marks", .set)]
  static let schema = Schema(["Item": .init(fields: Set(fields))])

  /// A save, by its number and its digest, which two histories do not share.
  private struct Key: Hashable {
    let device: DeviceID
    let sequence: UInt64
    let digest: UInt64
  }

  private struct Save {
    let element: String
    let places: [(record: RecordID, field: FieldKey)]
    let previous: UInt64
  }

  private var saves: [Key: Save] = [:]
  /// The devices that were copied with their ID.
  ///
  /// Two histories of a device look like one until they meet under one number.
  var suspects: Set<DeviceID> = []

  /// Makes a save that touches some fields.
  mutating func save(
    _ numbers: [(record: Int, field: Int)], on replica: Replica
  ) throws(ScriptMismatch) {
    let element = "s\(saves.count)"
    let places = numbers.map {
      (record: RecordID("Item", "\($0.record)"), field: Self.fields[$0.field])
    }
    let before = replica.version
    let report = try? replica.save { transaction in
      for place in places {
        transaction.apply(
          .members(SetEdit(inserting: [.string(element)])), to: place.field,
          of: place.record)
      }
    }
    guard let dot = report?.dot else { throw ScriptMismatch("a save fails") }
    let digest = replica.version[dot.device].digest
    saves[Key(device: dot.device, sequence: dot.sequence, digest: digest)] =
      Save(
        element: element, places: places, previous: before[dot.device].digest)
  }

  /// Checks that a replica has the elements of all saves in its version, and in a
  /// prefix.
  ///
  /// - Parameter name: The name of the replica in the mismatch.
  func check(_ replica: Replica, _ name: String) throws(ScriptMismatch) {
    let view = ReplicaView(replica)
    var held: [RecordID: [FieldKey: Set<Value>]] = [:]
    func check(
      _ device: DeviceID, _ save: DeviceSave, through last: RecordID?
    ) throws(ScriptMismatch) {
      if suspects.contains(device) { return }
      var (sequence, digest) = (save.sequence, save.digest)
      while sequence > 0 {
        let key = Key(device: device, sequence: sequence, digest: digest)
        guard let save = saves[key] else {
          throw ScriptMismatch(
            "\(name) has save \(sequence) of \(device), which was not made")
        }
        for (record, field) in save.places
        where last.map({ record <= $0 }) ?? true {
          let elements =
            held[record]?[field]
            ?? Set(view.record(record)?.reading(of: field).elements ?? [])
          held[record, default: [:]][field] = elements
          if !elements.contains(.string(save.element)) {
            throw ScriptMismatch(
              "\(name) claims save \(sequence) of \(device), and \(field.name) of "
                + "\(record) lacks it")
          }
        }
        (sequence, digest) = (sequence - 1, save.previous)
      }
    }
    let version = replica.version
    for entry in version.vectorClock.entries {
      try check(entry.device, version[entry.device], through: nil)
    }
    for prefix in version.prefixes {
      for (device, save) in prefix.saves.entries {
        try check(device, save, through: prefix.through)
      }
    }
  }
}
