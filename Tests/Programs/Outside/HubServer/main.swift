// SPDX-License-Identifier: Apache-2.0

// A server for sync. A web server starts it for each request, with CGI:
//
//     HUB=FILE REMOTE_USER=NAME CONTENT_LENGTH=N HubServer < REQUEST

import RejoinSQL
import RejoinSync

struct Denied: Error {}

func respond(_ status: String, _ body: [UInt8] = []) -> Never {
  let head = "Status: \(status)\r\nContent-Length: \(body.count)\r\n\r\n"
  FileHandle.standardOutput.write(Data(head.utf8) + body)
  exit(0)
}

let environment = ProcessInfo.processInfo.environment
guard let file = environment["HUB"] else { respond("500 HUB Is Unset") }
guard let user = environment["REMOTE_USER"] else { respond("401 Unauthorized") }
let byteCount = environment["CONTENT_LENGTH"].flatMap { Int($0) } ?? 0
guard byteCount <= 40 << 20 else { respond("413 Content Too Large") }
let body = try FileHandle.standardInput.read(upToCount: byteCount) ?? Data()

let hub = try await Hub(connections: 1) {
  let connection = try SQLiteConnection(opening: file)
  try connection.run("PRAGMA journal_mode = WAL")
  try connection.run("PRAGMA synchronous = FULL")
  return connection
}
// A user has one scope. Decide here who shares which list.
let own = ScopeName("list-\(user)")
let session = hub.makeSession { request in
  switch request {
  case .read(own), .write(own, _), .recordVersion(own, _): break
  default: throw Denied()
  }
}
respond("200 OK", await session.answer([UInt8](body)))
