// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The records of a file, by their keys.
package struct RecordTable: Sendable {
  /// The fields of each record, by its key.
  package private(set) var rows: [String: JSONValue.Row] = [:]

  /// Creates an empty table.
  package init() {}

  /// What is wrong with a file.
  package struct Failure: Error, Hashable, CustomStringConvertible {
    /// The place, what is wrong, and what was expected.
    package let description: String

    package init(_ place: String, _ problem: String, _ expected: String) {
      description = "\(place): \(problem); expected \(expected)"
    }
  }

  /// Adds a record.
  ///
  /// - Returns: Whether there was none with its key.
  package mutating func add(_ row: JSONValue.Row, at key: String) -> Bool {
    rows.updateValue(row, forKey: key) == nil
  }

  /// Reads a file by its name: `.csv`, or else JSON.
  package init(
    _ bytes: [UInt8], named name: String
  ) throws(Failure) {
    if name.lowercased().hasSuffix(".csv") {
      try self.init(csv: bytes, named: name)
    } else {
      try self.init(json: bytes, named: name)
    }
  }

  /// Reads an object of records by their keys, an array of records that have a
  /// field `id`, `key` or `name`, or one record.
  private init(json bytes: [UInt8], named name: String) throws(Failure) {
    let json: JSONValue
    do {
      json = try JSONParser.value(of: bytes[...])
    } catch {
      let line = bytes.prefix(error.offset).count { $0 == 0x0a } + 1
      throw Failure("\(name):\(line)", error.problem, "JSON")
    }
    switch json {
    case .object(let members):
      let records = members.compactMap {
        key, value -> (String, JSONValue.Row)? in
        value.row.map { (key.text, $0) }
      }
      if records.count == members.count {
        for (key, row) in records { rows[key] = row }
      } else {
        // A record itself, as in a file of settings.
        rows["."] = json.row
      }
    case .array(let items):
      guard
        let key = ["id", "key", "name"].first(where: { items.areKeyed(by: $0) })
      else {
        throw Failure(
          name, "the records of the array have no key",
          "in each a field \"id\", \"key\" or \"name\" of its own")
      }
      for item in items {
        if let row = item.row, let value = row[key]?.key { rows[value] = row }
      }
    case .scalar:
      throw Failure(
        name, "found \(json.typeName)", "an object or an array of records")
    }
  }

  /// Reads a header, and a record a line, whose first field is its key (RFC 4180).
  private init(csv bytes: [UInt8], named name: String) throws(Failure) {
    var reader = CSVReader(bytes, name)
    guard let header = try reader.next(), let key = header.fields.first else {
      throw Failure("\(name):1", "the file is empty", "a header")
    }
    if Set(header.fields).count < header.fields.count {
      throw Failure(
        "\(name):1", "two columns have one name", "a name for each column")
    }
    while let line = try reader.next() {
      guard line.fields.count == header.fields.count else {
        throw Failure(
          "\(name):\(line.number)", "\(line.fields.count) fields",
          "\(header.fields.count), as in the header")
      }
      var row: JSONValue.Row = [:]
      for (column, text) in zip(header.fields, line.fields).dropFirst() {
        row[column] = .scalar(.string(text))
      }
      guard add(row, at: line.fields[0]) else {
        throw Failure(
          "\(name):\(line.number)",
          "\"\(line.fields[0])\" is twice in the column \"\(key)\"",
          "a key in the first column")
      }
    }
  }
}

extension RecordTable {
  /// The records that both sides have changed, sorted by key.
  ///
  /// - Parameter name: What the IDs of the episodes begin with.
  package static func episodes(
    _ name: String, base: RecordTable, mine: RecordTable, theirs: RecordTable,
    resolution: RecordTable? = nil, times: (mine: Int64, theirs: Int64)? = nil
  ) -> [Episode] {
    let keys = Set(mine.rows.keys).union(theirs.rows.keys)
      .union(base.rows.keys)
    return keys.sorted().compactMap { key in
      let kept: JSONValue.Row?? = resolution.map { $0.rows[key] }
      var snapshots = Snapshots(
        id: "\(name)#\(key)", base: base.rows[key], mine: mine.rows[key],
        theirs: theirs.rows[key], resolution: kept)
      if let times { snapshots.times = times }
      return snapshots.isConcurrent ? snapshots.episode : nil
    }
  }
}

extension JSONValue {
  /// The members of an object.
  package var row: Row? {
    guard case .object(let members) = self else { return nil }
    return Dictionary(members.map { ($0.key.text, $0.value) }) { $1 }
  }

  /// The value as a key of a record.
  fileprivate var key: String? {
    switch self {
    case .scalar(.string(let text)): text
    case .scalar(.int(let number)): String(number)
    default: nil
    }
  }
}

extension [JSONValue] {
  /// Whether all are records with a field of that name, whose values differ.
  fileprivate func areKeyed(by name: String) -> Bool {
    let keys = compactMap { $0.row?[name]?.key }
    return keys.count == count && Set(keys).count == count
  }
}
