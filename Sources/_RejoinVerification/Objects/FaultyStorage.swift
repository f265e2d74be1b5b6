// SPDX-License-Identifier: Apache-2.0

/// Objects in memory, which devices see as through a bucket or a drive.
///
/// A bucket confirms writes, and all devices see the same objects. With a drive, each
/// device sees the files in its own folder. Uploads and deletions travel to the server
/// and from there to the other devices in any order.
package struct FaultyStorage: Hashable, Sendable {
  private enum Operation: Hashable {
    case put(String, [UInt8])
    case delete(String)
  }

  /// The folder of a device.
  private struct Folder: Hashable {
    var files: [String: [UInt8]]
    /// The files whose bytes the drive has removed from the device.
    var evicted: Set<String> = []
    var leaving: [Operation] = []
    var arriving: [Operation] = []
  }

  /// The bytes of an object are not here.
  package struct NotHere: Error {}

  package let isDrive: Bool
  /// The objects of the bucket, or of the drive's server.
  package private(set) var objects: [String: [UInt8]] = [:]
  private var folders: [Int: Folder] = [:]
  /// The names that a deletion on the server concerned, perhaps before the upload.
  private var deleted: Set<String> = []
  package private(set) var putCount = 0
  package private(set) var byteCount = 0

  package init(isDrive: Bool) { self.isDrive = isDrive }
}

// The calls of a device.
extension FaultyStorage {
  private func folder(of device: Int) -> Folder {
    folders[device] ?? Folder(files: objects)
  }

  package func list(for device: Int) -> [(name: String, byteCount: Int)] {
    let files = isDrive ? folder(of: device).files : objects
    return files.map { ($0.key, $0.value.count) }
      .sorted { $0.name < $1.name }
  }

  package func get(_ name: String, for device: Int) throws(NotHere) -> [UInt8]?
  {
    if !isDrive { return objects[name] }
    let folder = folder(of: device)
    if folder.evicted.contains(name) { throw NotHere() }
    return folder.files[name]
  }

  package mutating func put(_ name: String, _ bytes: [UInt8], by device: Int) {
    (putCount, byteCount) = (putCount + 1, byteCount + bytes.count)
    perform(.put(name, bytes), by: device)
  }

  package mutating func delete(_ names: [String], by device: Int) {
    for name in names { perform(.delete(name), by: device) }
  }

  private mutating func perform(_ operation: Operation, by device: Int) {
    guard isDrive else { return Self.perform(operation, on: &objects) }
    var folder = folder(of: device)
    Self.perform(operation, on: &folder.files)
    folder.leaving.append(operation)
    folders[device] = folder
  }

  private static func perform(
    _ operation: Operation, on files: inout [String: [UInt8]]
  ) {
    switch operation {
    case .put(let name, let bytes): files[name] = bytes
    case .delete(let name): files[name] = nil
    }
  }
}

// What happens to the objects.
extension FaultyStorage {
  /// Adds a device, which sees the objects of the server.
  package mutating func add(_ device: Int) {
    if isDrive { folders[device] = Folder(files: objects) }
  }

  /// Loses a device and what it did not upload.
  package mutating func remove(_ device: Int) { folders[device] = nil }

  /// Lets operations arrive.
  ///
  /// - Parameter choose: A closure that returns a number below a bound, or `nil` to
  ///   leave the rest for later.
  package mutating func travel(_ choose: (Int) -> Int?) {
    while true {
      let operations = operations
      guard !operations.isEmpty, let number = choose(operations.count)
      else { return }
      deliver(operations[number])
    }
  }

  /// The operations that can arrive next, each as a device, a direction and a number.
  package var operations: [(device: Int, isLeaving: Bool, number: Int)] {
    folders.keys.sorted().flatMap { device in
      let folder = folder(of: device)
      return folder.leaving.indices.map { (device, true, $0) }
        + folder.arriving.indices.map { (device, false, $0) }
    }
  }

  /// Lets one operation arrive.
  package mutating func deliver(
    _ operation: (device: Int, isLeaving: Bool, number: Int)
  ) {
    let device = operation.device
    if operation.isLeaving {
      guard let next = folders[device]?.leaving.remove(at: operation.number)
      else { return }
      switch next {
      case .put(let name, _): if deleted.contains(name) { return }
      case .delete(let name): deleted.insert(name)
      }
      Self.perform(next, on: &objects)
      for other in folders.keys where other != device {
        folders[other]?.arriving.append(next)
      }
    } else {
      guard let next = folders[device]?.arriving.remove(at: operation.number)
      else { return }
      // The server forgets what was deleted before it arrived.
      if case .put(let name, _) = next, objects[name] == nil { return }
      var files = folder(of: device).files
      Self.perform(next, on: &files)
      folders[device]?.files = files
    }
  }

  /// Lets all operations arrive.
  package mutating func settle() {
    travel { _ in 0 }
  }

  /// Changes bytes of an object on the server and on every device.
  package mutating func damage(_ name: String, _ change: ([UInt8]) -> [UInt8]) {
    objects[name] = objects[name].map(change)
    for device in folders.keys {
      if let bytes = folders[device]?.files[name] {
        folders[device]?.files[name] = change(bytes)
      }
    }
  }

  /// Loses an object everywhere.
  package mutating func lose(_ name: String) {
    objects[name] = nil
    for device in folders.keys { folders[device]?.files[name] = nil }
  }

  /// Removes the bytes of a file from a device, or brings them back.
  package mutating func setEvicted(
    _ isEvicted: Bool, _ name: String, on device: Int
  ) {
    if isEvicted {
      folders[device]?.evicted.insert(name)
    } else {
      folders[device]?.evicted.remove(name)
    }
  }
}
