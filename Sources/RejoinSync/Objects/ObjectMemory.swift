// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What a device remembers of a storage between passes.
///
/// All of it may be lost. A process that lives for seconds keeps the times in a note of
/// the store.
package struct ObjectMemory: Sendable {
  /// The account at the first contact, or `nil`.
  package var identity: String?
  /// The scope of an object that the device read or stored, or `nil`.
  package var scope: String?
  /// The time of the last own version, and a digest of it.
  package var version: (time: Int64, digest: UInt64)?
  /// The times from which on the device publishes saves of other devices.
  package var relays: [DeviceID: Int64] = [:]
  /// When objects were first seen that contain other objects.
  package var seen: [ObjectName: Int64] = [:]
  /// When objects were first found to be damaged.
  package var damaged: [ObjectName: Int64] = [:]

  /// Whether the route reached the storage before, as another note shows.
  package var wasReached = false
  /// Whether the app let the route create the place again since the last list.
  package var isResumed = false
  /// The objects that the device may not delete.
  package var undeletable: Set<ObjectName> = []
  /// The writers of the objects of saves that this process read or stored.
  package var verified: [ObjectName: DeviceID] = [:]
  /// The versions that this process read.
  package var readVersions: Set<ObjectName> = []

  package init() {}

  /// Forgets objects that are not there anymore, and corrects times after the clock
  /// was set back.
  package mutating func tidy(_ isPresent: (ObjectName) -> Bool, at now: Int64) {
    func tidied<Key>(_ times: [Key: Int64]) -> [Key: Int64] {
      times.mapValues { min($0, now) }
    }
    relays = relays.mapValues { min($0, now + 2 * ObjectPass.relayDelay) }
    seen = tidied(seen.filter { isPresent($0.key) })
    damaged = tidied(damaged.filter { isPresent($0.key) })
    verified = verified.filter { isPresent($0.key) }
    readVersions = readVersions.filter(isPresent)
    undeletable = undeletable.filter(isPresent)
    if let version, version.time > now { self.version?.time = now }
  }
}

// The note. Its lines are in any order, and one that cannot be read is lost.
extension ObjectMemory {
  /// Returns the lasting part as text.
  package var note: [UInt8] {
    var lines = relays.map { "relay \($0.hexadecimal) \($1)" }
    lines += seen.map { "seen \($0) \($1)" }
    lines += damaged.map { "damaged \($0) \($1)" }
    lines.sort()
    if let version { lines.append("version \(version.digest) \(version.time)") }
    // The names of accounts and scopes may have any characters.
    for (word, text) in [("identity", identity), ("scope", scope)] {
      guard let text else { continue }
      lines.append(
        word + " " + text.utf8.map { "\($0)" }.joined(separator: ","))
    }
    return Array(lines.joined(separator: "\n").utf8)
  }

  /// Takes the lasting part of an earlier launch.
  package init(note: [UInt8]) {
    self.init()
    for line in String(decoding: note, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      let time = words.count == 3 ? Int64(words[2]) : nil
      switch (words[0], time) {
      case ("relay", let time?):
        DeviceID(hexadecimal: "\(words[1])").map { relays[$0] = time }
      case ("seen", let time?):
        ObjectName("\(words[1])").map { seen[$0] = time }
      case ("damaged", let time?):
        ObjectName("\(words[1])").map { damaged[$0] = time }
      case ("version", let time?):
        UInt64(words[1]).map { version = (time, $0) }
      case ("identity", nil) where words.count < 3:
        identity = Self.text(words.dropFirst().first)
      case ("scope", nil) where words.count < 3:
        scope = Self.text(words.dropFirst().first)
      default: break
      }
    }
  }

  private static func text(_ bytes: Substring?) -> String {
    let bytes = bytes?.split(separator: ",").compactMap { UInt8($0) }
    return String(decoding: bytes ?? [], as: UTF8.self)
  }
}
