// SPDX-License-Identifier: Apache-2.0

/// The entities of an app and the fields that it reads.
///
///     let replica = Replica(device: device, schema: [Profile.self], wallClock: clock)
///
/// Only records of these entities can be edited. Records of other entities and
/// undeclared fields are still stored, joined, sent and readable.
public struct Schema: Sendable, ExpressibleByArrayLiteral {
  /// The definition of one entity.
  public struct Definition: Hashable, Sendable {
    /// The declared fields.
    public var fields: Set<FieldKey>
    /// The fields of older versions of the app that are also read.
    public var olderFields: Set<FieldKey> = []
    /// The declared registers whose concurrent writes are neither listed as
    /// conflicts nor reported.
    public var quietFields: Set<FieldKey>
    /// The rule that decides between a deletion and a concurrent edit.
    public var deletion: DeletionRule

    /// Creates the definition of an entity.
    ///
    /// In a schema, `quietFields` must be registers among `fields`.
    public init(
      fields: Set<FieldKey> = [], quietFields: Set<FieldKey> = [],
      deletion: DeletionRule = .updateWins
    ) {
      self.fields = fields
      self.quietFields = quietFields
      self.deletion = deletion
    }

    /// Returns the declared field with a name.
    public func field(named name: String) -> FieldKey? {
      fields.filter { SchemaName($0.name) == SchemaName(name) }.min()
    }
  }

  /// A definition with a lookup table for received fields.
  private struct Declared {
    let definition: Definition
    /// The keys that are read under the name of each declared field.
    let read: RunMap<SchemaName, [FieldKey]>

    init(_ definition: Definition) {
      demand(
        definition.quietFields.isSubset(of: definition.fields)
          && definition.quietFields.allSatisfy { $0.kind == .register },
        "`quietFields` must be registers among the `fields`")
      self.definition = definition
      var read = RunMap<SchemaName, [FieldKey]>()
      for key in definition.fields {
        read.update(SchemaName(key.name), default: []) { $0.append(key) }
      }
      for key in definition.olderFields where read[SchemaName(key.name)] != nil
      {
        read.update(SchemaName(key.name), default: []) { $0.append(key) }
      }
      self.read = read
    }
  }

  /// The entities, which each read and save looks up.
  ///
  /// There are few of them, and successive lookups often find the same one.
  private var declared = RunMap<SchemaName, Declared>()

  /// An instance of each declared entity, to resolve key paths.
  private var instances = RunMap<ObjectIdentifier, any AnyObject & Sendable>()

  /// Creates a schema of entities whose names are known only at run time.
  ///
  ///     Schema(["Profile": .init(fields: [FieldKey("name", .register)])])
  ///
  /// - Precondition: No name starts with `rejoin.`, which is reserved for the
  ///   library.
  public init(_ entities: [SchemaName: Definition]) {
    for (name, definition) in entities { declare(name, definition) }
  }

  /// Creates a schema of declared entities.
  ///
  /// - Precondition: The names of the entities are unique, and so are the names
  ///   of the fields in each entity. Each entity has at most one property of
  ///   the type ``DeletionRule``.
  public init(arrayLiteral elements: any Entity.Type...) {
    for entity in elements {
      let instance = entity.init()
      declare(SchemaName(entity.entityName), Definition(instance))
      share(instance)
    }
  }

  private mutating func declare(_ name: SchemaName, _ definition: Definition) {
    demand(
      declared[name] == nil,
      "two entities are named \"\(name)\": rename one of them")
    demand(
      !BuiltIn.isBuiltIn(name.text),
      "the entity name \"\(name)\" is reserved for the library: rename it")
    declared.set(name, to: Declared(definition))
  }

  private mutating func share<E: Entity>(_ instance: E) {
    instances.set(ObjectIdentifier(E.self), to: DeclaredFields(instance))
  }

  /// The definitions of the entities, by name.
  public var entities: [SchemaName: Definition] {
    Dictionary(
      uniqueKeysWithValues: declared.entries.map {
        ($0.key, $0.content.definition)
      })
  }

  /// The definition of an entity, or the default one if the schema lacks it.
  public subscript(entity: String) -> Definition {
    declared[SchemaName(entity)]?.definition ?? Definition()
  }

  /// Returns the rule of an entity, or the default one if it is not declared.
  package func deletion(of entity: String) -> DeletionRule {
    declaredDeletion(of: entity) ?? .updateWins
  }

  /// Returns the rule of an entity, or `nil` if it is not declared.
  func declaredDeletion(of entity: String) -> DeletionRule? {
    declared.index(of: SchemaName(entity)).map {
      declared.entries[$0].content.definition.deletion
    }
  }

  /// Returns the rule of an entity, or `nil` if its records cannot be edited.
  func deletionIfEditable(_ entity: String) -> DeletionRule? {
    declaredDeletion(of: entity)
      ?? (BuiltIn.isBuiltIn(entity) ? .updateWins : nil)
  }

  /// Traps unless records of an entity can be edited.
  ///
  /// - Returns: The rule of the entity.
  @usableFromInline @discardableResult
  func requireEntity(named entity: String) -> DeletionRule {
    if let rule = deletionIfEditable(entity) { return rule }
    stop(
      "The schema does not declare the entity \"\(entity)\". Create the replica with "
        + "`schema: [\(entity).self]`, or with `Schema([\"\(entity)\": "
        + ".init(fields: …)])` if you know its entities only at run time.")
  }

