// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Rejoin
import RejoinStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A folder in which devices leave objects for each other: on a shared volume, or in a
/// drive that is synced between computers.
///
///     let folder = FolderStorage(at: "/Volumes/Family/list-17")
///     let engine = SyncEngine(store, routes: [
///       SyncRoute("folder", scope: "list-17", objects: folder)
///     ])
///
/// The folder must exist. The library never creates it, because a missing folder is
/// usually a volume that is not connected. Give each scope a folder of its own. Other
/// files in it are ignored and never deleted.
///
/// Each object is written under a name that starts with a period, synced to the disk,
/// and then renamed, so a file with the name of an object is complete.
///
/// A drive can replace the bytes of a file by a promise to load them. Reading such a
/// file can take as long as the network does, so all calls run on a thread of their own.
/// A canceled call returns at once, and its work ends in the background.
public struct FolderStorage: ObjectStorage {
  /// The path of the folder.
  public let path: String
  public let confirmsWrites: Bool
  private let queue = DispatchQueue(label: "rejoin.folder")

  /// Creates a storage.
  ///
  /// - Parameters:
  ///   - path: The path of a folder that exists.
  ///   - confirmsWrites: Whether other devices see a file as soon as it is there. The
  ///     value is `true` for a volume that they all mount, and `false` for a drive that
  ///     uploads files later.
  public init(at path: String, confirmsWrites: Bool = false) {
    // The process can change its folder later.
    self.path = path.isEmpty ? path : DurableFile(path: path).path
    self.confirmsWrites = confirmsWrites
  }

  public func list() async throws -> [(name: String, byteCount: Int)] {
    try await perform { folder in try folder.list() }
  }

  public func get(_ name: String) async throws -> [UInt8]? {
    try await perform { folder in try folder.contents(of: name) }
  }

  public func put(_ name: String, _ bytes: [UInt8]) async throws {
    try await perform { folder in try folder.write(name, bytes) }
  }

  public func delete(_ names: [String]) async throws {
    try await perform { folder in try folder.delete(names) }
  }

  /// Performs a call on the thread, and returns early if the task is canceled.
  private func perform<Value: Sendable>(
    _ call: @escaping @Sendable (Folder) throws -> Value
  ) async throws -> Value {
    let answer = Locked<CheckedContinuation<Value, any Error>?>(nil)
    @Sendable func resume(_ result: Result<Value, any Error>) {
      let waiting = answer.withLock { continuation in
        defer { continuation = nil }
        return continuation
      }
      waiting?.resume(with: result)
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        answer.withLock { $0 = continuation }
        if Task.isCancelled { return resume(.failure(CancellationError())) }
        queue.async { [path] in
          resume(Result { try call(Folder(at: path)) })
        }
      }
    } onCancel: {
      resume(.failure(CancellationError()))
    }
  }
}

/// The calls of the system.
private struct Folder {
  let path: String
  /// The age in seconds of a file that no process completes anymore.
  private static let day = 86_400

  /// Creates the calls for a folder.
  ///
  /// The system would read only a part of a path with a NUL.
  init(at path: String) throws {
    if path.utf8.contains(0) { throw ObjectStorageError.noFolder(path: path) }
    self.path = path
  }

  private func path(_ name: String) -> String { "\(path)/\(name)" }

  private func failure(_ what: String, _ name: String) -> ObjectStorageError {
    .failed("\(DurableFile.Failure(what, path(name)))")
  }

  func list() throws -> [(name: String, byteCount: Int)] {
    guard let folder = opendir(path) else {
      throw errno == ENOENT || errno == ENOTDIR
        ? ObjectStorageError.noFolder(path: path)
        : .failed("\(DurableFile.Failure("listed", path))")
    }
    defer { closedir(folder) }
    var list: [(name: String, byteCount: Int)] = []
    errno = 0
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) {
          String(cString: $0)
        }
      }
      if isAbandoned(name) { unlink(path(name)) }
      if ObjectName(name) != nil, let status = status(of: name) {
        list.append((name, Int(clamping: status.st_size)))
      }
      errno = 0
    }
    // A list that ends early would look like deleted objects.
    if errno != 0 {
      throw ObjectStorageError.failed("\(DurableFile.Failure("listed", path))")
    }
    return list
  }

  /// Throws an error if the folder is not there, because none of its files is then.
  private func check() throws(ObjectStorageError) {
    if !DurableFile(path: path).exists { throw .noFolder(path: path) }
  }

  /// Returns the status of a file that is not a link or a folder, or `nil`.
  private func status(of name: String) -> stat? {
    var status = stat()
    guard lstat(path(name), &status) == 0, status.st_mode & S_IFMT == S_IFREG
    else { return nil }
    return status
  }

  /// The name of a file that is not complete.
  private func part(of name: String) -> String { ".\(name).part" }

  /// Returns whether a file was left by a process that was killed.
  private func isAbandoned(_ part: String) -> Bool {
    let name = String(part.dropFirst().dropLast(5))
    guard part == self.part(of: name), ObjectName(name) != nil,
      let status = status(of: part)
    else { return false }
    #if canImport(Darwin)
      let changed = status.st_mtimespec.tv_sec
    #else
      let changed = status.st_mtim.tv_sec
    #endif
    return changed < time(nil) - Self.day
  }

  func contents(of name: String) throws -> [UInt8]? {
    let file = open(path(name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    if file < 0, errno == ENOENT {
      try check()
      return nil
    }
    if file < 0 { throw failure("opened", name) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= SyncMessage.objectLimit {
      let count = read(file, &piece, piece.count)
      if count == 0 { break }
      if count > 0 {
        bytes += piece[..<count]
      } else if errno != EINTR {
        throw failure("read", name)
      }
    }
    return bytes
  }

  func write(_ name: String, _ bytes: [UInt8]) throws {
    let part = DurableFile(path: path(part(of: name)))
    do {
      try part.create(bytes)
      try move(part, to: DurableFile(path: path(name)))
    } catch let error as DurableFile.Failure {
      part.remove()
      throw error.isDenied
        ? SyncRefusal.denied : ObjectStorageError.failed("\(error)")
    }
  }

  private func move(_ part: DurableFile, to file: DurableFile) throws {
    do { try part.rename(to: file) } catch {
      // A volume may have neither exclusive renames nor links. A name is used once.
      guard part.exists, !file.exists, rename(part.path, file.path) == 0
      else { throw error }
      try file.syncFolder()
    }
  }

  /// Deletes files, except those that this user may not delete.
  ///
  /// Another device deletes them.
  func delete(_ names: [String]) throws {
    var failure: ObjectStorageError?
    try check()
    for name in names where unlink(path(name)) != 0 && errno != ENOENT {
      if errno == EACCES || errno == EPERM || errno == EROFS { continue }
      failure = failure ?? self.failure("deleted", name)
    }
    if let failure { throw failure }
  }
}
