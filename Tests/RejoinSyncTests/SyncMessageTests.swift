// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinSync

/// The bytes of messages.
@Suite struct SyncMessageTests {
  /// Writes a message as the article *Wire format* describes it.
  private struct Layout {
    var kind = "q"
    var scope = Array("s".utf8)
    var device: [UInt8]? = Array(repeating: 7, count: 16)
    var refusal: [UInt8] = [0, 0]
    var limit: [UInt8] = [1]
    var version: [UInt8]
    var part: [UInt8]
    var end: [UInt8] = []

    static func varint(_ number: Int) -> [UInt8] {
      number < 128
        ? [UInt8(number)] : [UInt8(number % 128 + 128)] + varint(number / 128)
    }

    var bytes: [UInt8] {
      var bytes: [UInt8] = [UInt8(ascii: "R"), kind.utf8.first ?? 0, 2]
      bytes += Self.varint(scope.count) + scope
      bytes += device.map { [16] + $0 } ?? [0]
      bytes += refusal + limit
      bytes += Self.varint(version.count) + version
      bytes += Self.varint(part.count) + part + end
      return bytes.checked
    }
  }

  private let version: [UInt8]
  private let part: [UInt8]
  private var full: Layout { Layout(version: version, part: part) }
  private var answer: Layout { Layout(kind: "a", version: version, part: part) }

