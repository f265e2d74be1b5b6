// SPDX-License-Identifier: Apache-2.0

// Syncs one device with a hub until the process is killed.
//
//   HubWriter DATABASE            increments a counter until it is killed, and prints
//                                 the total each time the hub has it
//   HubWriter DATABASE --total    prints the counter, and a digest of the bytes
//                                 that a new device receives
//   HubWriter DATABASE --tick MS  locks the database for five seconds while a hub
//                                 has 32 requests, and fails if another task of the
//                                 process pauses for more than MS milliseconds
//   HubWriter DATABASE --fill N   fills a scope with N records
//   HubWriter DATABASE --erase    erases this scope
//   HubWriter DATABASE --save     saves in four other scopes until it is killed, and
//                                 prints the milliseconds of each save
//
// DATABASE is a libpq connection string, or `sqlite:` and the path of a file.

import RejoinSQL
import RejoinStore

struct Account: Entity {
  let visits = counter("visits")
  let log = set("log", of: Int.self)
}

@Sendable func connect(_ database: String) throws -> any SQLConnection {
  guard database.hasPrefix("sqlite:") else {
    // Shorter than the pauses of the server in `Tests/Checks/Hub/faults`.
    return try PostgreSQLConnection(database, answerTimeout: .seconds(5))
  }
  let connection = try SQLiteConnection(
    opening: String(database.dropFirst("sqlite:".count)))
  try connection.run("PRAGMA journal_mode = WAL")
  try connection.run("PRAGMA synchronous = FULL")
  return connection
}

/// Repeats a request while the server is down, for longer than a hub retries.
func serve<Value>(_ request: () async throws -> Value) async throws -> Value {
  while true {
    do { return try await request() } catch StoreError.disconnected,
      StoreError.busy, StoreError.unavailable, StoreError.notDurable,
      StoreError.cannotOpen, StoreError.limitExceeded
    {
      // The disk may be full, or the server may be starting or overloaded.
      try await Task.sleep(for: .milliseconds(50))
    }
  }
}

let scope = "account"
let database = CommandLine.arguments[1]
if CommandLine.arguments.count == 4, CommandLine.arguments[2] == "--tick" {
  let longest = try await tick(database)
  print("a task paused for", longest, "at most")
  exit(longest <= .milliseconds(Int(CommandLine.arguments[3]) ?? 50) ? 0 : 1)
}
switch CommandLine.arguments.dropFirst(2).first {
case "--fill":
  try await Erasing.fill(database, records: Int(CommandLine.arguments[3]) ?? 1)
  exit(0)
case "--erase":
  try await Erasing.erase(database)
  exit(0)
case "--save":
  try await Erasing.save(database)
  exit(0)
default: break
}
let replica = Replica(
  device: .random(), schema: [Account.self], wallClock: .system,
  makeDeviceID: DeviceID.random)
let hub = try await serve {
  try await Hub(connections: 2) { try connect(database) }
}
let session = hub.makeSession { _ in }

while let delta = try await serve({
  try await session.delta(since: replica.version, byteLimit: 200, in: scope)
}) {
  guard replica.apply(delta).hasAdvanced else { break }
}

if CommandLine.arguments.dropFirst(2).first == "--total" {
  let visits = (0..<10).map { replica[Account.self, "\($0)"]?.visits ?? 0 }
  var digest: UInt64 = 0xcbf2_9ce4_8422_2325
  for byte in replica.delta()?.encoded() ?? [] {
    digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3
  }
  print(visits.reduce(0, +), String(digest, radix: 16))
  exit(0)
}

var total = 0
while true {
  total += 1
  try replica.save { transaction in
    let account = transaction[Account.self, "\(total % 10)"]
    account.visits.increment()
    account.log.insert(total % 100)
  }
  try await serve {
    let version = try await session.version(of: scope)
    if let delta = replica.delta(since: version) {
      try await session.apply(delta, in: scope)
    }
  }
  // One write past all buffers prints a whole line or none.
  FileHandle.standardOutput.write(Data("\(total)\n".utf8))
  try await serve {
    try await session.recordVersion(
      replica.version, of: replica.device, in: scope)
    if let delta = try await session.delta(since: replica.version, in: scope) {
      replica.apply(delta)
    }
  }
}
