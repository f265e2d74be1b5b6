// SPDX-License-Identifier: Apache-2.0

/// A place in which devices leave objects for each other: a folder, a bucket or a
/// zone of CloudKit.
///
///     let route = SyncRoute("drive", scope: "list-17", objects: FolderStorage(at: path))
///
/// A storage contains the objects of one scope. The library chooses their names, of at
/// most 120 lowercase letters, digits, periods and hyphens. An object never changes, and
/// no name is used twice. So a storage needs no locks, conditions or versions, and two
/// devices need not be online together.
///
/// The engine calls one method at a time. A method must throw an error if its task is
/// canceled. It can throw a ``SyncRefusal``: one of ``put(_:_:)`` that is `denied`,
/// `tooLarge` or `full` ends only the upload, and ``SyncStatus`` shows it. One of
/// ``delete(_:)`` leaves the deletion to other devices.
///
/// Share a storage only with members whom you trust with all of it. Each of them can
/// delete, overwrite and forge objects.
public protocol ObjectStorage: Sendable {
  /// Whether ``put(_:_:)`` returns only after other devices can get the object.
  ///
  /// The value is `false` for a folder that a drive uploads later. Old objects are then
  /// deleted a day later than otherwise.
  var confirmsWrites: Bool { get }

  /// Returns the names of all objects and their sizes in bytes.
  ///
  /// Other names are ignored. The method must throw an error, and not return an empty
  /// list, if the place does not exist or cannot be reached. ``SyncRefusal/gone`` means
  /// that ``create()`` can create it.
  func list() async throws -> [(name: String, byteCount: Int)]

  /// Returns the bytes of an object, or `nil` if it was deleted.
  ///
  /// - Throws: An error if the object exists and its bytes are not here yet.
  func get(_ name: String) async throws -> [UInt8]?

  /// Stores an object whole, or not at all.
  func put(_ name: String, _ bytes: [UInt8]) async throws

  /// Deletes the objects that exist.
  func delete(_ names: [String]) async throws

  /// Creates the place if ``list()`` throws ``SyncRefusal/gone``.
  ///
  /// The engine calls the method at the first contact, and after
  /// ``SyncEngine/resume(_:)``. At any other time, a user deleted the place, and the app
  /// decides.
  func create() async throws

  /// Returns the account that uses the place, or `nil` if there are no accounts.
  ///
  /// The engine asks before it lists, creates the place or stores an object. If the
  /// account changes, the route stops with ``SyncRefusal/wrongScope``, because
  /// the records must not go to another account.
  func identity() async throws -> String?
}

extension ObjectStorage {
  /// Throws ``SyncRefusal/gone``.
  public func create() async throws { throw SyncRefusal.gone }

  /// Returns `nil`.
  public func identity() async throws -> String? { nil }
}
