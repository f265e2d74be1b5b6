// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Records of ten registers with values of twelve characters.
///
/// The scripts in Peers create equal records.
struct Dataset: Sendable {
  static let fieldsPerRecord = 10
  static let keys = (0..<fieldsPerRecord).map { FieldKey("f\($0)", .register) }
  static let schema = Schema(["Item": .init(fields: Set(keys))])

  let ids: [String]

  init(records: Int) {
    ids = (0..<records).map(Self.id)
  }

  /// The key of a record.
  static func id(_ record: Int) -> String { "r\(padded(record, 5))" }

  /// Data with a number of fields.
  init(fields: Int) {
    self.init(records: max(fields / Self.fieldsPerRecord, 1))
  }

  var fieldCount: Int { ids.count * Self.fieldsPerRecord }

  /// The value of a field at a version: 48 bits that look random.
  static func value(_ record: Int, _ field: Int, version: Int = 0) -> Value {
    let mixed = mix(UInt64(version << 40 | record << 8 | field))
    return .string(padded(mixed & 0xffff_ffff_ffff, 12, radix: 16))
  }

  /// Numbers below a bound, in an order that looks random.
  static func order(_ count: Int, below bound: Int, seed: UInt64 = 42) -> [Int]
  {
    (0..<count).map {
      Int(mix(seed &+ UInt64($0 + 1) &* 0x9e37_79b9_7f4a_7c15) % UInt64(bound))
    }
  }

  /// The output function of SplitMix64.
  static func mix(_ state: UInt64) -> UInt64 {
    var z = state &+ 0x9e37_79b9_7f4a_7c15
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  private static func padded(
    _ number: some BinaryInteger, _ digits: Int, radix: Int = 10
  ) -> String {
    let text = String(number, radix: radix)
    return String(repeating: "0", count: max(digits - text.count, 0)) + text
  }

  /// A replica without records.
  static func emptyReplica(_ device: Int, schema: Schema = schema) -> Replica {
    Replica(
      device: Self.device(device), schema: schema,
      wallClock: WallClock { 1_750_000_000_000 },
      makeDeviceID: { fatalError("a device ID is used twice") })
  }

  /// A device ID that looks random.
  static func device(_ number: Int) -> DeviceID {
    DeviceID(high: mix(UInt64(number)), low: mix(UInt64(number) << 32))
  }

  /// Writes every field once, in one save.
  func write(to replica: Replica, version: Int = 0) throws {
    try replica.save { transaction in
      for (i, id) in ids.enumerated() {
        for (j, key) in Self.keys.enumerated() {
          transaction.apply(
            .write(Self.value(i, j, version: version)), to: key,
            of: RecordID("Item", id))
        }
      }
    }
  }

  /// A replica with every field written once, in one save.
  func replica(_ device: Int = 1) throws -> Replica {
    let replica = Self.emptyReplica(device)
    try write(to: replica)
    return replica
  }

  /// A replica that shares no memory with others.
  static func replica(opening state: [UInt8]) throws -> Replica {
    let stored = try ReplicaState(decoding: state)
    return Replica(
      opening: stored, token: RestoreToken(stored), schema: schema,
      wallClock: WallClock { 1_750_000_000_000 },
      makeDeviceID: { fatalError("a device ID is used twice") })
  }

  /// A second replica with the same records, which shares no memory with the first.
  static func replica(_ device: Int, copying other: Replica) throws -> Replica {
    let replica = emptyReplica(device)
    if let delta = other.delta() {
      replica.apply(try Delta(decoding: delta.encoded()), reporting: .faults)
    }
    return replica
  }
}

/// The arguments of a write as an app has them: strings and a value.
struct PlannedWrite {
  let id: String
  let key: FieldKey
  let value: Value

  /// Writes to some fields of the data, in an order that looks random.
  static func some(
    _ count: Int, of data: Dataset, version: Int = 1, seed: UInt64 = 42
  ) -> [PlannedWrite] {
    Dataset.order(count, below: data.fieldCount, seed: seed).map { place in
      let (i, j) = place.quotientAndRemainder(
        dividingBy: Dataset.fieldsPerRecord)
      return PlannedWrite(
        id: data.ids[i], key: Dataset.keys[j],
        value: Dataset.value(i, j, version: version))
    }
  }

  /// Writes to every field, in their order.
  static func all(of data: Dataset) -> [PlannedWrite] {
    data.ids.indices.flatMap { i in
      Dataset.keys.indices.map { j in
        PlannedWrite(
          id: data.ids[i], key: Dataset.keys[j], value: Dataset.value(i, j))
      }
    }
  }
}

extension Transaction {
  func apply(_ write: PlannedWrite) {
    apply(.write(write.value), to: write.key, of: RecordID("Item", write.id))
  }
}
