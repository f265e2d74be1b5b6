// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A request, an answer or an object, as bytes carry it.
///
/// `ReplicaStore.sync(scope:asking:)` and the methods
/// `answer` create and read messages. Decode one to dispatch it or to log it:
///
///     let message = try SyncMessage(decoding: bytes)
///     message.kind   // request
///     message.scope  // "list-17"
///
/// The article *Wire format* of Rejoin describes the bytes.
public struct SyncMessage: Sendable {
  /// The kind of a message.
  public enum Kind: Hashable, Sendable {
    /// A version, and perhaps a part that the peer lacks.
    case request
    /// A version, and perhaps a part that the other side lacks, or a refusal.
    case answer
    /// A version or a part in a storage of objects.
    case object
  }

  /// The kind.
  public let kind: Kind
  /// The name of the scope, or an empty text in an answer to a request that could
  /// not be decoded.
  public let scope: String
  /// The device that shows the version, or `nil` for a hub.
  public var device: DeviceID?
  /// The saves that the sender has, or `nil` in a refusal of the whole request.
  public var version: ReplicaVersion?
  /// Saves that the receiver lacks, or `nil`.
  public var part: Delta?
  /// The reason why the request, or its part, was refused, or `nil`.
  public var refusal: SyncRefusal?
  /// The maximum number of bytes of the part that the sender wants.
  package var byteLimit = 1

  package init(_ kind: Kind, scope: String) {
    (self.kind, self.scope) = (kind, scope)
  }
}

// Limits.
extension SyncMessage {
  /// The maximum number of bytes of a part, except for a single record.
  static let partLimit = 4 << 20
  /// The maximum number of bytes of a request or an answer, which may have one
  /// record of a hub.
  package static let exchangeLimit = 40 << 20
  /// The maximum number of bytes in the name of a scope.
  static let scopeLimit = 1_024
  /// The maximum number of bytes of an object.
  static let objectLimit = 1 << 30

  /// Whether the peer would not read the message, because several devices made one
  /// record large.
  var isTooLarge: Bool {
    // The version and the scope are small.
    guard let part, part.encoded().count > SyncMessage.exchangeLimit / 2 else {
      return false
    }
    return encoded().count > SyncMessage.exchangeLimit
  }
}

// Encoding.
extension SyncMessage.Kind {
  fileprivate var wireKind: WireKind {
    switch self {
    case .request: .request
    case .answer: .answer
    case .object: .object
    }
  }

  fileprivate init(_ kind: WireKind) {
    switch kind {
    case .request: self = .request
    case .answer: self = .answer
    default: self = .object
    }
  }
}

extension SyncMessage {
  /// Returns the message as bytes.
  package func encoded() -> [UInt8] {
    var writer = WireWriter(kind.wireKind)
    let name = Array(scope.utf8)
    writer.varint(name.count)
    writer.raw(name)
    writer.varint(device == nil ? 0 : 16)
    if let device { writer.device(device) }
    let (number, seconds) = refusal?.code ?? (0, 0)
    writer.varint(number)
    writer.varint(seconds)
    writer.varint(byteLimit)
    for content in [version?.encoded() ?? [], part?.encoded() ?? []] {
      writer.varint(content.count)
      writer.raw(content)
    }
    return writer.sealed()
  }

  /// Decodes a message.
  ///
  /// - Throws: `WireError` with the offset of the error.
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  public init(decoding bytes: [UInt8]) throws(WireError) {
    self = try withBytes(of: bytes) { bytes throws(WireError) in
      var reader = try WireReader(
        opening: bytes, as: [.request, .answer, .object])
      let kind = Kind(reader.kind)
      let limit =
        kind == .object ? SyncMessage.objectLimit : SyncMessage.exchangeLimit
      try reader.require(
        bytes.count <= limit, .invalid, "at most \(limit) bytes", at: 0)
      let message = try reader.message(kind)
      try reader.finish()
      return message
    }
  }

  /// The rule for the parts of a message that is not met, or `nil`.
  fileprivate var missingContent: String? {
    let (hasVersion, hasPart) = (version != nil, part != nil)
    switch kind {
    case .request:
      let isMet = device != nil && hasVersion && refusal == nil
      return isMet ? nil : "a request with a device and a version"
    case .answer:
      let isMet =
        hasVersion || refusal != nil && device == nil && !hasPart
      return isMet ? nil : "an answer with a version, or with a refusal alone"
    case .object:
      let isMet = device != nil && refusal == nil && hasVersion != hasPart
      return isMet ? nil : "an object with a device, and a version or a part"
    }
  }
}

extension WireReader {
  fileprivate mutating func message(
    _ kind: SyncMessage.Kind
  ) throws(WireError) -> SyncMessage {
    let start = offset
    let length = try count()
    try require(
      length <= SyncMessage.scopeLimit, .invalid,
      "a scope of at most 1,024 bytes", at: start)
    var message = SyncMessage(kind, scope: try text(length))
    message.device = try optionalDevice()
    message.refusal = try refusal()
    let limitStart = offset
    let limit = try varint()
    try require(limit > 0, .invalid, "at least one byte", at: limitStart)
    message.byteLimit = Int(clamping: limit)
    message.version = try nested { bytes throws(WireError) in
      try ReplicaVersion(decoding: bytes)
    }
    message.part = try nested { bytes throws(WireError) in
      try Delta(decoding: bytes)
    }
    if let expected = message.missingContent {
      throw error(.invalid, expected, at: start)
    }
    return message
  }

  private mutating func optionalDevice() throws(WireError) -> DeviceID? {
    let start = offset
    let length = try count()
    try require(
      length == 0 || length == 16, .invalid, "a device of 16 bytes, or none",
      at: start)
    return length == 0 ? nil : try device()
  }

  private mutating func refusal() throws(WireError) -> SyncRefusal? {
    let start = offset
    let (number, seconds) = (try varint(), try varint())
    if number == 0, seconds == 0 { return nil }
    guard let refusal = SyncRefusal(number: number, seconds: seconds) else {
      throw error(.invalid, "no seconds without the refusal busy", at: start)
    }
    return refusal
  }

  /// Reads a message within this one, or returns `nil` if it is empty.
  private mutating func nested<Content>(
    _ decode: (UnsafeRawBufferPointer) throws(WireError) -> Content
  ) throws(WireError) -> Content? {
    let length = try count()
    if length == 0 { return nil }
    let start = offset
    let bytes = try take(length)
    do { return try decode(bytes) } catch { throw error.moved(by: start) }
  }
}
