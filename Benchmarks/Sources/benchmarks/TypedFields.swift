// SPDX-License-Identifier: Apache-2.0

import Harness
import Rejoin

/// The records of the data, declared.
struct Item: Entity {
  let f0 = register("f0", of: String.self)
  let f1 = register("f1", of: String.self)
  let f2 = register("f2", of: String.self)
  let f3 = register("f3", of: String.self)
  let f4 = register("f4", of: String.self)
  let f5 = register("f5", of: String.self)
  let f6 = register("f6", of: String.self)
  let f7 = register("f7", of: String.self)
  let f8 = register("f8", of: String.self)
  let f9 = register("f9", of: String.self)

  /// Writes all fields of a record.
  static func write(_ texts: ArraySlice<String>, to item: RecordEditor<Item>) {
    let i = texts.startIndex
    item.f0 = texts[i]
    item.f1 = texts[i + 1]
    item.f2 = texts[i + 2]
    item.f3 = texts[i + 3]
    item.f4 = texts[i + 4]
    item.f5 = texts[i + 5]
    item.f6 = texts[i + 6]
    item.f7 = texts[i + 7]
    item.f8 = texts[i + 8]
    item.f9 = texts[i + 9]
  }

  /// Returns the number of bytes in all fields of a record.
  static func length(of item: TypedRecord<Item>) -> Int {
    var length = item.f0?.utf8.count ?? 0
    length += item.f1?.utf8.count ?? 0
    length += item.f2?.utf8.count ?? 0
    length += item.f3?.utf8.count ?? 0
    length += item.f4?.utf8.count ?? 0
    length += item.f5?.utf8.count ?? 0
    length += item.f6?.utf8.count ?? 0
    length += item.f7?.utf8.count ?? 0
    length += item.f8?.utf8.count ?? 0
    return length + (item.f9?.utf8.count ?? 0)
  }

  /// Writes all fields of all records, in one save.
  static func write(
    _ texts: [String], of data: Dataset, to replica: Replica
  ) throws {
    try replica.save { transaction in
      for (i, id) in data.ids.enumerated() {
        let first = i * Dataset.fieldsPerRecord
        write(
          texts[first..<first + Dataset.fieldsPerRecord],
          to: transaction[Item.self, id])
      }
    }
  }

  /// The values of the data, as strings.
  static func texts(of data: Dataset, version: Int) -> [String] {
    data.ids.indices.flatMap { i in
      Dataset.keys.indices.compactMap { j in
        guard case .string(let text) = Dataset.value(i, j, version: version)
        else { return nil }
        return text
      }
    }
  }
}

extension Suite {
  /// Adds writing and reading through typed key paths: W1b to W3b.
  mutating func addTypedFields() {
    add(
      "W1b", "write into an empty replica, by key paths", per: "field",
      target: 300, beside: .insert
    ) { scale in
      let data = Dataset(fields: scale(100_000))
      let texts = Item.texts(of: data, version: 0)
      return Work(
        operations: texts.count, expecting: data.ids.count,
        setUp: { Dataset.emptyReplica(1, schema: [Item.self]) }
      ) { replica in
        try Item.write(texts, of: data, to: replica)
        return replica.recordIDs(of: "Item").count
      }
    }
    add(
      "W2b", "overwrite, by key paths", per: "field", target: 348,
      beside: .insert
    ) { scale in
      let data = Dataset(fields: scale(100_000))
      let replica = Dataset.emptyReplica(1, schema: [Item.self])
      try Item.write(Item.texts(of: data, version: 0), of: data, to: replica)
      let texts = Item.texts(of: data, version: 1)
      return Work(operations: texts.count, expecting: 1, setUp: {}) { _ in
        let before = replica.version.vectorClock.entries[0].count
        try Item.write(texts, of: data, to: replica)
        return Int(replica.version.vectorClock.entries[0].count - before)
      }
    }
    add(
      "W3b", "read, by key paths", per: "field", target: 222, beside: .lookUp
    ) { scale in
      let data = Dataset(fields: scale(100_000))
      let replica = Dataset.emptyReplica(1, schema: [Item.self])
      try Item.write(Item.texts(of: data, version: 0), of: data, to: replica)
      let ids = Dataset.order(scale(100_000), below: data.ids.count)
        .map { data.ids[$0] }
      return Work(
        operations: ids.count, expecting: ids.count * 12, setUp: {}
      ) { _ in
        ids.reduce(0) { length, id in
          length + (replica[Item.self, id]?.f3?.utf8.count ?? 0)
        }
      }
    }
    add(
      "W3b", "read all fields of a record, by key paths", per: "field",
      beside: .lookUp
    ) { scale in
      let data = Dataset(fields: scale(100_000))
      let replica = Dataset.emptyReplica(1, schema: [Item.self])
      try Item.write(Item.texts(of: data, version: 0), of: data, to: replica)
      let ids = Dataset.order(data.ids.count, below: data.ids.count)
        .map { data.ids[$0] }
      return Work(
        operations: ids.count * Dataset.fieldsPerRecord,
        expecting: ids.count * Dataset.fieldsPerRecord * 12, setUp: {}
      ) { _ in
        ids.reduce(0) { length, id in
          length + (replica[Item.self, id].map(Item.length) ?? 0)
        }
      }
    }
  }
}
