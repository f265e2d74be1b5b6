// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A pass over the objects of a storage, apart from the store and the storage.
///
/// It knows the names of a listing and what was read. The article *Syncing through a
/// folder* lists the rules.
package struct ObjectPass: Sendable {
  /// A day, in milliseconds.
  private static let day: Int64 = 86_400_000
  /// The least time until saves of another device that no object has are stored.
  ///
  /// In milliseconds, from the first sight. A random time of at most the same length
  /// comes on top.
  static let relayDelay: Int64 = 600_000
  /// The maximum number of objects in a storage.
  private static let countLimit = 100_000
  /// The maximum number of bytes in an object that absorbs another one.
  private static let absorbingLimit = 32 << 20

  private let scope: String
  private let confirmsWrites: Bool
  private let now: Int64
  /// The objects, and their sizes.
  private var sizes: [ObjectName: Int] = [:]
  /// The objects of saves of each device, in the order of their first saves.
  private var objects: [DeviceID: [Object]] = [:]
  /// The objects of the own device that a copy of it stored.
  private var ofCopies: Set<ObjectName> = []
  /// The devices whose objects may have to be read.
  private var unread: [DeviceID]
  /// The objects of the last one, with the last saves first, and the next one.
  private var queue: [Object]?
  private var position = 0
  /// The objects that can show their scope, with the smallest one last.
  private var smallest: [ObjectName]?
  /// The last version of each device.
  private var lastVersions: [DeviceID: ObjectName] = [:]
  /// The last versions that may have to be read.
  private var unreadVersions: [ObjectName] = []
  /// The object that is read for its scope alone, because it would leave a gap.
  private var probe: ObjectName?
  /// The objects that this pass tried to read.
  private var tried: Set<ObjectName> = []
  /// The objects that were damaged in this pass.
  private var stillDamaged: Set<ObjectName> = []
  /// The objects of the listing that were not there.
  private var missing: Set<ObjectName> = []
  /// The devices whose saves the storage refused in this pass, and `nil` for the version.
  private var refused: Set<DeviceID?> = []
  /// The version that this pass stored, or `nil`.
  private var storedVersion: ObjectName?
  package var memory: ObjectMemory

  fileprivate struct Object {
    let name: ObjectName
    let interval: SaveInterval
    let size: Int
  }

  /// Creates a pass.
  ///
  /// - Parameters:
  ///   - list: The names and the sizes of the objects.
  ///   - replica: The replica that reads them.
  ///   - now: The time in milliseconds since 1970.
  /// - Throws: ``ObjectStorageError/tooManyObjects(limit:)``
  package init(
    scope: String, listing list: [(name: String, byteCount: Int)],
    to replica: Replica, confirmsWrites: Bool, memory: ObjectMemory,
    at now: Int64
  ) throws(ObjectStorageError) {
    (self.scope, self.confirmsWrites) = (scope, confirmsWrites)
    (self.memory, self.now, unread) = (memory, now, [])
    for (text, size) in list {
      if let name = ObjectName(text) { sizes[name] = size }
    }
    if sizes.count > Self.countLimit {
      throw .tooManyObjects(limit: Self.countLimit)
    }
    for (name, size) in sizes {
      guard let interval = name.interval else {
        insertVersion(name)
        continue
      }
      let object = Object(name: name, interval: interval, size: size)
      objects[name.device, default: []].append(object)
      // A backup with the token restores a device unnoticed.
      let other = replica.current.ownSave(
        contradicting: interval.to, of: name.device)
      if other != nil { ofCopies.insert(name) }
    }
    for device in objects.keys { objects[device]?.sort() }
    unread = objects.keys.sorted()
    unreadVersions = lastVersions.values.sorted { "\($0)" < "\($1)" }
    self.memory.tidy({ [sizes] in sizes[$0] != nil }, at: now)
    for (name, size) in sizes
    where size == 0 || size > SyncMessage.objectLimit {
      damage(name)
    }
  }
}

extension ObjectPass.Object: Comparable {
  /// Returns whether an object has earlier first saves, or more saves.
  ///
  /// Among those with equal saves, the one with the greatest nonce counts.
  static func < (a: Self, b: Self) -> Bool {
    let (one, other) = (a.interval, b.interval)
    return (one.from, other.to.sequence, b.name.nonce)
      < (other.from, one.to.sequence, a.name.nonce)
  }

