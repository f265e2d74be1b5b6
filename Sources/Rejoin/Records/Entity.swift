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
/// find the fields. Reading and editing use key paths.
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
