// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The records of a file by key.
package struct RecordTable: Sendable {
  /// The fields of each record by key.
  package private(set) var rows: [SchemaName: JSONValue.Row] = [:]

  /// Creates an empty table.
  package init() {}

  /// An error that describes why a file could not be read.
  package struct Failure: Error, Hashable, CustomStringConvertible {
    /// The location, the problem and the expected input.
    package let description: String

    package init(_ location: String, _ problem: String, _ expected: String) {
      description = "\(location): \(problem); expected \(expected)"
    }
  }

  /// Adds a record.
  ///
  /// - Parameter location: The file and the line or table, for errors.
  package mutating func add(
    _ fields: some Sequence<(name: SchemaName, value: JSONValue)>,
    at key: String,
    _ location: String
  ) throws(Failure) {
    var row: JSONValue.Row = [:]
    for (name, value) in fields {
      if let fault = NameFault(name.text) {
        throw Failure(location, fault.problem, "another: \(fault.remedy)")
      }
      guard row.updateValue(value, forKey: name.text) == nil else {
        throw Failure(
          location, "two fields have the name \"\(name)\"",
          "names that differ in more than Unicode normalization")
      }
    }
    guard rows.updateValue(row, forKey: SchemaName(key)) == nil else {
      throw Failure(
        location, "the key \"\(key)\" is there twice", "a key for each record")
    }
  }

  /// Reads versions of a CSV or JSON file.
  ///
  /// - Parameter files: The bytes of each version, or `nil` for a missing file,
  ///   and its name for errors.
  package static func versions(
    _ files: [(bytes: [UInt8]?, name: String)]
  ) throws(Failure) -> [RecordTable] {
    guard files.contains(where: isCSV) else {
      return try versions(json: files)
    }
    var tables: [RecordTable] = []
    for (bytes, name) in files {
      tables.append(
        try bytes.map { bytes throws(Failure) in
          try RecordTable(csv: bytes, named: name)
        } ?? RecordTable())
    }
    return tables
  }

  /// Returns whether a file is CSV, by its name or else by its first byte.
  private static func isCSV(_ file: (bytes: [UInt8]?, name: String)) -> Bool {
    let name = file.name.lowercased()
    if name.hasSuffix(".csv") || name.hasSuffix(".json") {
      return name.hasSuffix(".csv")
    }
    let first = file.bytes?.first { !" \t\r\n".utf8.contains($0) }
    return first.map { !"{[".utf8.contains($0) } ?? false
  }

  /// Reads a header and one record per line, whose first field is the key (RFC
  /// 4180).
  private init(csv bytes: [UInt8], named name: String) throws(Failure) {
    var reader = try CSVReader(bytes, name)
    guard let header = try reader.next(), let key = header.fields.first else {
      throw Failure("\(name):1", "the file is empty", "a header")
    }
    guard header.fields.count > 1 else {
      throw Failure(
        "\(name):1", "\"\(key)\" is the only column",
        "a key and others, with commas between them")
    }
    if Set(header.fields).count < header.fields.count {
      throw Failure(
        "\(name):1", "two columns have one name", "a name for each column")
    }
    while let line = try reader.next() {
      let location = "\(name):\(line.number)"
      guard line.fields.count == header.fields.count else {
        throw Failure(
          location, "\(line.fields.count) fields",
          "\(header.fields.count), as in the header")
      }
      let fields = zip(header.fields, line.fields).dropFirst().map {
        (SchemaName($0), JSONValue.scalar(.string($1)))
      }
      try add(fields, at: line.fields[0], location)
    }
  }
}

extension RecordTable {
  /// Returns an episode for each record that both sides changed, sorted by key.
  ///
  /// - Parameter name: The prefix of the IDs of the episodes.
  package static func episodes(
    _ name: String, base: RecordTable, mine: RecordTable, theirs: RecordTable,
    resolution: RecordTable? = nil,
    times: (mine: Int64, theirs: Int64)? = nil,
    kinds: DeclaredKinds = DeclaredKinds()
  ) throws(Failure) -> [Episode] {
    let keys = Set(mine.rows.keys).union(theirs.rows.keys)
      .union(base.rows.keys)
    var episodes: [Episode] = []
    for key in keys.sorted() {
      let id = "\(name)#\(key.text)"
      func declared(_ row: JSONValue.Row?) throws(Failure) -> JSONValue.Row? {
        guard let row else { return nil }
        return try kinds.read(row, id)
      }
      let kept: JSONValue.Row?? =
        if let resolution {
          .some(try declared(resolution.rows[key]))
        } else { nil }
      var snapshots = Snapshots(
        id: id, base: try declared(base.rows[key]),
        mine: try declared(mine.rows[key]),
        theirs: try declared(theirs.rows[key]), resolution: kept,
        kinds: kinds.byField)
      if let times { snapshots.times = times }
      if snapshots.isConcurrent { episodes.append(snapshots.episode) }
    }
    return episodes
  }
}