  /// Returns whether the object has all saves of another one.
  func contains(_ other: Self, heldAs held: DeviceSave) -> Bool {
    let (save, part) = (interval.to, other.interval.to)
    if self == other || interval.from > other.interval.from { return false }
    if save.isForked || part.isForked || held.isForked {
      // Numbers can be of different histories, which only an entry of both contains.
      return save.isSame(as: part) && save.isForked == part.isForked
        || save.isForked && interval.from == 0
          && save.joined(part).isSame(as: save)
    }
    return part.sequence <= save.sequence && !save.contradicts(part)
  }
}

// Reading.
extension ObjectPass {
  /// Returns the next object to read, or `nil`.
  ///
  /// The one with the last saves comes first, because it can contain the others.
  ///
  /// - Parameters:
  ///   - version: The version of the store.
  ///   - device: The device of the store.
  package mutating func nextObject(
    beyond version: ReplicaVersion, for device: DeviceID
  ) -> ObjectName? {
    // An object has saves of one device, so others do not become readable by it.
    while let writer = unread.last {
      let objects =
        queue
        ?? objects[writer, default: []].sorted {
          ($0.interval.to.sequence, $1.interval.from, $0.name.nonce)
            > ($1.interval.to.sequence, $0.interval.from, $1.name.nonce)
        }
      queue = objects
      while position < objects.count {
        let object = objects[position]
        if !tried.contains(object.name), isNeeded(object, beyond: version) {
          return object.name
        }
        position += 1
      }
      unread.removeLast()
      (queue, position) = (nil, 0)
    }
    return nextVersion(besides: device) ?? nextOfUnknownScope()
  }

  /// Returns the smallest object that the pass did not try, or `nil` if the device knows
  /// the scope of the storage.
  ///
  /// A device that lacks nothing would otherwise add objects of another scope.
  private mutating func nextOfUnknownScope() -> ObjectName? {
    if memory.scope.map({ $0.utf8.elementsEqual(scope.utf8) }) ?? false {
      return nil
    }
    var names =
      smallest
      ?? sizes.filter { counts($0.key) }.sorted {
        ($0.value, $0.key.nonce) > ($1.value, $1.key.nonce)
      }.map(\.key)
    defer { smallest = names }
    while let name = names.popLast() {
      if tried.contains(name) { continue }
      probe = name
      return name
    }
    return nil
  }

  private func isNeeded(
    _ object: Object, beyond version: ReplicaVersion
  ) -> Bool {
    let (name, interval) = (object.name, object.interval)
    if memory.damaged[name] != nil, memory.undeletable.contains(name) {
      return false
    }
    let isFork = ofCopies.contains(name) && !version[name.device].isForked
    return isFork || isRetried(name) || version.lacks(interval, of: name.device)
  }

  /// Returns the last version of a device that was not read, or `nil`.
  private mutating func nextVersion(besides own: DeviceID) -> ObjectName? {
    while let name = unreadVersions.popLast() {
      if name.device != own, !tried.contains(name),
        !memory.readVersions.contains(name),
        memory.damaged[name] == nil || isRetried(name)
      {
        return name
      }
    }
    return nil
  }

  private mutating func insertVersion(_ name: ObjectName) {
    let last = lastVersions[name.device]
    if let last,
      (last.number ?? 0, last.nonce) >= (name.number ?? 0, name.nonce)
    {
      return
    }
    lastVersions[name.device] = name
  }

  /// Takes the bytes of an object, which are `nil` if it was deleted.
  ///
  /// - Returns: The content, or `nil` if the object was deleted, is damaged, or was read
  ///   for its scope alone.
  /// - Throws: ``SyncRefusal/wrongScope`` if the object is of another scope, or
  ///   `WireError` if it has a newer format.
  package mutating func read(
    _ bytes: [UInt8]?, of name: ObjectName
  ) throws -> SyncMessage? {
    tried.insert(name)
    guard let bytes else {
      missing.insert(name)
      memory.verified[name] = nil
      return nil
    }
    let message: SyncMessage
    do { message = try SyncMessage(decoding: bytes) } catch {
      if error.code == .newerVersion { throw error }
      damage(name)
      return nil
    }
    guard message.matches(name) else {
      damage(name)
      return nil
    }
    if !message.scope.utf8.elementsEqual(scope.utf8) {
      throw SyncRefusal.wrongScope
    }
    memory.scope = scope
    memory.damaged[name] = nil
    if name.interval == nil {
      memory.readVersions.insert(name)
    } else {
      memory.verified[name] = message.device
      // It can have the saves before those of others.
      position = 0
    }
    return name == probe ? nil : message
  }

  /// Returns whether an object is there as far as the device knows.
  private func counts(_ name: ObjectName) -> Bool {
    memory.damaged[name] == nil && !missing.contains(name)
  }

  /// Records that an object could not be read in this pass.
  package mutating func skip(_ name: ObjectName) { tried.insert(name) }

