// SPDX-License-Identifier: Apache-2.0

// A server for sync. A web server starts it for each request, with CGI:
//
//     HUB=/FILE REMOTE_USER=NAME CONTENT_LENGTH=N HubServer < REQUEST

import RejoinSQL
import RejoinSync

struct Denied: Error {}

func respond(_ status: String, _ body: [UInt8] = []) -> Never {
  let head =
    "Status: \(status)\r\nContent-Type: application/octet-stream\r\n"
    + "Content-Length: \(body.count)\r\n\r\n"
  FileHandle.standardOutput.write(Data(head.utf8) + body)
  exit(0)
}

let environment = ProcessInfo.processInfo.environment
// SQLite would open an empty name as a temporary file.
guard let file = environment["HUB"], file.hasPrefix("/") else {
  respond("500 HUB Is No Absolute Path")
}
// Invalid UTF-8 reads as U+FFFD, which would give two users one name.
guard let user = environment["REMOTE_USER"], !user.isEmpty,
  !user.contains("\u{FFFD}")
else { respond("401 Unauthorized") }
guard let byteCount = environment["CONTENT_LENGTH"].flatMap({ Int($0) }),
  byteCount > 0
else { respond("411 Length Required") }
guard byteCount <= 40 << 20 else { respond("413 Content Too Large") }

// Each user has one scope. Decide here who shares which list.
let own = ScopeName("list-\(user)")
do {
  let body = try FileHandle.standardInput.read(upToCount: byteCount) ?? Data()
  let hub = try await Hub(connections: 1) {
    let connection = try SQLiteConnection(opening: file)
    try connection.run("PRAGMA journal_mode = WAL")
    try connection.run("PRAGMA synchronous = FULL")
    return connection
  }
  let session = hub.makeSession { request in
    switch request {
    case .read(own), .write(own, _), .recordVersion(own, _): break
    default: throw Denied()
    }
  }
  respond("200 OK", await session.answer([UInt8](body)))
} catch {
  // The log of the web server, and not the answer, contains paths.
  FileHandle.standardError.write(Data("HubServer: \(error)\n".utf8))
  respond("503 Service Unavailable")
}
