// SPDX-License-Identifier: Apache-2.0

import Rejoin

#if canImport(Darwin)
  import Foundation
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A type that stores the restore token outside all backups.
///
/// The token distinguishes a restored backup from the latest state. On a
/// device, the keychain is a good place for it. Use an item that is not
/// synchronized and does not migrate to other devices.
public protocol TokenStorage: Sendable {
  /// Returns the bytes that were stored last, or `nil` if none exist.
  func load() throws -> [UInt8]?
  /// Durably replaces the stored bytes.
  func store(_ bytes: [UInt8]) throws
  /// Durably removes the stored bytes.
  ///
  /// The default implementation stores an empty array. A store treats it as a
  /// missing token.
  func remove() throws
}

extension TokenStorage {
  public func remove() throws { try store([]) }
}

/// A token storage that uses a file, by default next to the database.
///
/// On Apple platforms, the file is excluded from backups. On other systems,
/// exclude it yourself. If the token is restored with its database, it cannot
/// reveal the restored backup.
public struct TokenFile: TokenStorage {
  private let path: String

  /// Creates a token storage that uses a file.
  ///
  /// - Parameter path: The path of the file, which need not exist. If it is
  ///   relative, it refers to the current folder of the process at this moment.
  public init(at path: String) { self.path = DurableFile(path: path).path }

  /// Creates a token storage that uses a file next to a database.
  ///
  /// - Parameters:
  ///   - database: The path of the database.
  ///   - scope: The name of the scope, which becomes a part of the file name.
  public init(beside database: String, scope: String = "main") {
    let name =
      database.utf8.split(separator: UInt8(ascii: "/")).last ?? ""[...].utf8
    // A new token has `.new` after its name.
    let room = 255 - name.count - ".token-.new".utf8.count
    let end =
      scope == "main"
      ? "" : "-" + TokenFile.suffix(of: scope, isShort: room < 160)
    self.init(at: database + ".token" + end)
  }

  /// Returns a text for a scope's name, which can contain any characters and be
  /// longer than the name of a file.
  ///
  /// - Parameter isShort: Whether the text must have at most 34 bytes.
  private static func suffix(of scope: String, isShort: Bool) -> String {
    if scope.utf8.count <= (isShort ? 16 : 80) {
      return scope.utf8.map { byte in
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
      }.joined()
    }
    let digests = [0, 1].map { (seed: UInt64) in
      var digest = Digest(seed: seed)
      digest.add(scope)
      return String(digest.value, radix: 16)
    }
    // No name of a scope in hexadecimal digits has this form.
    return "x" + digests.joined(separator: "x")
  }

  /// A failure of the file system.
  public struct Failure: Error, CustomStringConvertible {
    /// The operation that failed, its path and its cause.
    public let description: String

    fileprivate init(_ what: String, _ path: String) {
      description = DurableFile.Failure(what, path).description
    }

    fileprivate init(description: String) { self.description = description }
  }

  public func load() throws -> [UInt8]? {
    try check()
    let file = open(path, O_RDONLY | O_CLOEXEC)
    if file < 0 {
      if errno == ENOENT { return nil }
      throw Failure("opened", path)
    }
    defer { close(file) }
    // Tokens are shorter. The bytes of a longer file are not a valid token.
    var bytes = [UInt8](repeating: 0, count: 1_024)
    let count = read(file, &bytes, bytes.count)
    guard count >= 0 else { throw Failure("read", path) }
    return Array(bytes.prefix(count))
  }

  public func store(_ bytes: [UInt8]) throws {
    try check()
    // Write a new file and rename it, so the path always has a complete token.
    let new = path + ".new"
    let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure("opened", new) }
    let isWritten = write(file, bytes, bytes.count) == bytes.count
    let isSynced = isWritten && DurableFile.sync(file)
    guard close(file) == 0, isSynced else { throw Failure("written", new) }
    exclude(new)
    guard rename(new, path) == 0 else { throw Failure("replaced", path) }
    do { try DurableFile(path: path).syncFolder() } catch {
      throw Failure("replaced durably", path)
    }
  }

  public func remove() throws {
    try check()
    guard unlink(path) == 0 || errno == ENOENT else {
      throw Failure("removed", path)
    }
    do { try DurableFile(path: path).syncFolder() } catch {
      throw Failure("removed durably", path)
    }
  }

  private func check() throws {
    do { try DurableFile.check(path) } catch {
      throw Failure(description: error.message)
    }
  }

  private func exclude(_ path: String) {
    #if canImport(Darwin)
      var values = URLResourceValues()
      values.isExcludedFromBackup = true
      var url = URL(fileURLWithPath: path)
      try? url.setResourceValues(values)
    #endif
  }
}
