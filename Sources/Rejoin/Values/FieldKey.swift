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
