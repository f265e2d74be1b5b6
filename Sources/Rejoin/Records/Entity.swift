// SPDX-License-Identifier: Apache-2.0

/// A record type whose stored properties are its fields.
///
///     struct Profile: Entity {
///       let name  = register("name", of: String.self)
///       let steps = counter("steps")
///       let tags  = set("tags", of: String.self)
///     }
///
/// Each property declares a field. A ``Schema`` reflects on an instance once to
/// find the fields. Reading and editing use key paths. A property must not have
/// the name of a member of ``TypedRecord`` or ``RecordEditor``, such as `id` or
/// `entries`, which would hide it. The stored name of a field can be any text.
///
///     replica[Profile.self, "ada"]?.steps               // Int64
///     replica[Profile.self, "ada"]?.conflictingValues(of: \.name)   // [String?]
///
/// Every register reads as an optional, because a version of an app cannot rely
/// on the values that another version wrote. You can add a field at any time. A
/// replica keeps and sends fields that you no longer declare. A public entity
/// needs a `public init() {}`.
///
/// An edit wins over a concurrent deletion of the record by default. If the
/// deletion must win, declare a stored property of the type ``DeletionRule``. A
/// schema finds it by its type, under any name.
///
///     struct Guest: Entity {
///       let deletions = DeletionRule.deleteWins
///       let visits = counter("visits")
///     }
public protocol Entity: Sendable {
  /// Creates an instance that describes the fields.
  init()

  /// The stored name of the entity, by default the name of the type.
  static var entityName: String { get }

  // A schema finds rules in stored properties of instances. These requirements
  // let it find a static rule, which would have no effect, and stop.

  /// Not a declaration: the rule is a stored property of the instance.
  ///
  /// A ``Schema`` stops the program if this is ``DeletionRule/deleteWins``, and
  /// the instance has no rule.
  static var deletion: DeletionRule { get }
  /// Not a declaration, like ``deletion``.
  static var deletions: DeletionRule { get }
  /// Not a declaration, like ``deletion``.
  static var deletionRule: DeletionRule { get }
}

extension Entity {
  /// The name of the type.
  public static var entityName: String { "\(Self.self)" }

  public static var deletion: DeletionRule { .updateWins }
  public static var deletions: DeletionRule { .updateWins }
  public static var deletionRule: DeletionRule { .updateWins }
}

/// The entities of the library's own records, which are saved, joined and sent
/// like any others.
package enum BuiltIn {
  /// An enrolled device, with its ID in hexadecimal as the key.
  package static let roster = "rejoin.roster"
  /// A retired device, with its ID in hexadecimal as the key.
  ///
  /// `last` is the number of the device's last known save. If it has siblings,
  /// the greatest number counts.
  package static let retirement = "rejoin.retirement"
  /// A server's row as last pulled.
  static let pulled = "rejoin.pulled"

  static let name = FieldKey("name", .register)
  static let device = FieldKey("device", .register)
  /// The server that the device pulls from.
  ///
  /// Stability does not wait for such a device.
  static let server = FieldKey("server", .register)
  package static let last = FieldKey("last", .register)

  package static func isBuiltIn(_ entity: String) -> Bool {
    entity.utf8.starts(with: "rejoin.".utf8)
  }

  static func value(of device: DeviceID) -> Value {
    .bytes(device.bytes)
  }
}
