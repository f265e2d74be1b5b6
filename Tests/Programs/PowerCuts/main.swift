// SPDX-License-Identifier: Apache-2.0

// Simulates power cuts while processes write a store, and opens the rest:
//
//   PowerCuts DATABASE SCRATCH TIMES LOG…
//
// LOG… are the outputs of `strace` for successive `StoreWriter` processes,
// which start with an empty folder. DATABASE is their file. LOG.left is a copy
// of the folder at the end of the process. The power is cut before and after
// each sync, after each acknowledgement, and sometimes in between. Each cut
// leaves all writes, only synced writes, and TIMES times a part of the rest.
// SCRATCH is a folder for the rest.
//
//   PowerCuts --damage SCRATCH TIMES
//
// Flips bytes of a store's files, truncates and deletes them, TIMES times, and
// opens the rest.

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
    // Otherwise, the events differ from the writes of the processes.
    guard try content(of: log + ".left") == cuts.disk.content else {
      fail("the files in \(log).left are not as the logs say")
    }
  }
  print(cuts.report)
  // Otherwise, the power cuts would prove little.
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
