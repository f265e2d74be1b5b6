// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
  import Foundation
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Keeps a few bytes outside every backup: the token that tells a restored backup
/// from the latest state.
///
/// On a device, the keychain is a good place, with an item that is not
/// synchronized and does not migrate to other devices.
public protocol TokenStorage: Sendable {
  /// The bytes that were kept last; `nil` if there are none, or no longer.
  func load() throws -> [UInt8]?
  /// Keeps some bytes in place of those before, durably.
  func store(_ bytes: [UInt8]) throws
}

/// Keeps a token in a file, by default beside the database.
///
/// On Apple's systems it is excluded from backups. Elsewhere, exclude it from
/// them: a token that is restored with its database tells nothing.
public struct TokenFile: TokenStorage {
  private let path: String

  /// - Parameter path: The path of the file, which need not exist.
  public init(at path: String) { self.path = path }

  /// A file beside a database.
  public init(beside database: String) { self.init(at: database + ".token") }

  /// A failure of the file system.
  public struct Failure: Error, CustomStringConvertible {
    /// What failed, where and why.
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
    // A token is shorter; anything longer is none.
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = read(file, &bytes, bytes.count)
    guard count >= 0 else { throw Failure("read", path) }
    return Array(bytes.prefix(count))
  }

  public func store(_ bytes: [UInt8]) throws {
    // Written beside it and renamed, so that there is always a whole token.
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
