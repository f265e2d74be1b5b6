// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A change by a process to the files of a folder, or a line that it printed.
enum Event {
  /// The file is created if it does not exist, and may be emptied.
  case create(String, empties: Bool)
  /// The offset is `nil` for the file's end.
  case write(String, [UInt8], at: Int?)
  case resize(String, to: Int)
  case sync(String)
  case syncFolder
  case rename(String, to: String)
  /// The file gets a second name.
  case link(String, to: String)
  case remove(String)
  case acknowledge(Acknowledgement)
  /// An object is in the folder.
  case put(String)

  var isSync: Bool {
    switch self {
    case .sync, .syncFolder: true
    default: false
    }
  }

  /// Reads the log of a process.
  ///
  /// - Throws: `SystemCall.NotUnderstood` for a call that may change the folder
  ///   in a way that is not modeled.
  static func all(in log: String, of folder: String) throws -> [Event] {
    try SystemCall.all(in: log).compactMap { try event($0, folder) }
  }

  private static func event(
    _ call: SystemCall, _ folder: String
  ) throws -> Event? {
    /// Returns the name of a modeled file of the folder.
    func name(_ path: String) -> String? {
      // The log's index is mapped into memory and need not last.
      guard path.hasPrefix(folder + "/"), !path.hasSuffix("-shm") else {
        return nil
      }
      return String(path.dropFirst(folder.count + 1))
    }
    switch call.name {
    case "open": return try open(call, name(try call.path(0)), flags: 1)
    case "openat": return try open(call, name(try call.path(1)), flags: 2)
    case "write": return try write(call, name(try call.file(0)))
    case "pwrite64":
      return try name(try call.file(0)).map {
        .write($0, try call.written, at: try call.number(3))
      }
    case "ftruncate":
      return try name(try call.file(0)).map {
        .resize($0, to: try call.number(1))
      }
    case "fsync", "fdatasync":
      let path = try call.file(0)
      return path == folder ? .syncFolder : name(path).map(Event.sync)
    case "rename":
      return try rename(call, name(try call.path(0)), name(try call.path(1)))
    case "renameat", "renameat2":
      return try rename(call, name(try call.path(1)), name(try call.path(3)))
    case "link":
      return try link(call, name(try call.path(0)), name(try call.path(1)))
    case "linkat":
      return try link(call, name(try call.path(1)), name(try call.path(3)))
    case "unlink": return name(try call.path(0)).map(Event.remove)
    case "unlinkat": return name(try call.path(1)).map(Event.remove)
    case "mmap" where try !call.has("MAP_SHARED", in: 3):
      // Writes to a private mapping change no file.
      return nil
    default:
      // Any other traced call may write in a way that is not modeled.
      if call.isAbout(folder), !call.isAbout("-shm") { throw call.error }
      return nil
    }
  }

  private static func open(
    _ call: SystemCall, _ name: String?, flags i: Int
  ) throws -> Event? {
    let (empties, creates) = try (
      call.has("O_TRUNC", in: i), call.has("O_CREAT", in: i)
    )
    guard let name, empties || creates else { return nil }
    return .create(name, empties: empties)
  }

  private static func write(
    _ call: SystemCall, _ name: String?
  ) throws -> Event? {
    // No process seeks in a file that is written in this way.
    if let name { return .write(name, try call.written, at: nil) }
    guard try call.descriptor(0) == 1 else { return nil }
    let line = try call.path(1)
    let words = line.split { $0.isWhitespace }
    if words.count == 2, words[0] == "put" { return .put(String(words[1])) }
    return Acknowledgement(line).map(Event.acknowledge)
  }

  private static func rename(
    _ call: SystemCall, _ old: String?, _ new: String?
  ) throws -> Event? {
    guard let old, let new else {
      if old == nil, new == nil { return nil }
      throw call.error
    }
    return .rename(old, to: new)
  }

  private static func link(
    _ call: SystemCall, _ old: String?, _ new: String?
  ) throws -> Event? {
    guard let old, let new else { throw call.error }
    return .link(old, to: new)
  }
}

extension Event: CustomStringConvertible {
  var description: String {
    switch self {
    case .create(let name, let empties):
      "\(name) \(empties ? "emptied" : "created")"
    case .write(let name, let bytes, let place):
      "\(name), \(bytes.count) bytes at \(place.map(String.init) ?? "its end")"
    case .resize(let name, let size): "\(name) with \(size) bytes"
    case .sync(let name): "\(name) synced"
    case .syncFolder: "the folder synced"
    case .rename(let old, let new): "\(old) renamed to \(new)"
    case .link(let old, let new): "\(old) linked to \(new)"
    case .remove(let name): "\(name) removed"
    case .acknowledge(let acknowledgement):
      "\(acknowledgement.what) \(acknowledgement.number)"
    case .put(let name): "put \(name)"
    }
  }
}

/// A line that `StoreWriter` printed.
struct Acknowledgement {
  /// `open`, `saved`, `merged` or `sent`.
  let what: String
  /// The number of the last local save.
  let number: UInt64
  /// A digest of the replica.
  let digest: UInt32

  init?(_ line: String) {
    let words = line.split { $0.isWhitespace }
    guard words.count > 2, let number = UInt64(words[1]),
      let digest = UInt32(words[2])
    else { return nil }
    (what, self.number, self.digest) = (String(words[0]), number, digest)
  }
}
