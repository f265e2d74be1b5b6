// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Files and pipes that the command reads and writes.
enum Files {
  /// Reads a file or a pipe, or standard input if the path is `-`.
  static func read(_ path: String) throws(CommandError) -> [UInt8] {
    let file = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw unreadable(path, errno) }
    defer { if path != "-" { close(file) } }
    do { return try bytes(of: file) } catch {
      throw unreadable(path, error.code.rawValue)
    }
  }

  /// Reads what a program writes until it ends.
  static func read(_ pipe: Pipe) throws(POSIXError) -> [UInt8] {
    // `readToEnd()` fails on Linux if a signal interrupts it.
    try bytes(of: pipe.fileHandleForReading.fileDescriptor)
  }

  private static func bytes(of file: Int32) throws(POSIXError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Foundation.read(file, &buffer, buffer.count)
      if count > 0 {
        bytes += buffer[..<count]
      } else if count == 0 {
        return bytes
      } else if errno != EINTR {
        throw POSIXError(errno)
      }
    }
  }

  /// Reads text in UTF-8.
  static func readText(_ path: String) throws(CommandError) -> String {
    let bytes = try read(path)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .usage("\(path) is not UTF-8 text; convert it")
    }
    return text
  }

  /// Writes a file, or standard output if the path is `-`.
  static func write(_ text: String, to path: String) throws(CommandError) {
    if path == "-" || path == "/dev/stdout" { return Terminal.write(text) }
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw unwritable(path, errno) }
    defer { close(file) }
    if let error = Terminal.put(text, to: file) {
      throw unwritable(path, error)
    }
  }

  /// Calls a closure with the path of an SQLite database.
  ///
  /// SQLite cannot read from a pipe, so the bytes of a pipe are copied to a
  /// temporary file first.
  ///
  /// - Parameter bytes: The content, or `nil` if it was not read yet.
  static func withDatabase<Result>(
    _ path: String, _ bytes: [UInt8]? = nil, _ body: (String) throws -> Result
  ) throws -> Result {
    var status = stat()
    if path != "-", stat(path, &status) == 0,
      status.st_mode & S_IFMT == S_IFREG
    {
      return try body(path)
    }
    let content = try bytes ?? read(path)
    let copy = FileManager.default.temporaryDirectory
      .appending(path: "rejoin-\(UUID()).sqlite").path
    defer {
      for end in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: copy + end)
      }
    }
    if !FileManager.default.createFile(atPath: copy, contents: Data(content)) {
      throw unwritable(copy, errno)
    }
    return try body(copy)
  }

  /// The system's words for an error.
  static func reason(_ error: Int32) -> String {
    error == EISDIR ? "it is a folder" : String(cString: strerror(error))
  }

  /// The system's words for an error of Foundation.
  static func reason(_ error: any Error) -> String {
    let cause = (error as NSError).userInfo[NSUnderlyingErrorKey]
    let code = (cause as? POSIXError)?.code.rawValue
    return code.map { reason($0) } ?? error.localizedDescription
  }

  private static func unreadable(
    _ path: String, _ error: Int32
  ) -> CommandError {
    .failed("\(path) cannot be read: \(reason(error)); name a file that can be")
  }

  private static func unwritable(
    _ path: String, _ error: Int32
  ) -> CommandError {
    .failed(
      "\(path) cannot be written: \(reason(error)); name a file that can be")
  }
}
