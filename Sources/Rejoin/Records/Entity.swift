// SPDX-License-Identifier: Apache-2.0

/// A type of record, whose stored properties are its fields.
///
///     struct Profile: Entity {
///       let name  = register("name", of: String.self)
///       let steps = counter("steps")
///       let tags  = set("tags", of: String.self)
///     }
///
/// Declaring the property declares the field. A ``Schema`` reflects on an
/// instance once to find the fields; reading and editing use key paths.
///
///     replica[Profile.self, "ada"]?.steps               // Int64
///     replica[Profile.self, "ada"]?.conflictingValues(of: \.name)   // [String]
///
/// Every register reads as an optional, since no version of an app can rely on
/// what another one has written. A field may be added at any time. One that is
/// no longer declared is kept and passed on. A public entity needs a `public
/// init() {}`.
///
/// By default, an edit wins over a concurrent deletion of the record. If the
/// deletion must win, declare a stored property of the type ``DeletionRule``. A
/// schema finds it by its type, under any name.
///
///     struct Guest: Entity {
///       let deletions = DeletionRule.deleteWins
///       let visits = counter("visits")
///     }
public protocol Entity: Sendable {
  /// Creates an instance, which describes the fields.
  init()

  /// The name under which the records are stored; by default, that of the type.
  static var entityName: String { get }
}

extension Entity {
  /// The name of the type.
  public static var entityName: String { "\(Self.self)" }
}
