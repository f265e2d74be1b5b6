// SPDX-License-Identifier: Apache-2.0

import RejoinSQL

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
package struct DurableFile {
  package let path: String

  /// - Parameter path: A path, which is made absolute, so that it names the same
  ///   file after the process changes its folder.
  package init(path: String) { self.path = DurableFile.absolute(path) }

  /// A failure of the file system.
  package struct Failure: Error, CustomStringConvertible {
    /// The operation that failed, its path and its cause.
    package let description: String
    /// Whether the process has no right to do it.
    package let isDenied: Bool

    package init(_ what: String, _ path: String) {
      isDenied = errno == EACCES || errno == EPERM || errno == EROFS
      description =
        "\(path) cannot be \(what): \(String(cString: strerror(errno)))"
    }
  }

  private static func absolute(_ path: String) -> String {
    guard path.utf8.first != slash, let folder = getcwd(nil, 0) else {
      return path
    }
    defer { free(folder) }
    // A path is a text, and the name of the folder can be none.
    guard let start = String(validatingCString: folder) else { return path }
    return (start == "/" ? "" : start) + "/" + path
  }

  private static let slash = UInt8(ascii: "/")

  /// Throws an error if the system would read only a part of a path.
  static func check(_ path: String) throws(SQLError) {
    if path.utf8.contains(0) {
      throw SQLError(
        .cannotOpen, "\(path.debugDescription) contains a NUL")
    }
  }

  /// Whether a file or a folder with this path exists.
  package var exists: Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Whether the file does not exist or has no content.
  var isEmpty: Bool {
    var status = stat()
    if stat(path, &status) != 0 { return errno == ENOENT }
    return status.st_size == 0 && !DurableFile.isFolder(status)
  }

  var isFolder: Bool {
    var status = stat()
    return stat(path, &status) == 0 && DurableFile.isFolder(status)
  }

  private static func isFolder(_ status: stat) -> Bool {
    status.st_mode & S_IFMT == S_IFDIR
  }

  package func remove() { unlink(path) }

  /// Gives the file another name, unless that name is in use.
  ///
  /// The other name then has the complete file or none, wherever the process
  /// stops.
  package func rename(to new: DurableFile) throws {
    if !DurableFile.renameExclusively(path, new.path) {
      guard link(path, new.path) == 0 else {
        throw Failure("created", new.path)
      }
      remove()
    }
    try new.syncFolder()
  }

  private typealias Rename =
    @convention(c) (
      Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
    ) -> Int32

  /// Renames a file if the system and the file system can do so without
  /// replacing another one.
  private static func renameExclusively(_ old: String, _ new: String) -> Bool {
    #if canImport(Darwin)
      return renamex_np(old, new, UInt32(RENAME_EXCL)) == 0
    #else
      // Older systems lack the function. 1 is RENAME_NOREPLACE.
      guard let function = dlsym(nil, "renameat2") else { return false }
      let rename = unsafeBitCast(function, to: Rename.self)
      return rename(AT_FDCWD, old, AT_FDCWD, new, 1) == 0
    #endif
  }

  /// Creates the file, and syncs its content.
  package func create(_ content: [UInt8]) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw Failure("created", path) }
    defer { close(file) }
    var written = 0
    while written < content.count {
      let count = content[written...].withUnsafeBytes {
        write(file, $0.baseAddress, $0.count)
      }
      if count >= 0 {
        written += count
      } else if errno != EINTR {
        throw Failure("written", path)
      }
    }
    guard DurableFile.sync(file) else { throw Failure("synced", path) }
  }

  /// Syncs the content after other code wrote the file.
  func syncContent() throws { try DurableFile.sync(path) }

  /// Syncs the name of the file.
  package func syncFolder() throws { try DurableFile.sync(folder) }

  /// The path without symbolic links.
  var target: String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(validatingCString: resolved) ?? path
  }

  /// The folder that contains the file.
  var folder: String {
    guard let end = path.utf8.lastIndex(of: DurableFile.slash) else {
      return "."
    }
    return end == path.startIndex ? "/" : String(path[..<end])
  }

  /// Writes an open file to the disk, and returns whether it succeeded.
  static func sync(_ file: Int32) -> Bool {
    #if canImport(Darwin)
      // Here, `fsync` leaves the bytes in the memory of the drive.
      if fcntl(file, F_FULLFSYNC) == 0 { return true }
    #endif
    return fsync(file) == 0
  }

  private static func sync(_ path: String) throws {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Failure("opened", path) }
    defer { close(file) }
    guard DurableFile.sync(file) else { throw Failure("synced", path) }
  }
}

// The file system's view of a file.
extension DurableFile {
  /// The file that a path names, regardless of the path.
  struct Identity: Hashable {
    private let device: UInt64
    private let number: UInt64

    fileprivate init(_ status: stat) {
      device = UInt64(truncatingIfNeeded: status.st_dev)
      number = UInt64(truncatingIfNeeded: status.st_ino)
    }
  }

  /// The file that the path names now, or `nil` if no file exists.
  var identity: Identity? {
    var status = stat()
    return stat(path, &status) == 0 ? Identity(status) : nil
  }

  /// A file and what a change of its content changes.
  struct Version: Equatable {
    private let identity: Identity
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    fileprivate init(_ status: stat) {
      identity = Identity(status)
      size = Int64(status.st_size)
      #if canImport(Darwin)
        let changed = status.st_mtimespec
      #else
        let changed = status.st_mtim
      #endif
      (seconds, nanoseconds) = (Int(changed.tv_sec), Int(changed.tv_nsec))
    }
  }

  /// The version of the file that the path names now, or `nil` if no file
  /// exists.
  var version: Version? {
    var status = stat()
    return stat(path, &status) == 0 ? Version(status) : nil
  }

  /// Whether the system keeps the process from reading the file now, such as on
  /// a phone that is locked.
  var isProtected: Bool { access(path, R_OK) != 0 && errno == EPERM }

  /// Returns whether the path names another file now, or none.
  func isReplaced(_ identity: Identity) -> Bool {
    var status = stat()
    if stat(path, &status) == 0 { return Identity(status) != identity }
    // After any other error, the path can still name the file.
    return errno == ENOENT || errno == ENOTDIR
  }

  /// The reason why the file cannot be written, or `nil` if none is found.
  var obstacle: (code: SQLError.Code, text: String)? {
    let files = ["", "-wal", "-shm"].map { (path + $0, "file") }
    for (path, kind) in files + [(folder, "folder")] {
      if access(path, W_OK) == 0 || errno == ENOENT { continue }
      return errno == EROFS
        ? (.readOnly, "the disk of \(path) is read-only")
        : (.readOnly, "the \(kind) \(path) cannot be written")
    }
    var status = statvfs()
    guard statvfs(folder, &status) == 0,
      status.f_bavail == 0 || status.f_files > 0 && status.f_favail == 0
    else { return nil }
    return (.full, "the disk of \(path) is full")
  }
}
