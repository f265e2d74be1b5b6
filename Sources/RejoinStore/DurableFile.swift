// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A file whose content and name survive a power failure.
struct DurableFile {
  let path: String

  /// A failure of the file system.
  struct Failure: Error, CustomStringConvertible {
    /// The operation that failed, its path and its cause.
    let description: String

    init(_ what: String, _ path: String) {
      description =
        "\(path) cannot be \(what): \(String(cString: strerror(errno)))"
    }
  }

  /// Whether a file or a folder with this path exists.
  var exists: Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Whether the file does not exist or has no content.
  var isEmpty: Bool {
    var status = stat()
    return stat(path, &status) != 0 ? errno == ENOENT : status.st_size == 0
  }

  func remove() { unlink(path) }

  /// Syncs the content and the name after other code wrote the file.
  func sync() throws {
    try DurableFile.sync(path)
    try syncFolder()
  }

  /// Syncs the name of the file.
  func syncFolder() throws {
    let end = path.lastIndex(of: "/")
    let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) }
    try DurableFile.sync(folder ?? ".")
  }

  private static func sync(_ path: String) throws {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Failure("opened", path) }
    defer { close(file) }
    guard fsync(file) == 0 else { throw Failure("synced", path) }
  }
}
