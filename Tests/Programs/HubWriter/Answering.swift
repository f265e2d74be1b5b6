// SPDX-License-Identifier: Apache-2.0

import RejoinStore
import RejoinSync

/// Answers requests on standard input until its end.
///
/// Each message follows its length in four bytes.
func answerRequests(_ database: String) async throws {
  let session = try await Hub(connections: 1) { try connect(database) }
    .makeSession { _ in }
  let (input, output) = (FileHandle.standardInput, FileHandle.standardOutput)
  while let head = try input.read(upToCount: 4), head.count == 4 {
    let length = head.reduce(0) { $0 << 8 | Int($1) }
    var request: [UInt8] = []
    while request.count < length,
      let bytes = try input.read(upToCount: length - request.count),
      !bytes.isEmpty
    {
      request += bytes
    }
    let answer = await session.answer(request)
    let size = (0..<4).map {
      UInt8(truncatingIfNeeded: answer.count >> (24 - 8 * $0))
    }
    try output.write(contentsOf: Data(size + answer))
  }
}
