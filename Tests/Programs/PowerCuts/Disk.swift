// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

/// A folder on a disk whose power may be cut.
///
/// It makes only the promises of POSIX. The content of a file lasts after the
/// file is synced, and a name lasts after the folder is synced. A power cut
/// keeps or loses all other changes in any combination. Only a sector of 512
/// bytes is written as a whole, and its neighbors stay unchanged. A file system
/// may promise more: ext4 keeps the order of names, and keeps a new name after
/// the file is synced. A store that survives on this disk also survives on such
/// file systems.
struct Disk {
  /// The files by number.
  ///
  /// The number stays when a file gets another name.
  private var files: [File] = []
  private var names: [String: Int] = [:]
  private var syncedNames: [String: Int] = [:]
  /// The changes of names since the folder was synced.
  ///
  /// A renaming is one element.
  private var pendingNames: [[(name: String, file: Int?)]] = []

  /// The content that a reader sees, and that a power cut without losses
  /// leaves.
  var content: [String: [UInt8]] { names.mapValues { files[$0].content } }

  /// The content that a power cut leaves if it loses everything unsynced.
  var synced: [String: [UInt8]] { syncedNames.mapValues { files[$0].synced } }

  /// Returns content that a power cut may leave.
  func cut(_ random: inout SeededRandom) -> [String: [UInt8]] {
    let share = random.pick([10, 50, 90])
    var left = syncedNames
    switch random.number(below: 3) {
    case 0:
      // A file system with a journal keeps the first changes.
      for change in pendingNames.prefix(
        random.number(below: pendingNames.count + 1))
      {
        for (name, file) in change { left[name] = file }
      }
    case 1:
      for change in pendingNames where random.chance(percent: share) {
        for (name, file) in change { left[name] = file }
      }
    default:
      // A part of a renaming may be kept. Then the file has two names or none.
      for (name, file) in pendingNames.joined()
      where random.chance(percent: share) {
        left[name] = file
      }
    }
    return left.mapValues { files[$0].cut(keeping: share, &random) }
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .create(let name, let empties):
      if names[name] == nil {
        files.append(File())
        rename([(name, files.count - 1)])
      }
      if empties { files[number(name)].resize(to: 0) }
    case .write(let name, let bytes, let place):
      files[number(name)].write(bytes, at: place)
    case .resize(let name, let size): files[number(name)].resize(to: size)
    case .sync(let name): files[number(name)].sync()
    case .syncFolder:
      syncedNames = names
      pendingNames = []
    case .rename(let old, let new): rename([(old, nil), (new, number(old))])
    case .link(let old, let new): rename([(new, number(old))])
    case .remove(let name): rename([(name, nil)])
    case .acknowledge, .put: break
    }
  }

  private func number(_ name: String) -> Int {
    guard let number = names[name] else {
      preconditionFailure("\(name) is used, but was never created")
    }
    return number
  }

  private mutating func rename(_ change: [(name: String, file: Int?)]) {
    for (name, file) in change { names[name] = file }
    pendingNames.append(change)
  }
}

/// A file's content at the last sync, and the changes since.
private struct File {
  private enum Change {
    case write([UInt8], at: Int)
    case resize(to: Int)
  }

  private(set) var content: [UInt8] = []
  private(set) var synced: [UInt8] = []
  private var pending: [Change] = []

  /// - Parameter place: The offset, or `nil` for the end.
  mutating func write(_ bytes: [UInt8], at place: Int?) {
    let change = Change.write(bytes, at: place ?? content.count)
    File.apply(change, to: &content)
    pending.append(change)
  }

  mutating func resize(to size: Int) {
    let change = Change.resize(to: size)
    File.apply(change, to: &content)
    pending.append(change)
  }

  mutating func sync() {
    for change in pending { File.apply(change, to: &synced) }
    pending = []
  }

  /// Returns content that a power cut may leave.
  ///
  /// - Parameter share: The percentage of changes to keep.
  func cut(keeping share: Int, _ random: inout SeededRandom) -> [UInt8] {
    var left = synced
    // The size changes separately from the content.
    let growsAlways = random.chance(percent: 25)
    for change in pending {
      let isKept = random.chance(percent: share)
      switch change {
      case .resize: if isKept { File.apply(change, to: &left) }
      case .write(let bytes, let place):
        if growsAlways || isKept {
          left += zeros(place + (growsAlways ? bytes.count : 0) - left.count)
        }
        if isKept, random.chance(percent: 75) {
          File.apply(change, to: &left)
        } else if isKept {
          tear(bytes, at: place, into: &left, &random)
        }
      }
    }
    return left
  }

  /// Writes some of the sectors of the bytes.
  private func tear(
    _ bytes: [UInt8], at place: Int, into left: inout [UInt8],
    _ random: inout SeededRandom
  ) {
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, ((place + start) / 512 + 1) * 512 - place)
      if random.chance(percent: 50) {
        File.apply(
          .write(Array(bytes[start..<end]), at: place + start), to: &left)
      }
      start = end
    }
  }

  private static func apply(_ change: Change, to content: inout [UInt8]) {
    switch change {
    case .write(let bytes, let place):
      content += zeros(place + bytes.count - content.count)
      content.replaceSubrange(place..<place + bytes.count, with: bytes)
    case .resize(let size):
      content += zeros(size - content.count)
      content.removeLast(content.count - size)
    }
  }
}

private func zeros(_ count: Int) -> [UInt8] {
  Array(repeating: 0, count: max(0, count))
}
