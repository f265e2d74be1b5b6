// SPDX-License-Identifier: Apache-2.0

/// The entities that an app knows, and how it reads them.
///
///     let replica = Replica(device: device, schema: [Profile.self], wallClock: clock)
///
/// Only records of these can be edited. Records of other entities, and fields that
/// are not declared, are read, kept, joined and passed on all the same.
public struct Schema: Sendable, ExpressibleByArrayLiteral {
  /// One entity.
  public struct Definition: Hashable, Sendable {
    /// The fields that are declared.
    public var fields: Set<FieldKey>
    /// The fields of older versions of the app that are read, too.
    public var olderFields: Set<FieldKey> = []
    /// What becomes of a record that is deleted and edited at the same time.
    public var deletion: DeletionRule

    /// Creates an entity.
    public init(
      fields: Set<FieldKey> = [], deletion: DeletionRule = .updateWins
    ) {
      self.fields = fields
      self.deletion = deletion
    }

    /// The declared field with a name.
    public func field(named name: String) -> FieldKey? {
      fields.filter { Name($0.name) == Name(name) }.min()
    }
  }

  /// The entities by name.
  public private(set) var entities: [Name: Definition] = [:]

  /// An instance of each declared entity, which tells where its fields are.
  private var instances: [ObjectIdentifier: any Entity] = [:]

  /// Creates a schema of entities that are known by name only at run time.
  ///
  ///     Schema(["Profile": .init(fields: [FieldKey("name", .register)])])
  ///
  /// - Precondition: No name begins with `rejoin.`, which the library keeps for
  ///   itself.
  public init(_ entities: [Name: Definition]) {
    for (name, definition) in entities { declare(name, definition) }
  }

  /// Creates a schema of declared entities.
  ///
  /// - Precondition: No two have the same name, and no two fields of one.
  public init(arrayLiteral elements: any Entity.Type...) {
    for entity in elements {
      let instance = entity.init()
      declare(Name(entity.entityName), Definition(instance))
      instances[ObjectIdentifier(entity)] = instance
    }
  }

  private mutating func declare(_ name: Name, _ definition: Definition) {
    precondition(entities[name] == nil, "two entities are named \(name)")
    precondition(
      !BuiltIn.isBuiltIn(name.text), "\(name) is a name of the library's own")
    entities[name] = definition
  }

  /// The entity with a name, or what is assumed of an unknown one.
  public subscript(entity: String) -> Definition {
    entities[Name(entity)] ?? Definition()
  }

  /// Whether records of an entity can be edited.
  func allowsEditing(_ entity: String) -> Bool {
    entities[Name(entity)] != nil || BuiltIn.isBuiltIn(entity)
  }

  /// The fields of an entity, to be looked up by key path.
  ///
  /// - Complexity: O(1), without making an instance, for a declared entity.
  package func fields<E: Entity>(of entity: E.Type) -> E {
    instances[ObjectIdentifier(entity)] as? E ?? E()
  }
}

extension Schema.Definition {
  /// Reads what an entity declares.
  fileprivate init<E: Entity>(_ entity: E) {
    self.init(deletion: E.deletion)
    var names: Set<Name> = []
    for property in Mirror(reflecting: entity).children {
      guard let field = property.value as? any DeclaredField else { continue }
      precondition(
        names.insert(Name(field.key.name)).inserted,
        "\(E.entityName) declares two fields named \"\(field.key.name)\": give "
          + "one of them another name, or read the older one with `readingAlso`"
      )
      fields.insert(field.key)
      olderFields.formUnion(field.olderKeys)
    }
  }

  /// Whether a field has the name of a declared one and another kind, which
  /// nothing here reads.
  func isMismatch(_ key: FieldKey) -> Bool {
    if key == .existence || fields.isEmpty || fields.contains(key)
      || olderFields.contains(key)
    {
      return false
    }
    return fields.contains { Name($0.name) == Name(key.name) }
  }
}