  init() throws {
    let replica = Replica(
      device: DeviceID(1), schema: [Item.self],
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(2) })
    try replica.save { $0[Item.self, "1"].title = "Milk" }
    version = replica.version.encoded()
    part = try #require(replica.delta()).encoded()
  }

  /// Messages with and without each part.
  private var valid: [(name: String, layout: Layout)] {
    var list: [(String, Layout)] = []
    func add(_ name: String, _ layout: Layout, _ change: (inout Layout) -> Void)
    {
      var layout = layout
      change(&layout)
      list.append((name, layout))
    }
    add("request", full) { $0.part = [] }
    add("request with a part", full) { _ in }
    add("answer", answer) { $0.part = [] }
    add("answer of a hub", answer) { $0.device = nil }
    add("answer with a part", answer) { _ in }
    add("answer that refuses a part", answer) { $0.refusal = [1, 0] }
    add("refusal", answer) {
      ($0.device, $0.version, $0.part, $0.refusal) = (nil, [], [], [8, 5])
    }
    add("object with a version", full) { ($0.kind, $0.part) = ("o", []) }
    add("object with a part", full) { ($0.kind, $0.version) = ("o", []) }
    return list
  }

  @Test func messagesHaveOneEncoding() throws {
    for (name, layout) in valid {
      let message = try SyncMessage(decoding: layout.bytes)
      #expect(message.encoded() == layout.bytes, "\(name)")
      #expect(message.scope == "s")
      #expect(message.version?.encoded() ?? [] == layout.version)
      #expect(message.part?.encoded() ?? [] == layout.part)
      #expect((message.device == nil) == (layout.device == nil))
    }
  }

  /// The files that the reader in Python reads as well.
  @Test func messagesMatchGoldenFiles() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Golden")
    let isWriting =
      ProcessInfo.processInfo.environment["REJOIN_WRITE_GOLDEN"] != nil
    for (name, layout) in valid {
      let file = folder.appending(
        path: name.replacing(" ", with: "-") + ".bin")
      if isWriting, !FileManager.default.fileExists(atPath: file.path) {
        try Data(layout.bytes).write(to: file)
      }
      #expect(try Array(Data(contentsOf: file)) == layout.bytes, "\(name)")
    }
  }

  @Test func damagedMessagesAreRejected() throws {
    for (name, layout) in valid {
      let bytes = layout.bytes
      for count in bytes.indices {
        #expect(throws: WireError.self, "\(name), \(count) bytes") {
          try SyncMessage(decoding: Array(bytes[..<count]))
        }
      }
      for bit in 0..<(bytes.count * 8) {
        var damaged = bytes
        damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        #expect(throws: WireError.self, "\(name), bit \(bit)") {
          try SyncMessage(decoding: damaged)
        }
      }
    }
  }

  /// Messages with a right checksum and wrong content.
  @Test func contradictoryMessagesAreRejected() {
    func rejects(
      _ what: String, _ layout: Layout, _ change: (inout Layout) -> Void
    ) {
      var layout = layout
      change(&layout)
      #expect(throws: WireError.self, "\(what)") {
        try SyncMessage(decoding: layout.bytes)
      }
    }
    rejects("a request without a device", full) { $0.device = nil }
    rejects("a request without a version", full) { $0.version = [] }
    rejects("a request with a refusal", full) { $0.refusal = [1, 0] }
    rejects("an empty answer", answer) {
      ($0.device, $0.version, $0.part) = (nil, [], [])
    }
    rejects("a refusal with a device", answer) {
      ($0.version, $0.part, $0.refusal) = ([], [], [1, 0])
    }
    rejects("a refusal with a part", answer) {
      ($0.device, $0.version, $0.refusal) = (nil, [], [1, 0])
    }
    rejects("an object with both", full) { $0.kind = "o" }
    rejects("an object with neither", full) {
      ($0.kind, $0.version, $0.part) = ("o", [], [])
    }
    rejects("an object with a refusal", full) {
      ($0.kind, $0.part, $0.refusal) = ("o", [], [1, 0])
    }
    rejects("an object without a device", full) {
      ($0.kind, $0.part, $0.device) = ("o", [], nil)
    }
    rejects("seconds without busy", answer) { $0.refusal = [1, 5] }
    rejects("seconds without a refusal", answer) { $0.refusal = [0, 5] }
    rejects("a device of 15 bytes", full) {
      $0.device = Array(repeating: 7, count: 15)
    }
    rejects("a part of no byte", full) { $0.limit = [0] }
    rejects("an integer of eleven bytes", full) {
      $0.limit = Array(repeating: 0x80, count: 10) + [1]
    }
    rejects("a scope of 1,025 bytes", full) {
      $0.scope = Array(repeating: 97, count: 1_025)
    }
    rejects("a scope that is not UTF-8", full) { $0.scope = [0xff] }
    rejects("a version as a part", full) { $0.part = $0.version }
    rejects("a part as a version", full) { $0.version = $0.part }
    rejects("more bytes", full) { $0.end = [0] }
    rejects("an unknown kind", full) { $0.kind = "x" }
    rejects("another message", full) { $0.kind = "d" }
    // A length of 2⁶³ for the version.
    var bytes = Array(full.bytes.dropLast(WireChecksum.size))
    bytes.replaceSubrange(
      25..., with: Array(repeating: 0x80, count: 9) + [1])
    #expect(throws: WireError.self) {
      try SyncMessage(decoding: bytes.checked)
    }
  }

  @Test func errorOfPartHasOffsetInMessage() throws {
    var layout = full
    layout.part = Array(part.dropLast(WireChecksum.size)).checked
    layout.part[10] ^= 1
    let bytes = layout.bytes
    let start = bytes.count - WireChecksum.size - layout.part.count
    do {
      _ = try SyncMessage(decoding: bytes)
      Issue.record("no error")
    } catch {
      #expect(error.code == .checksumMismatch)
      #expect(error.offset == start + layout.part.count - WireChecksum.size)
    }
  }

  @Test func refusalsHaveNumbers() throws {
    let refusals: [SyncRefusal] = [
      .denied, .gone, .wrongScope, .tooLarge, .full, .unsupportedFormat,
      .damaged, .busy(seconds: 0), .busy(seconds: 86_400),
    ]
    for refusal in refusals {
      var message = SyncMessage(.answer, scope: "")
      message.refusal = refusal
      let decoded = try SyncMessage(decoding: message.encoded())
      #expect(decoded.refusal == refusal)
    }
    // A later version of the library sends a number that is not known.
    var layout = answer
    (layout.device, layout.version, layout.part) = (nil, [], [])
    layout.refusal = [99, 7]
    var message = try SyncMessage(decoding: layout.bytes)
    #expect(message.refusal == .busy(seconds: 7))
    layout.refusal = [8] + Array(repeating: 0xff, count: 9) + [1]
    message = try SyncMessage(decoding: layout.bytes)
    #expect(message.refusal == .busy(seconds: .max))
  }

  @Test func messageAboveLimitIsRejected() {
    var bytes = [UInt8](repeating: 0, count: 40 << 20)
    bytes.replaceSubrange(0..<3, with: [UInt8(ascii: "R"), 0x71, 2])
    let error = #expect(throws: WireError.self) {
      try SyncMessage(decoding: bytes.checked)
    }
    #expect(error?.expected == "at most 41943040 bytes")
  }
}

extension [UInt8] {
  /// The bytes with their checksum.
  var checked: [UInt8] {
    let sum = withUnsafeBytes { WireChecksum.of($0) }
    return self + Swift.withUnsafeBytes(of: sum.littleEndian, Array.init)
  }
}
