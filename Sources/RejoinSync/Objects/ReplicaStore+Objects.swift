// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore

extension ReplicaStore {
  /// Performs a pass over the objects of a storage: reads what the store lacks, stores
  /// what no object has, and deletes objects whose saves are in others.
  ///
  /// - Parameters:
  ///   - memory: What the device remembers of the storage.
  ///   - note: The name of the note of the memory, or `nil`.
  ///   - uploads: Whether to store objects.
  ///   - time: The clocks and random numbers.
  ///   - report: A closure that receives each step.
  /// - Returns: Whether the saves are in objects, and the reason why they are not.
  /// - Throws: The first error of an object that could not be read, after everything
  ///   else was done, or any other error.
  package func sync(
    scope: String, objects storage: any ObjectStorage,
    remembering memory: inout ObjectMemory, as note: String? = nil,
    uploads: Bool, _ time: SyncTime,
    reporting report: @Sendable (SyncStep) -> Void
  ) async throws -> SyncResult {
    let list = try await list(storage, &memory, note)
    var pass = try read { [memory] view in
      try ObjectPass(
        scope: scope, listing: list, to: view.replica,
        confirmsWrites: storage.confirmsWrites, memory: memory, at: time.now())
    }
    defer { memory = pass.memory }
    report(.shown(pass.shownVersion(to: version), nil))
    var faults = MergeReport()
    var failure: (any Error)?
    try await read(storage, &pass, &faults, &failure, reporting: report)
    report(.receiving(nil, byteCount: 0))
    var refusal: SyncRefusal?
    if uploads {
      do {
        try await publish(
          storage, &pass, &refusal, time.random, reporting: report)
      } catch {
        try Task.checkCancellation()
        if error is SyncRefusal || error is StoreError { throw error }
        // Deleting can make space.
        failure = failure ?? error
      }
    }
    report(.sending(nil, byteCount: 0))
    try await collect(storage, &pass, &failure)
    let shown = pass.shownVersion(to: version)
    report(.shown(shown, refusal))
    if let failure { throw failure }
    let isUploaded = version.saveCount(beyond: shown) == 0
    return SyncResult(
      peerVersion: shown, isUploaded: isUploaded,
      isSynced: isUploaded && version.covers(shown), uploadRefusal: refusal,
      report: faults)
  }

  /// Returns the list of the account of the first contact.
  ///
  /// A place that is not there is created at the first contact, or if the app asks for
  /// it.
  private func list(
    _ storage: any ObjectStorage, _ memory: inout ObjectMemory, _ note: String?
  ) async throws -> [(name: String, byteCount: Int)] {
    let identity = try await storage.identity()
    try check(identity, memory)
    let isFirst =
      memory.identity == nil && memory.scope == nil && !memory.wasReached
    let list: [(name: String, byteCount: Int)]
    do { list = try await storage.list() } catch SyncRefusal.gone
      where isFirst || memory.isResumed
    {
      // The user can change the account at any time.
      if try await storage.identity() != identity {
        throw SyncRefusal.wrongScope
      }
      try await storage.create()
      list = try await storage.list()
    }
    (memory.identity, memory.isResumed) = (memory.identity ?? identity, false)
    // The next launch must know the account, however this one ends.
    if isFirst, let note { try setNote(note, to: memory.note) }
    memory.wasReached = true
    return list
  }

  /// Throws an error if the account is not that of the first contact.
  private func check(_ identity: String?, _ memory: ObjectMemory) throws {
    if let known = memory.identity, identity != known {
      throw SyncRefusal.wrongScope
    }
  }

  /// Reads the objects whose saves the store lacks.
  ///
  /// - Parameter failure: The first error of an object that could not be read.
  private func read(
    _ storage: any ObjectStorage, _ pass: inout ObjectPass,
    _ faults: inout MergeReport, _ failure: inout (any Error)?,
    reporting report: @Sendable (SyncStep) -> Void
  ) async throws {
    while let name = pass.nextObject(beyond: version, for: device) {
      let bytes = try await get(name, from: storage, &pass, &failure)
      guard let bytes, let message = try pass.read(bytes, of: name)
      else { continue }
      if let part = message.part {
        report(.receiving(part, byteCount: bytes.count))
        faults.add(try withReplica { $0.apply(part, reporting: .faults) })
      } else if let shown = message.version {
        faults.add(
          try withReplica { $0.recordVersion(shown, of: name.device) })
      }
    }
  }

  /// Returns the bytes of an object, or `nil` if they are not here.
  private func get(
    _ name: ObjectName, from storage: any ObjectStorage,
    _ pass: inout ObjectPass, _ failure: inout (any Error)?
  ) async throws -> [UInt8]? {
    pass.skip(name)
    do {
      let bytes = try await storage.get("\(name)")
      if bytes == nil { _ = try pass.read(nil, of: name) }
      return bytes
    } catch {
      try Task.checkCancellation()
      if error is SyncRefusal { throw error }
      failure = failure ?? error
      return nil
    }
  }

  /// Stores the saves that no object has, if they are due, and the version.
  ///
  /// - Parameter refusal: The first reason why an object was refused.
  private func publish(
    _ storage: any ObjectStorage, _ pass: inout ObjectPass,
    _ refusal: inout SyncRefusal?, _ random: @Sendable (Int64) -> Int64,
    reporting report: @Sendable (SyncStep) -> Void
  ) async throws {
    while true {
      let (next, file) = try export { [pass] replica in
        var pass = pass
        let file = pass.publication(of: replica, random: random)
        return (pass, file)
      }
      pass = next
      guard let file else { return }
      if let part = file.message.part {
        report(.sending(part, byteCount: file.bytes.count))
      }
      do {
        if file.bytes.count > SyncMessage.objectLimit {
          throw SyncRefusal.tooLarge
        }
        // The user can change the account during the pass.
        try check(try await storage.identity(), pass.memory)
        try await storage.put("\(file.name)", file.bytes)
        pass.store(file)
      } catch let error as SyncRefusal where error.isOfPart {
        refusal = refusal ?? error
        pass.refuse(file)
      }
    }
  }

  /// Deletes objects whose saves are in others.
  private func collect(
    _ storage: any ObjectStorage, _ pass: inout ObjectPass,
    _ failure: inout (any Error)?
  ) async throws {
    while let name = pass.nextContainer(in: version) {
      let bytes = try await get(name, from: storage, &pass, &failure)
      if let bytes { _ = try pass.read(bytes, of: name) }
    }
    let names = pass.deletions(in: version, of: device, ownDevices)
    if names.isEmpty { return }
    do {
      try await storage.delete(names.map { "\($0)" })
      pass.delete(names)
    } catch let error as SyncRefusal where error.isOfPart {
      // A member who may only read leaves the deletion to others.
      pass.memory.undeletable.formUnion(names)
    } catch {
      try Task.checkCancellation()
      if error is SyncRefusal { throw error }
      // The objects are stored anyway.
      failure = failure ?? error
    }
  }
}