  /// The time until a damaged object is deleted, which can be the only one with its
  /// saves.
  ///
  /// One answer can be cut, and a drive may not have all of the bytes yet.
  private var grace: Int64 { confirmsWrites ? Self.relayDelay : Self.day }

  /// Returns whether an object was damaged for so long that another attempt decides.
  private func isRetried(_ name: ObjectName) -> Bool {
    memory.damaged[name].map { $0 <= now - grace } ?? false
  }

  private mutating func damage(_ name: ObjectName) {
    tried.insert(name)
    stillDamaged.insert(name)
    memory.damaged[name] = memory.damaged[name] ?? now
    memory.verified[name] = nil
  }
}

extension SyncMessage {
  /// Returns whether the message is the object with a name.
  fileprivate func matches(_ name: ObjectName) -> Bool {
    guard kind == .object else { return false }
    guard let interval = name.interval else {
      return version != nil && device == name.device
    }
    guard let part, part.range == nil, part.intervals.count == 1,
      let own = part.intervals[name.device]
    else { return false }
    // A name has no time.
    return own.from == interval.from && own.to.isSame(as: interval.to)
      && own.to.isForked == interval.to.isForked
  }
}

// Publishing.
extension ObjectPass {
  /// An object to store.
  package struct File: Sendable {
    package let name: ObjectName
    package let message: SyncMessage
    package let bytes: [UInt8]

    fileprivate init(_ name: ObjectName, _ message: SyncMessage) {
      (self.name, self.message, bytes) = (name, message, message.encoded())
    }
  }

  /// Returns the last of the saves of a device that the objects have from the first
  /// one on.
  ///
  /// An object counts until it turns out to be damaged, even if its bytes are not here.
  fileprivate func cover(of device: DeviceID, in version: ReplicaVersion)
    -> DeviceSave
  {
    let held = version[device]
    var cover = DeviceSave.none
    for object in objects[device] ?? [] where counts(object.name) {
      let (from, to) = (object.interval.from, object.interval.to)
      if held.isForked {
        if from == 0, to.isForked, to.isSame(as: held) { return held }
      } else if from <= cover.sequence, to.sequence > cover.sequence,
        !to.isForked, !held.contradicts(to)
      {
        cover = to
      }
    }
    return cover
  }

  /// Returns the next object to store, or `nil`.
  ///
  /// The saves of other devices wait until a device that is nearer to them had time to
  /// store them.
  ///
  /// - Parameter random: A closure that returns a number up to a bound.
  package mutating func publication(
    of replica: Replica, random: (Int64) -> Int64
  ) -> File? {
    let version = replica.version
    let own = replica.ownDevices
    var due: [(device: DeviceID, cover: DeviceSave)] = []
    // A device that the store does not know needs no pass.
    var relays: [DeviceID: Int64] = [:]
    version.forEachDifference(from: ReplicaVersion()) { device, held, _ in
      let cover = cover(of: device, in: version)
      if cover.sequence >= held.sequence { return }
      if own.contains(device) || device.isImport {
        due.append((device, cover))
      } else {
        let time =
          memory.relays[device] ?? now + Self.relayDelay
          + random(Self.relayDelay)
        relays[device] = time
        if time <= now { due.append((device, cover)) }
      }
    }
    memory.relays = relays
    let next = due.first { !refused.contains($0.device) }
    if let (device, cover) = next {
      return file(of: device, after: cover.sequence, replica, random)
    }
    return refused.contains(nil) ? nil : versionFile(of: replica, random)
  }

  private func file(
    of device: DeviceID, after first: UInt64, _ replica: Replica,
    _ random: (Int64) -> Int64
  ) -> File? {
    var from = first
    while let part = replica.delta(ofSavesBy: device, after: from),
      let interval = part.intervals[device]
    {
      let size = part.encoded().count
      let previous = objects[device]?.first { object in
        object.interval.to.sequence == interval.from && counts(object.name)
      }
      // Each object is then more than twice as large as the next one.
      if let previous, previous.size <= 2 * size,
        previous.size + size <= Self.absorbingLimit
      {
        from = previous.interval.from
        continue
      }
      var message = SyncMessage(.object, scope: scope)
      (message.device, message.part) = (replica.device, part)
      let name = ObjectName(
        device, .saves(interval), nonce: UInt64(random(.max)))
      return File(name, message)
    }
    return nil
  }

