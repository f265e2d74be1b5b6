// SPDX-License-Identifier: Apache-2.0

/// Records and intervals as validated bytes.
struct EncodedMessage: Sendable {
  let bytes: [UInt8]
  let kind: WireKind
  /// The greatest sequence number of each device that any field has seen.
  let latest: VectorClock

  /// Creates a message from bytes that this library has written.
  init(bytes: [UInt8], kind: WireKind, latest: VectorClock) {
    self.bytes = bytes
    self.kind = kind
    self.latest = latest
  }

  /// Validates a whole message.
  init(
    checking bytes: [UInt8], as kind: WireKind
  ) throws(WireError) {
    latest = try withBytes(of: bytes) { bytes throws(WireError) in
      try MessageScan.check(bytes, as: [kind])
    }
    self.bytes = bytes
    self.kind = kind
  }

  /// Calls `change` with each record, in order, and then `interval` with the
  /// interval of each device, in order.
  func visit(
    change: (RecordChange) -> Void,
    interval: (DeviceID, SaveInterval) -> Void
  ) {
    do throws(WireError) {
      try withBytes(of: bytes) { bytes throws(WireError) in
        var scan = try MessageScan(bytes, as: [kind])
        try scan.visit(change: change, interval: interval)
      }
    } catch {
      preconditionFailure("validated bytes could not be read: \(error)")
    }
  }
}

/// Records and intervals as validated bytes that the caller owns.
struct BorrowedMessage {
  private let bytes: UnsafeRawBufferPointer
  let latest: VectorClock

  init(checking bytes: UnsafeRawBufferPointer) throws(WireError) {
    latest = try MessageScan.check(bytes, as: BorrowedMessage.kinds)
    self.bytes = bytes
  }

  private static let kinds: [WireKind] = [.delta, .snapshot, .record]

  /// Calls `change` with every record, in order, and then `interval` with the news
  /// of each device, in order.
  func visit(
    change: (RecordChange) -> Void,
    interval: (DeviceID, SaveInterval) -> Void
  ) {
    do throws(WireError) {
      var scan = try MessageScan(bytes, as: BorrowedMessage.kinds)
      try scan.visit(change: change, interval: interval)
    } catch {
      preconditionFailure("validated bytes could not be read: \(error)")
    }
  }
}
