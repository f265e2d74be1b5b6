//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// The entities that an app knows, and how it reads them.
///
/// Records of other entities, and fields that are not declared, are kept, joined
/// and passed on all the same.
public struct Schema: Sendable, ExpressibleByArrayLiteral {
  /// One entity.
  public struct Definition: Hashable, Sendable {
    /// The fields that are declared, as far as they are known at run time.
    public var fields: Set<FieldKey>
    /// What becomes of a record that is deleted and edited at the same time.
    public var deletion: DeletionRule
    /// Whether the records stay on the device.
    public var isLocalOnly: Bool

    /// Creates an entity.
    public init(
      fields: Set<FieldKey> = [], deletion: DeletionRule = .updateWins,
      isLocalOnly: Bool = false
    ) {
      self.fields = fields
      self.deletion = deletion
      self.isLocalOnly = isLocalOnly
    }

    /// The declared field with a name.
    public func field(named name: String) -> FieldKey? {
      fields.filter { Name($0.name) == Name(name) }.min()
    }
  }

  /// The entities by name.
  public private(set) var entities: [Name: Definition]

  /// Creates a schema of entities that are known by name only at run time.
  ///
  /// - Precondition: No name begins with `rejoin.`, which the library keeps for
  ///   itself.
  public init(_ entities: [Name: Definition]) {
    for name in entities.keys {
      precondition(
        !BuiltIn.isBuiltIn(name.text), "\(name) is a name of the library's own")
    }
    self.entities = entities
  }

  /// Creates a schema of declared entities.
  ///
  /// - Precondition: No two have the same name.
  public init(arrayLiteral elements: any Entity.Type...) {
    entities = [:]
    for entity in elements {
      let name = Name(entity.entityName)
      precondition(entities[name] == nil, "two entities are named \(name)")
      precondition(
        !BuiltIn.isBuiltIn(name.text), "\(name) is a name of the library's own")
      entities[name] = Definition(
        deletion: entity.deletion, isLocalOnly: entity.isLocalOnly)
    }
  }

  /// The entity with a name, or what is assumed of an unknown one.
  public subscript(entity: String) -> Definition {
    entities[Name(entity)] ?? Definition()
  }
}