  /// Returns the version of the device if it changed since the last day, or `nil`.
  private func versionFile(
    of replica: Replica, _ random: (Int64) -> Int64
  ) -> File? {
    let (device, version) = (replica.device, replica.version)
    let last = lastVersions[device]
    // Without saves, no device waits for this one.
    if version[device].sequence == 0 { return nil }
    if let written = memory.version {
      if written.time > now - Self.day { return nil }
      if written.digest == version.digest, last != nil { return nil }
    }
    var message = SyncMessage(.object, scope: scope)
    (message.device, message.version) = (device, version)
    // After the last number, the device starts again and deletes the others.
    let number = last?.number ?? 0
    return File(
      ObjectName(
        device, .version(number: number == .max ? 1 : number + 1),
        nonce: UInt64(random(.max))),
      message)
  }

  /// Records that the storage refused an object, which must not keep the others out.
  package mutating func refuse(_ file: File) {
    refused.insert(file.message.part == nil ? nil : file.name.device)
  }

  /// Records that an object was stored.
  package mutating func store(_ file: File) {
    let (name, size) = (file.name, file.bytes.count)
    sizes[name] = size
    memory.scope = scope
    if let version = file.message.version {
      storedVersion = name
      insertVersion(name)
      memory.version = (now, version.digest)
    }
    guard let interval = name.interval else { return }
    objects[name.device, default: []].append(
      Object(name: name, interval: interval, size: size))
    objects[name.device]?.sort()
    // Otherwise, only reading it shows that it is there.
    if confirmsWrites { memory.verified[name] = file.message.device }
  }
}

extension ReplicaVersion {
  /// A digest of the encoded version.
  fileprivate var digest: UInt64 {
    var digest = Digest()
    encoded().withUnsafeBytes { digest.add($0) }
    return digest.value
  }
}

// Collecting.
extension ObjectPass {
  /// Returns the objects whose saves are all in another one, and that one.
  private func contained(
    in version: ReplicaVersion
  ) -> [(object: ObjectName, other: ObjectName)] {
    objects.flatMap { device, objects in
      var result: [(object: ObjectName, other: ObjectName)] = []
      var others: [Object] = []
      var reach: UInt64 = 0
      for object in objects {
        let end = object.interval.to.sequence
        let other =
          end > reach
          ? nil : others.last { $0.contains(object, heldAs: version[device]) }
        if let other {
          result.append((object.name, other.name))
        } else if counts(object.name) {
          others.append(object)
          reach = max(reach, end)
        }
      }
      return result
    }
  }

  /// Returns an object to read again before those that it contains can be deleted, or
  /// `nil`.
  package func nextContainer(in version: ReplicaVersion) -> ObjectName? {
    contained(in: version).lazy.map(\.other).first {
      memory.verified[$0] == nil && !tried.contains($0)
    }
  }

  /// Returns the objects to delete.
  ///
  /// - Parameters:
  ///   - version: The version of the store.
  ///   - device: The device of the store.
  ///   - own: The devices of the store, also former ones.
  package mutating func deletions(
    in version: ReplicaVersion, of device: DeviceID, _ own: Set<DeviceID>
  ) -> [ObjectName] {
    var names: Set<ObjectName> = []
    for (name, other) in contained(in: version) {
      guard let writer = memory.verified[other] else { continue }
      // A drive can carry out a deletion before the upload that justified it.
      let seen = memory.seen[other] ?? now
      memory.seen[other] = confirmsWrites ? nil : seen
      if confirmsWrites || !own.contains(writer) || seen <= now - Self.day {
        names.insert(name)
      }
    }
    for name in stillDamaged {
      let time = memory.damaged[name] ?? now
      if time <= now - grace { names.insert(name) }
    }
    let last = lastVersions
    for name in sizes.keys where name.interval == nil {
      if own.contains(name.device),
        storedVersion ?? last[name.device] != name || name.device != device
      {
        names.insert(name)
      }
    }
    return names.subtracting(memory.undeletable).sorted { "\($0)" < "\($1)" }
  }

  /// Records that objects were deleted.
  package mutating func delete(_ names: [ObjectName]) {
    for name in names {
      sizes[name] = nil
      objects[name.device]?.removeAll { $0.name == name }
    }
  }
}

// The result.
extension ObjectPass {
  /// Returns the version that the storage shows to a device.
  ///
  /// It lacks the saves of the device that no object has. If there are none, it has the
  /// saves of objects that the device did not read.
  package func shownVersion(to version: ReplicaVersion) -> ReplicaVersion {
    var shown = ReplicaVersion()
    for (device, objects) in objects {
      var save = cover(of: device, in: version)
      if save.sequence >= version[device].sequence {
        for object in objects
        where !version.contains(object.interval.to, of: device) {
          save = save.joined(object.interval.to)
        }
      }
      shown.insert(save, of: device)
    }
    return shown
  }
}