  /// Returns whether a field has the name of a declared field but a kind that
  /// is never read.
  func isMismatch(_ key: FieldKey, in entity: String) -> Bool {
    guard let index = declared.index(of: SchemaName(entity)) else {
      return false
    }
    let read = declared.entries[index].content.read[SchemaName(key.name)]
    return read.map { !$0.contains(key) } ?? false
  }

  /// Returns whether a register's concurrent writes are neither listed nor
  /// reported.
  package func isQuiet(_ key: FieldKey, in entity: String) -> Bool {
    declared.index(of: SchemaName(entity)).map {
      declared.entries[$0].content.definition.quietFields.contains(key)
    } ?? false
  }

  /// Returns an instance of an entity that resolves key paths to its fields.
  ///
  /// - Precondition: The schema declares the entity.
  /// - Complexity: O(1) for an entity that was declared by its type, because
  ///   the schema shares one instance.
  @inlinable
  package func fields<E: Entity>(of entity: E.Type) -> DeclaredFields<E> {
    guard let fields = instance(of: ObjectIdentifier(entity)) else {
      requireEntity(named: E.entityName)
      return DeclaredFields(E())
    }
    // The instance under a type's identifier has that type. A checked cast
    // would take half the time of a read.
    return unsafeDowncast(fields, to: DeclaredFields<E>.self)
  }

  /// The instance of an entity, or `nil` if it was not declared by its type.
  @usableFromInline
  func instance(
    of entity: ObjectIdentifier
  ) -> (any AnyObject & Sendable)? { instances[entity] }
}

extension Schema.Definition {
  /// The members of ``TypedRecord`` and ``RecordEditor``, which would hide a
  /// field with the same name.
  private static let members: Set<String> = [
    "amounts", "conflictingValues", "delete", "ensureExists", "entries", "id",
    "insertions", "olderValues", "record", "unset", "write", "writes",
  ]

  /// Creates a definition from an entity's fields and deletion rule.
  fileprivate init<E: Entity>(_ entity: E) {
    let children = Mirror(reflecting: entity).children
    let others = children.filter { !($0.value is DeletionRule) }
    for name in others.compactMap(\.label) {
      demand(
        !Schema.Definition.members.contains(name),
        "\(E.entityName) has a property named `\(name)`, which every record has "
          + "already. Rename the property. The stored name of the field can stay."
      )
    }
    let properties = children.map(\.value)
    let rules = properties.compactMap { $0 as? DeletionRule }
    demand(
      !rules.isEmpty
        || ![E.deletion, E.deletions, E.deletionRule].contains(.deleteWins),
      "\(E.entityName) has a static deletion rule, which has no effect: remove "
        + "the word `static`")
    demand(
      rules.count <= 1,
      "\(E.entityName) declares \(rules.count) deletion rules: remove all but "
        + "one of its properties of the type `DeletionRule`")
    self.init(deletion: rules.first ?? .updateWins)
    var names: Set<SchemaName> = []
    for case let field as any DeclaredField in properties {
      demand(
        names.insert(SchemaName(field.key.name)).inserted,
        "\(E.entityName) declares two fields named \"\(field.key.name)\": give "
          + "one of them another name, or read the older one with `fallingBackTo`"
      )
      fields.insert(field.key)
      if field.isQuiet { quietFields.insert(field.key) }
      olderFields.formUnion(field.olderKeys)
    }
  }
}

/// A shared instance of an entity, to read and edit its records.
///
/// An app's module contains copies of the functions on the way to a field, which
/// know the types of the field. Otherwise, finding these types at run time takes
/// half the time of a read.
@usableFromInline
package final class DeclaredFields<Owner: Entity>: Sendable {
  @usableFromInline let instance: Owner
  /// The name of the entity, stored because each use would compose it again.
  @usableFromInline package let entityName = Owner.entityName

  /// The fields, in the order of their declaration.
  let all: [any DeclaredField]

  @usableFromInline
  package init(_ instance: Owner) {
    self.instance = instance
    all = Mirror(reflecting: instance).children
      .compactMap { $0.value as? any DeclaredField }
  }

  /// A field of the entity.
  @inlinable
  package subscript<Kind: FieldType>(
    field: KeyPath<Owner, Field<Owner, Kind>>
  ) -> Field<Owner, Kind> {
    instance[keyPath: field]
  }
}

/// A rule that decides between a deletion and a concurrent edit of one record.
///
/// An entity declares its rule as a stored property with any name:
///
///     struct Guest: Entity {
///       let deletions = DeletionRule.deleteWins
///       let visits = counter("visits")
///     }
///
/// Without such a property, the rule is ``updateWins``. An entity has at most
/// one rule: a ``Schema`` traps if it finds two.
///
/// The rule applies when a record is read. The stored state is the same under
/// both rules, so an entity can change its rule without a migration.
public enum DeletionRule: String, Hashable, Sendable, CaseIterable {
  /// The edit wins, and the whole record comes back.
  ///
  /// A record exists if its deletions leave an edit uncovered.
  case updateWins
  /// The deletion wins, and the record stays deleted.
  ///
  /// A record exists if it was edited and has no deletion.
  case deleteWins
}
