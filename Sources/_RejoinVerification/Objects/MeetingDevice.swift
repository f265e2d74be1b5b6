// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinSync

/// A device that meets others in a ``FaultyStorage``.
package struct MeetingDevice {
  /// The number of the device in the storage.
  package let number: Int
  package var replica: Replica
  package var memory = ObjectMemory()

  package init(_ number: Int, _ replica: Replica) {
    (self.number, self.replica) = (number, replica)
  }

  /// Forgets what only a process knows.
  package mutating func restart() { memory = ObjectMemory(note: memory.note) }

  /// Returns a pass over the objects.
  ///
  /// - Parameter isListed: A closure that returns whether the list has a name.
  package func pass(
    over storage: FaultyStorage, at now: Int64,
    where isListed: (String) -> Bool = { _ in true }
  ) throws -> ObjectPass {
    try ObjectPass(
      scope: "s",
      listing: storage.list(for: number).filter { isListed($0.name) },
      to: replica,
      confirmsWrites: !storage.isDrive, memory: memory, at: now)
  }

  /// Reads all objects that the replica can take.
  ///
  /// - Returns: The names of the objects.
  package mutating func read(
    _ storage: FaultyStorage, _ pass: inout ObjectPass,
    reporting report: (MergeReport) throws -> Void = { _ in }
  ) throws -> [ObjectName] {
    var names: [ObjectName] = []
    defer { memory = pass.memory }
    while let name = pass.nextObject(
      beyond: replica.version, for: replica.device)
    {
      let bytes: [UInt8]?
      do { bytes = try storage.get("\(name)", for: number) } catch {
        pass.skip(name)
        continue
      }
      guard let message = try pass.read(bytes, of: name) else { continue }
      names.append(name)
      if let part = message.part { try report(replica.apply(part)) }
      if let version = message.version {
        replica.recordVersion(version, of: name.device)
      }
    }
    return names
  }

  /// Stores the saves that no object has.
  ///
  /// - Returns: The names of the objects.
  package mutating func publish(
    _ storage: inout FaultyStorage, _ pass: inout ObjectPass,
    random: (Int64) -> Int64
  ) throws -> [ObjectName] {
    var names: [ObjectName] = []
    defer { memory = pass.memory }
    while let file = pass.publication(of: replica, random: random) {
      storage.put("\(file.name)", file.bytes, by: number)
      pass.store(file)
      names.append(file.name)
    }
    return names
  }

  /// Deletes objects whose saves are in others.
  ///
  /// - Returns: The names of the objects.
  package mutating func collect(
    _ storage: inout FaultyStorage, _ pass: inout ObjectPass
  ) throws -> [ObjectName] {
    defer { memory = pass.memory }
    while let name = pass.nextContainer(in: replica.version) {
      let bytes: [UInt8]?
      do { bytes = try storage.get("\(name)", for: number) } catch {
        pass.skip(name)
        continue
      }
      _ = try pass.read(bytes, of: name)
    }
    let names = pass.deletions(
      in: replica.version, of: replica.device, replica.ownDevices)
    storage.delete(names.map { "\($0)" }, by: number)
    pass.delete(names)
    return names
  }
}
