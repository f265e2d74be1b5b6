// SPDX-License-Identifier: Apache-2.0

/// The kind of a message, and the size of each of its parts.
///
///     try WireSummary(of: bytes).sections.map(\.byteCount).reduce(0, +)
///     // bytes.count
public struct WireSummary: Hashable, Sendable {
  /// A part of a message.
  public struct Section: Hashable, Sendable {
    /// What it contains.
    public let name: String
    /// Its size in bytes.
    public let byteCount: Int
  }

  /// The kind of the message: `delta`, `snapshot`, `record`, `vector clock`,
  /// `replica clock`, `stored replica` or `restore token`.
  public let kind: String

  /// The version of the format.
  public let version: UInt8

  /// The parts that are present, in their order in the message.
  public private(set) var sections: [Section] = []

  /// Validates and summarizes a message.
  ///
  /// - Throws: ``WireError``, with the offset and what was expected there.
  /// - Complexity: O(*n*) for *n* bytes.
  public init(of bytes: some Sequence<UInt8>) throws(WireError) {
    self = try withBytes(of: bytes) { bytes throws(WireError) in
      try WireSummary(reading: bytes)
    }
  }

  private init(
    reading bytes: UnsafeRawBufferPointer
  ) throws(WireError) {
    let reader = try WireReader(opening: bytes, as: WireKind.allCases)
    (kind, version) = (reader.kind.name, WireKind.version)
    add("header", 3)
    switch reader.kind {
    case .vectorClock:
      _ = try VectorClock(decoding: bytes)
      add("devices", reader.remaining)
    case .replicaVersion:
      _ = try ReplicaVersion(decoding: bytes)
      add("devices", reader.remaining)
    case .token:
      _ = try RestoreToken(decoding: bytes)
      add("token", reader.remaining)
    case .stored:
      _ = try StoredReplica(decoding: bytes)
      try addParts(bytes, reader.kind)
    case .delta, .snapshot, .record, .patch:
      try addParts(bytes, reader.kind)
    }
    add("checksum", WireChecksum.size)
  }

  private mutating func add(_ name: String, _ count: Int) {
    if count > 0 { sections.append(Section(name: name, byteCount: count)) }
  }

  private mutating func addParts(
    _ bytes: UnsafeRawBufferPointer, _ kind: WireKind
  ) throws(WireError) {
    var message = try MessageReader(bytes, as: [kind])
    let start = message.reader.offset
    add("devices and saves", start - 3)
    try message.skipRecords()
    let (sizes, end) = (message.sizes, message.reader.offset)
    add("entities and field names", sizes.tables)
    add("record names", sizes.keys)
    add("fields", end - start - sizes.tables - sizes.keys)
    add("sections", message.reader.remaining)
    _ = try message.readSections()
  }
}
