// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension RecordTable {
  /// The structure of a file, which determines how its records are found.
  private enum Shape {
    /// An object that contains the records by key.
    case object
    /// An array of records, with a field that contains the key.
    case array(key: String)
    /// A single record, such as the settings of an app.
    case record

    /// Creates the shape that all versions share, or returns `nil` if none
    /// exists.
    ///
    /// If a version had another shape, its records would seem to be missing
    /// from the others.
    init?(_ versions: [JSONValue]) {
      let objects = versions.compactMap(\.members)
      if objects.count == versions.count {
        let areRecords = objects.allSatisfy { members in
          members.values.allSatisfy { $0.members != nil }
        }
        self = areRecords ? .object : .record
        return
      }
      let arrays = versions.compactMap(\.items)
      let key = ["id", "key", "name"].first { name in
        arrays.count == versions.count
          && arrays.allSatisfy { $0.areKeyed(by: SchemaName(name)) }
      }
      guard let key else { return nil }
      self = .array(key: key)
    }
  }

  /// Reads versions of a JSON file.
  ///
  /// The file contains an object of records by key, an array of records with a
  /// field `id`, `key` or `name`, or one record.
  static func versions(
    json files: [(bytes: [UInt8]?, name: String)]
  ) throws(Failure) -> [RecordTable] {
    var versions: [JSONValue?] = []
    for (bytes, name) in files {
      versions.append(
        try bytes.map { bytes throws(Failure) in try parse(bytes, name) })
    }
    guard let shape = Shape(versions.compactMap(\.self)) else {
      throw Failure(
        files[0].name, "no field is a key of all records in all versions",
        "an object of records, or an array of records in each of which a field "
          + "\"id\", \"key\" or \"name\" has a value of its own")
    }
    var tables: [RecordTable] = []
    for (version, file) in zip(versions, files) {
      var table = RecordTable()
      if let version { try table.add(version, shape, file.name) }
      tables.append(table)
    }
    return tables
  }

  private static func parse(
    _ bytes: [UInt8], _ name: String
  ) throws(Failure) -> JSONValue {
    // Skip the byte-order mark, which some editors write.
    let text =
      bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes[...]
    do {
      return try JSONParser.value(of: text)
    } catch {
      let line = text.prefix(error.offset).count { $0 == 0x0a } + 1
      throw Failure("\(name):\(line)", error.problem, "JSON")
    }
  }

  private mutating func add(
    _ version: JSONValue, _ shape: Shape, _ location: String
  ) throws(Failure) {
    func add(_ record: JSONValue, at key: String) throws(Failure) {
      let fields = (record.members ?? [:]).map { (name: $0, value: $1) }
      try self.add(fields, at: key, location)
    }
    switch shape {
    case .record: try add(version, at: ".")
    case .object:
      for (key, record) in version.members ?? [:] {
        try add(record, at: key.text)
      }
    case .array(let name):
      for record in version.items ?? [] {
        try add(record, at: record.members?[SchemaName(name)]?.key?.text ?? "")
      }
    }
  }
}

extension JSONValue {
  fileprivate var members: [SchemaName: JSONValue]? {
    if case .object(let members) = self { members } else { nil }
  }

  fileprivate var items: [JSONValue]? {
    if case .array(let items) = self { items } else { nil }
  }

  /// The value as the key of a record, or `nil` if it cannot be one.
  fileprivate var key: SchemaName? {
    switch self {
    case .scalar(.string(let text)): SchemaName(text)
    case .scalar(.int(let number)): SchemaName(String(number))
    default: nil
    }
  }
}

extension [JSONValue] {
  /// Whether all values are records with this field, and its values differ.
  fileprivate func areKeyed(by name: SchemaName) -> Bool {
    let keys = compactMap { $0.members?[name]?.key }
    return keys.count == count && Set(keys).count == count
  }
}
