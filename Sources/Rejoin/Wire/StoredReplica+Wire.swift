//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

extension StoredReplica {
  /// Reads what ``encoded()`` wrote.
  ///
  /// - Throws: ``WireError``, with the place and what should have been there.
  /// - Complexity: O(*n*) for *n* bytes.
  public init(
    decoding bytes: some Sequence<UInt8>
  ) throws(WireError) {
    self = try withBytes(of: bytes) { bytes throws(WireError) in
      _ = try MessageScan.check(bytes, as: [.stored])
      return try StoredReplica(reading: bytes)
    }
  }

  private init(
    reading bytes: UnsafeRawBufferPointer
  ) throws(WireError) {
    var stored = StoredReplica(device: DeviceID(0), hybrid: HybridClock())
    var scan = try MessageScan(bytes, as: [.stored])
    var clock = ReplicaClock()
    var sections = StoredSections()
    try scan.visit {
      stored.load($0)
    } interval: { device, interval in
      clock.insert(interval.to, of: device)
    } section: { section, part throws(WireError) in
      try sections.read(section, &part)
    }
    guard let own = sections.own else {
      throw WireError(
        code: .truncated, offset: bytes.count - WireChecksum.size,
        expected: "the section of the device")
    }
    let saved = clock[own.device].n
    guard
      own.mustRenew
        || sections.digests.count == saved
          && stored.index.last(of: own.device) <= saved
    else {
      throw WireError(
        code: .invalid, offset: bytes.count - WireChecksum.size,
        expected: "as many saves of the device as its clock says")
    }
    stored.clock = clock
    (stored.device, stored.hybrid) = (own.device, own.hybrid)
    stored.mustRenew = own.mustRenew
    stored.acknowledged = sections.acknowledged
    stored.missing = sections.missing
    stored.ownDigests = sections.digests
    stored.aside = sections.aside
    self = stored
  }

  private mutating func load(_ change: Delta.Change) {
    let position = intern(change.id)
    for (key, state) in change.fields.sorted(by: { $0.key < $1.key }) {
      update(key, at: position) { $0 = state }
    }
  }

  /// Everything the replica has to keep, as bytes for its own device.
  ///
  /// They also hold what never travels: the device itself, and what others have
  /// acknowledged. To send a replica's records elsewhere, take a
  /// ``Snapshot``.
  ///
  /// - Complexity: O(*n*) for *n* bytes.
  public func encoded() -> [UInt8] {
    let changes = records.indices.map { change(at: $0) }
      .filter { !$0.fields.isEmpty }.sorted { $0.id < $1.id }
    var intervals: [DeviceID: Delta.Interval] = [:]
    for entry in clock.vector.entries {
      intervals[entry.device] = .init(from: 0, to: clock[entry.device])
    }
    var message = MessageWriter(changes, intervals, as: .stored, .current)
    writeSections(to: &message.out)
    return message.out.sealed()
  }

  private func writeSections(to out: inout WireWriter) {
    func add(_ id: WireSection, _ body: (inout WireWriter) -> Void) {
      var section = WireWriter(sectionOf: .current)
      body(&section)
      if !section.bytes.isEmpty { out.section(id, section) }
    }
    add(.device) {
      $0.raw(device.bytes)
      $0.fixed(hybrid.latest.rawValue)
      $0.signed(hybrid.drag)
      $0.byte(mustRenew ? 1 : 0)
    }
    add(.acknowledgements) { section in
      var previous: DeviceID?
      for (device, clock) in acknowledged.sorted(by: { $0.key < $1.key }) {
        section.device(device, after: previous)
        section.clock(clock)
        previous = device
      }
    }
    add(.missing) { section in
      var previous: DeviceID?
      for (device, n) in missing.sorted(by: { $0.key < $1.key }) {
        section.device(device, after: previous)
        section.varint(n)
        previous = device
      }
    }
    add(.digests) { for digest in ownDigests { $0.fixed(digest) } }
    add(.aside) {
      for delta in aside {
        let bytes = delta.encoded()
        $0.varint(bytes.count)
        $0.raw(bytes)
      }
    }
  }
}

/// The sections of a stored replica that is being read.
private struct StoredSections {
  struct Own {
    let device: DeviceID
    let hybrid: HybridClock
    let mustRenew: Bool
  }

  var own: Own?
  var acknowledged: [DeviceID: VectorClock] = [:]
  var missing: [DeviceID: UInt64] = [:]
  var digests: [UInt64] = []
  var aside: [Delta] = []

  mutating func read(
    _ section: WireSection, _ part: inout WireReader
  ) throws(WireError) {
    var previous: DeviceID?
    guard part.remaining > 0 else {
      throw part.error(.notCanonical, "no empty section")
    }
    if section == .device { own = try StoredSections.own(&part) }
    while part.remaining > 0 {
      switch section {
      case .acknowledgements:
        let device = try part.device(after: previous)
        acknowledged[device] = try part.clock()
        previous = device
      case .missing:
        let device = try part.device(after: previous)
        missing[device] = try part.number()
        previous = device
      case .digests: digests.append(try part.fixed())
      case .aside: aside.append(try StoredSections.message(&part))
      default: throw part.error(.invalid, "the end of the section")
      }
    }
  }

  /// A message that was kept aside, in the version of the whole.
  private static func message(
    _ part: inout WireReader
  ) throws(WireError) -> Delta {
    let count = try part.count()
    let start = part.offset
    do throws(WireError) {
      let message = try EncodedMessage(
        checking: Array(try part.take(count)), as: .delta)
      guard message.version == part.version else {
        throw WireError(
          code: .notCanonical, offset: 2,
          expected: "a message of version \(part.version)")
      }
      return Delta(message)
    } catch {
      throw WireError(
        code: error.code, offset: start + error.offset,
        expected: error.expected)
    }
  }

  private static func own(_ part: inout WireReader) throws(WireError) -> Own {
    let device = try part.device(after: nil)
    let latest = Timestamp(rawValue: try part.fixed())
    let start = part.offset
    let drag = try part.signed()
    let flag = try part.byte()
    guard drag >= 0, flag < 2 else {
      throw part.error(.invalid, "a drag bound and a flag", at: start)
    }
    return Own(
      device: device, hybrid: HybridClock(latest: latest, drag: drag),
      mustRenew: flag == 1)
  }
}
