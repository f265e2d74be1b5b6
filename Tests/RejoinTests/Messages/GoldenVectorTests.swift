// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Rejoin
import Testing

@Suite(.encodes) struct GoldenVectorTests {
  private let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Golden")

  private func file(_ name: String) -> URL {
    folder.appending(path: name + ".bin")
  }

  @Test func encodingMatchesGoldenFiles() throws {
    let isWriting =
      ProcessInfo.processInfo.environment["REJOIN_WRITE_GOLDEN"] != nil
    for (name, bytes) in try GoldenVectors.all() {
      let file = file(name)
      if isWriting, !FileManager.default.fileExists(atPath: file.path) {
        try Data(bytes).write(to: file)
      }
      #expect(try Array(Data(contentsOf: file)) == bytes, "\(name)")
    }
  }

  private func files() throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == "bin" }
  }

  @Test func filesContainEveryShapeCode() throws {
    var codes: Set<Int> = []
    for file in try files() {
      let bytes = try Array(Data(contentsOf: file))
      guard WireKind(rawValue: bytes[1]) == .delta else { continue }
      for change in try Delta(decoding: bytes).changes {
        codes.formUnion(change.fields.keys.map(\.kind.order))
      }
    }
    #expect(codes == Set((FieldKind.allCases + [.existence]).map(\.order)))
  }

  @Test func goldenFilesAreStillRead() throws {
    let files = try files()
    #expect(files.count >= 12)
    for file in files {
      let bytes = try Array(Data(contentsOf: file))
      let name = file.deletingPathExtension().lastPathComponent
      if name == "stored-patch" {
        // Only a store applies a patch, because it holds the record.
        #expect(throws: Never.self) {
          try ValidatedMessage(bytes, as: [.stored])
        }
      } else {
        #expect(try encodedAgain(bytes) == bytes, "\(name)")
      }
    }
  }

  private func encodedAgain(_ bytes: [UInt8]) throws -> [UInt8] {
    switch try #require(WireKind(rawValue: bytes[1])) {
    case .delta:
      let delta = try Delta(decoding: bytes)
      return Delta(
        changes: delta.changes, intervals: delta.intervals,
        range: delta.message.head.range
      ).encoded()
    case .vectorClock: return try VectorClock(decoding: bytes).encoded()
    case .stored:
      return try ReplicaState(decoding: bytes).encoded()
    case .token: return try RestoreToken(decoding: bytes).encoded()
    case .undoStep:
      let dot = Dot(DeviceID(1), 1)
      return try UndoStep(decoding: bytes, dot: dot, name: nil).encoded()
    case .replicaVersion:
      return try ReplicaVersion(decoding: bytes).encoded()
    // The tests of `RejoinSync` read them.
    case .request, .answer, .object: return bytes
    }
  }
}
