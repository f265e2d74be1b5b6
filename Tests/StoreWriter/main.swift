// SPDX-License-Identifier: Apache-2.0

// Saves into a store until it is killed, and says what has been acknowledged:
//
//   StoreWriter FILE SEED          goes on until it is killed
//   StoreWriter FILE SEED LIMIT    goes on until files may not grow beyond LIMIT
//                                  bytes, and tells what is left: `full N`
//
// It prints `open N CHANGES` with the number of the last local save and of changes
// of the device ID, `saved N` after each save, `sent N` after each delta.

import Foundation
import Rejoin
import RejoinFoundation
import RejoinStore
import RejoinTesting

private struct Note: Entity {
  let saves = counter("saves")
  let title = register("title", of: String.self)
}

private func say(_ line: String) {
  // In one write and past all buffers, so that a line is there or not.
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

#if canImport(Glibc)
  private let fileSize = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
#else
  private let fileSize = RLIMIT_FSIZE
#endif

if CommandLine.arguments.count > 3, let limit = rlim_t(CommandLine.arguments[3])
{
  // What is written beyond it fails, and kills nobody.
  signal(SIGXFSZ, SIG_IGN)
  var limits = rlimit(rlim_cur: limit, rlim_max: limit)
  guard setrlimit(fileSize, &limits) == 0 else { fatalError("no limit") }
}
private let path = CommandLine.arguments[1]
private var random = SeededRandom(seed: UInt64(CommandLine.arguments[2]) ?? 0)
private let store = try ReplicaStore(
  at: path, schema: [Note.self], wallClock: .system,
  makeDeviceID: DeviceID.random)
private let other = Replica(
  device: .random(using: &random), schema: [Note.self], wallClock: .system,
  makeDeviceID: { fatalError("nobody else saves under it") })

private let device = await store.device
private let changes = await store.deviceChange == nil ? 0 : 1
private let saves = await store.read {
  $0[Note.self, "own"]?.saves ?? 0
}
private let first = await store.version[device].sequence
guard saves == Int64(first) else { fatalError("\(saves) of \(first) saves") }
say("open \(first) \(changes)")

do {
  try await saveForEver()
} catch StoreError.notDurable {
  let (saves, number) = await (
    store.read { $0[Note.self, "own"]?.saves ?? 0 },
    store.version[device].sequence
  )
  guard saves == Int64(number) else { fatalError("\(saves) of \(number)") }
  say("full \(number)")
}

@MainActor private func saveForEver() async throws {
  while true {
    switch random.next() % 8 {
    case 0:
      _ = try await store.delta(since: ReplicaVersion())
      say("sent \(await store.version[device].sequence)")
    case 1:
      try other.save { $0[Note.self, "other"].title = "\(random.next())" }
      if let delta = other.delta() { try await store.apply(delta) }
    default:
      let n = random.next() % 20
      let report = try await store.save { transaction in
        transaction[Note.self, "own"].saves.increment(by: 1)
        transaction[Note.self, "\(n)"].title = "\(n)"
      }.report
      say("saved \(report.dot?.sequence ?? 0)")
    }
  }
}
