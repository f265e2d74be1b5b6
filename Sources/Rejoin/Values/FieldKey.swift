// SPDX-License-Identifier: Apache-2.0

/// The key of a field within a record: its name and kind.
///
/// Fields with one name and different kinds are different fields. If the kind
/// changes between versions of a schema, both are kept.
public struct FieldKey: Sendable {
  /// The name in the schema.
  public let name: String

  /// The kind of the field, which determines its lattice and how this version
  /// of the library reads it.
  public let kind: FieldKind

  /// The name of a kind that only newer versions of the library know, or `nil`
  /// for all other fields.
  ///
  /// A newer kind has the lattice of ``kind`` but reads it differently. A
  /// replica keeps such a field, sends it and joins it by its lattice. The
  /// field differs from the field without a variant.
  public let variant: String?

  /// Creates the key of a field.
  ///
  /// - Precondition: `name` and `variant` have 1 to 255 bytes, and `variant` is
  ///   not the name of `kind`.
  public init(_ name: String, _ kind: FieldKind, variant: String? = nil) {
    demand(
      FieldKey.isValid(name, kind, variant),
      "the name of a field and its variant must have 1 to 255 bytes, the variant "
        + "must differ from the kind's name, and the kind must be one that a schema "
        + "can declare: change the field")
    self.name = name
    self.kind = kind
    self.variant = variant
  }

  private init() { (name, kind, variant) = ("", .existence, nil) }

  /// The key of the field that contains the marks of the record's existence.
  public static let existence = FieldKey()

  /// Returns whether a field can have this key.
  static func isValid(
    _ name: String, _ kind: FieldKind, _ variant: String?
  ) -> Bool {
    guard Limits.isName(name), kind != .existence else { return false }
    guard let variant else { return true }
    return Limits.isName(variant) && variant != kind.rawValue
  }
}

extension FieldKey: Hashable {
  public static func == (a: FieldKey, b: FieldKey) -> Bool {
    a.kind == b.kind && UTF8Order.equal(a.name, b.name)
      && (a.variant == nil) == (b.variant == nil)
      && UTF8Order.equal(a.variant ?? "", b.variant ?? "")
  }

  public func hash(into hasher: inout Hasher) {
    UTF8Order.hash(name, into: &hasher)
    hasher.combine(kind)
    if let variant { UTF8Order.hash(variant, into: &hasher) }
  }
}

extension FieldKey: Comparable {
  public static func < (a: FieldKey, b: FieldKey) -> Bool {
    switch UTF8Order.compare(a.name, b.name) {
    case 0 where a.kind == b.kind:
      UTF8Order.compare(a.variant ?? "", b.variant ?? "") < 0
    case 0: a.kind < b.kind
    case let order: order < 0
    }
  }
}

extension FieldKey: Codable {
  /// Decodes the key of a field.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let name = try container.decode(String.self, forKey: .name)
    let kind = try container.decode(FieldKind.self, forKey: .kind)
    let variant = try container.decodeIfPresent(String.self, forKey: .variant)
    guard FieldKey.isValid(name, kind, variant) else {
      throw decoder.corrupted(
        "a field needs a kind that a schema can declare, a name of 1 to 255 "
          + "bytes, and a variant of its own, if any")
    }
    self.init(name, kind, variant: variant)
  }
}

/// The kind of a field, which determines its lattice and how it is read.
public enum FieldKind: String, Codable, Hashable, Sendable, CaseIterable {
  /// A register that keeps concurrent writes as siblings.
  case register
  /// A counter.
  case counter
  /// A set whose insertions win over concurrent removals.
  case set
  /// An append-only list of amounts.
  case ledger
  /// The marks of ``FieldKey/existence``.
  ///
  /// A schema cannot declare a field of this kind.
  case existence

  /// The kinds that a schema can declare.
  public static let allCases: [FieldKind] =
    [.register, .counter, .set, .ledger]
}

extension FieldKind: Comparable {
  public static func < (a: FieldKind, b: FieldKind) -> Bool {
    a.order < b.order
  }

  /// The position among all kinds, with existence at the end.
  ///
  /// Messages contain this number.
  var order: Int {
    FieldKind.allCases.firstIndex(of: self) ?? FieldKind.allCases.count
  }

  /// Creates the kind at a position, or returns `nil` if no kind has it.
  init?(order: Int) {
    guard order <= FieldKind.allCases.count else { return nil }
    self =
      order < FieldKind.allCases.count
      ? FieldKind.allCases[order] : .existence
  }
}

/// The location of a field: its record and its key.
public struct FieldLocation: Hashable, Sendable {
  /// The record.
  public let record: RecordID
  /// The field.
  public let field: FieldKey

  /// Creates the location of a field.
  public init(record: RecordID, field: FieldKey) {
    (self.record, self.field) = (record, field)
  }
}

extension FieldLocation: CustomStringConvertible {
  /// The record and the name of the field, for example `Item/milk.amount`, or
  /// the record alone for its existence.
  public var description: String {
    field == .existence ? "\(record)" : "\(record).\(SchemaName(field.name))"
  }
}

extension [FieldLocation] {
  /// The fields as a list in a text.
  var text: String { map(\.description).joined(separator: ", ") }
}

/// A text that is compared, sorted and hashed by its UTF-8 bytes.
///
/// It is the dictionary key for entities and fields. As a `String`, a composed
/// and a decomposed "é" would be the same key.
public struct SchemaName: Sendable {
  /// The text.
  public let text: String

  /// Creates a name.
  public init(_ text: String) { self.text = text }
}

extension SchemaName: Hashable {
  public static func == (a: SchemaName, b: SchemaName) -> Bool {
    UTF8Order.equal(a.text, b.text)
  }

  public func hash(into hasher: inout Hasher) {
    UTF8Order.hash(text, into: &hasher)
  }
}

extension SchemaName: Comparable {
  public static func < (a: SchemaName, b: SchemaName) -> Bool {
    UTF8Order.compare(a.text, b.text) < 0
  }
}

extension SchemaName: ExpressibleByStringLiteral {
  /// Creates a name.
  public init(stringLiteral text: String) { self.init(text) }
}

extension SchemaName: CustomStringConvertible {
  /// The text.
  public var description: String { text }
}
