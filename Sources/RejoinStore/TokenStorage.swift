// SPDX-License-Identifier: Apache-2.0

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
  /// - Parameter path: The path of the file, which need not exist.
  public init(at path: String) { self.path = path }

  /// Creates a token storage that uses a file next to a database.
  public init(beside database: String) { self.init(at: database + ".token") }

  /// A failure of the file system.
  public struct Failure: Error, CustomStringConvertible {
    /// The operation that failed, its path and its cause.
    public let description: String

    fileprivate init(_ what: String, _ path: String) {
      description = DurableFile.Failure(what, path).description
    }
  }

  public func load() throws -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    if file < 0 {
      if errno == ENOENT { return nil }
      throw Failure("opened", path)
    }
    defer { close(file) }
    // Tokens are shorter. The bytes of a longer file are not a valid token.
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = read(file, &bytes, bytes.count)
    guard count >= 0 else { throw Failure("read", path) }
    return Array(bytes.prefix(count))
  }

  public func store(_ bytes: [UInt8]) throws {
    // Write a new file and rename it, so the path always has a complete token.
    let new = path + ".new"
    let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure("opened", new) }
    let isWritten = write(file, bytes, bytes.count) == bytes.count
    let isSynced = isWritten && fsync(file) == 0
    guard close(file) == 0, isSynced else { throw Failure("written", new) }
    exclude(new)
    guard rename(new, path) == 0 else { throw Failure("replaced", path) }
    do { try DurableFile(path: path).syncFolder() } catch {
      throw Failure("replaced durably", path)
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
