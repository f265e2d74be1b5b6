// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinStore
import Testing

/// The messages in the guide *Troubleshooting* are those of the library, and the
/// guide lists every message of a store, a save and a decoder.
@Suite struct TroubleshootingTests {
  private static let sql = SQLError(.busy, "SQLite: database is locked")

  /// One error of each kind.
  private static let errors: [any Error] = {
    let note = RecordID("Note", "1")
    let store: [StoreError] = [
      .cannotOpen(sql), .damaged("row 2"), .missing(nil), .newerFormat(9),
      .busy(sql), .unavailable(sql), .canceled, .readOnly(sql),
      .limitExceeded(sql),
      .notDurable(sql), .disconnected(sql), .superseded, .scopeBelongsToHub,
      .scopeBelongsToDevice, .scopeErased, .tokenUnreadable("locked"),
      .tokenNotStored("full"), .tokenNotRemoved("locked"),
      .fileReplaced("/notes.sqlite"), .closed, .outOfStep(sql),
      .tooManyRecords(20_000, limit: 2_000), .tooManyDevices(limit: 10_000),
      .recordTooLarge(note, byteCount: 40_000_000, limit: 32 << 20),
      .scopeNameTooLong(byteCount: 1_025), .notCopied(sql), .protected(sql),
      .notCreated(path: "/notes.sqlite", scope: "main"),
      .invalidTable("notes", reason: "the name is used twice"),
      .tablesNotWritten("\"notes\": SQLite: UNIQUE constraint failed"),
    ]
    let save: [SaveError] = [
      .clockExhausted, .numbersExhausted(DeviceID(1)),
      .counterOverflow(note, field: "n"), .emptyKey(entity: "Note"),
      .keyTooLong(
        RecordID("Note", String(repeating: "k", count: 1025)), limit: 1024),
      .recordTooLarge(note, byteCount: 20_000_000),
      .purged(note), .observedKind(note, field: "n"),
      .identityInUse(DeviceID(1)),
    ]
    return store + save + decoding
  }()

  /// The errors of bytes that differ from a message in one way each.
  private static let decoding: [any Error] = {
    let version = ReplicaVersion().encoded()
    var (newer, older, damaged) = (version, version, version)
    newer[2] = 99
    older[2] = 0
    damaged[damaged.count - 1] ^= 1
    let bytes = [
      newer, older, damaged, Array(version.dropLast(9)), [1, 2, 3, 4],
    ]
    var errors: [any Error] = bytes.compactMap { bytes in
      do {
        _ = try ReplicaVersion(decoding: bytes)
        return nil
      } catch { return error }
    }
    do { _ = try Delta(decoding: version) } catch { errors.append(error) }
    return errors
  }()

  private static let messages: [String] = {
    let page = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(
        path: "Sources/RejoinStore/RejoinStore.docc/Troubleshooting.md")
    let text = (try? String(contentsOf: page, encoding: .utf8)) ?? ""
    let end = text.range(of: "### Values that surprise")?.lowerBound
    return text[..<(end ?? text.endIndex)].split(separator: "\n")
      .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| Message") }
      .compactMap { $0.split(separator: "|").first }
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }()

  @Test func guideListsEveryError() {
    #expect(Self.messages.count > 30)
    for error in Self.errors {
      let text = "\(error)"
      #expect(
        Self.messages.contains { text.hasPrefix($0) }, "no row for: \(text)")
    }
  }

  @Test func everyListedMessageHasError() {
    // Two messages need bytes with a valid checksum.
    let rare = [
      "The message is invalid", "The message is not in its canonical form",
    ]
    for message in Self.messages where !rare.contains(message) {
      #expect(
        Self.errors.contains { "\($0)".hasPrefix(message) },
        "no error begins with: \(message)")
    }
  }
}
