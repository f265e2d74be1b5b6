// SPDX-License-Identifier: Apache-2.0

// Cuts the power in what processes have done to a store, and opens what is left:
//
//   PowerCuts DATABASE SCRATCH TIMES LOG…
//
// LOG… are what `strace` has written of one `StoreWriter` after the other, from an
// empty folder on; DATABASE is their file. In LOG.left is a copy of its folder, as
// the process has left it. The power is cut before and after each sync, after each
// acknowledgement, and now and then in between; each time, it leaves all that was
// written, only what was synced, and TIMES times something of the rest. SCRATCH is
// a folder for that.
//
//   PowerCuts --damage SCRATCH TIMES
//
// Flips bytes of a store's files, truncates and deletes them, TIMES times, and opens
// what is left.

import Foundation
import RejoinTesting

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "--damage",
  let times = Int(arguments[3])
{
  var damage = try await Damage(in: arguments[2])
  try await damage.run(times)
  print(damage.report)
  for fault in damage.faults { print(fault) }
  exit(damage.faults.isEmpty ? 0 : 1)
}
guard arguments.count > 4, let times = Int(arguments[3]) else {
  fail("PowerCuts DATABASE SCRATCH TIMES LOG…")
}
do {
  let database = URL(fileURLWithPath: arguments[1])
  let folder = database.deletingLastPathComponent().path
  let processes = try arguments[4...].map {
    try Event.all(in: String(contentsOfFile: $0, encoding: .utf8), of: folder)
  }
  var cuts = PowerCuts(
    processes.flatMap(\.self), times: times,
    inspector: Inspector(
      folder: arguments[2], database: database.lastPathComponent))
  for (log, events) in zip(arguments[4...], processes) {
    try await cuts.run(events.count)
    // Else what is cut is not what the processes have done.
    guard try content(of: log + ".left") == cuts.disk.content else {
      fail("the files in \(log).left are not as the logs say")
    }
  }
  print(cuts.report)
  // Else nothing was cut that is worth cutting.
  guard cuts.logCount > 2 else { fail("the log was hardly used") }
  exit(cuts.failureCount == 0 ? 0 : 1)
}

private func content(of folder: String) throws -> [String: [UInt8]] {
  var content: [String: [UInt8]] = [:]
  for name in try FileManager.default.contentsOfDirectory(atPath: folder)
  where !name.hasSuffix("-shm") {
    let url = URL(fileURLWithPath: folder + "/" + name)
    content[name] = Array(try Data(contentsOf: url))
  }
  return content
}

private func fail(_ why: String) -> Never {
  FileHandle.standardError.write(Data((why + "\n").utf8))
  exit(1)
}
