// SPDX-License-Identifier: Apache-2.0

/// The optional parts in the section of the replica's own device.
private struct DeviceFlags: OptionSet {
  let rawValue: UInt8
  static let lastSaveBeforeRollback = DeviceFlags(rawValue: 1)
  static let predecessor = DeviceFlags(rawValue: 2)
  static let token = DeviceFlags(rawValue: 4)
  static let former = DeviceFlags(rawValue: 8)
  static let all: DeviceFlags = [
    .lastSaveBeforeRollback, .predecessor, .token, .former,
  ]
}

extension Identity {
  /// Writes the section of the device, with the clock of its saves.
  func writeDevice(_ hybrid: HybridClock, to message: inout MessageWriter) {
    var section = WireWriter()
    var flags: DeviceFlags = []
    if lastSaveBeforeRollback != nil { flags.insert(.lastSaveBeforeRollback) }
    if predecessor != nil { flags.insert(.predecessor) }
    if durableToken != nil { flags.insert(.token) }
    if !formerDevices.isEmpty { flags.insert(.former) }
    section.device(device)
    section.fixed(hybrid.latest.rawValue)
    section.varint(UInt64(hybrid.skewLimit))
    section.byte(flags.rawValue)
    if let lastSaveBeforeRollback { section.varint(lastSaveBeforeRollback) }
    if let predecessor { section.device(predecessor) }
    if let durableToken {
      section.varint(durableToken.sequence)
      section.fixed(durableToken.digest)
    }
    if !formerDevices.isEmpty { section.devices(formerDevices) }
    message.section(.device, section)
  }

  /// Reads the section of the device, which precedes the others.
  init(
    reading part: inout WireReader, _ hybrid: inout HybridClock
  ) throws(WireError) {
    let device = try part.device()
    let latest = Timestamp(rawValue: try part.fixed())
    let start = part.offset
    let skew = Int64(exactly: try part.varint())
    let flags = DeviceFlags(rawValue: try part.byte())
    guard let skew, DeviceFlags.all.isSuperset(of: flags) else {
      throw part.error(
        .invalid, "a maximum clock skew of 63 bits, and known flags",
        at: start)
    }
    hybrid = HybridClock(latest: latest, now: nil, skewLimit: skew)
    let rollback =
      flags.contains(.lastSaveBeforeRollback) ? try part.varint() : nil
    let predecessor = flags.contains(.predecessor) ? try part.device() : nil
    var token: RestoreToken?
    if flags.contains(.token) {
      token = RestoreToken(
        device: device, sequence: try part.varint(), digest: try part.fixed())
    }
    self.init(
      device,
      after: flags.contains(.former)
        ? try part.devices(atMost: Identity.formerLimit) : [])
    (lastSaveBeforeRollback, self.predecessor) = (rollback, predecessor)
    durableToken = token
  }

  /// Writes the section of the servers, unless it is empty.
  func writePullDevices(to message: inout MessageWriter) {
    if pullDevices.isEmpty { return }
    var section = WireWriter()
    for (server, device) in pullDevices.sorted(by: { $0.key < $1.key }) {
      section.varint(server.text.utf8.count)
      section.raw(server.text.utf8)
      section.device(device)
    }
    message.section(.servers, section)
  }

  /// Reads the section of the servers.
  mutating func readPullDevices(
    _ part: inout WireReader
  ) throws(WireError) {
    var previous: SchemaName?
    repeat {
      let start = part.offset
      let server = SchemaName(try part.text(try part.count()))
      if let previous, server <= previous {
        throw part.error(.notCanonical, "sorted servers", at: start)
      }
      setPullDevice(try part.device(), for: server)
      previous = server
    } while part.remaining > 0
  }

  /// Writes the section of the digests, unless it is empty.
  func writeDigests(to message: inout MessageWriter) {
    if ownDigests.digests.isEmpty { return }
    var section = WireWriter()
    section.varint(ownDigests.floor)
    for digest in ownDigests.digests { section.fixed(digest) }
    message.section(.digests, section)
  }

  /// Reads the section of the digests.
  mutating func readDigests(_ part: inout WireReader) throws(WireError) {
    let floor = try part.varint()
    let start = part.offset
    try part.require(
      part.remaining > 0 && part.remaining / 8 <= Int(OwnDigests.limit),
      .invalid, "from 1 to 4,096 digests", at: start)
    var digests: [UInt64] = []
    while part.remaining > 0 { digests.append(try part.fixed()) }
    ownDigests = OwnDigests(above: floor, digests)
  }
}

extension WireWriter {
  /// Writes devices in their order.
  mutating func devices(_ devices: [DeviceID]) {
    varint(devices.count)
    for device in devices { self.device(device) }
  }
}

extension WireReader {
  /// Reads devices in their order, at least one.
  mutating func devices(atMost limit: Int) throws(WireError) -> [DeviceID] {
    let start = offset
    let count = try count(of: 16)
    try require(
      1...limit ~= count, .invalid, "from 1 to \(limit) devices", at: start)
    var devices: [DeviceID] = []
    for _ in 0..<count { devices.append(try device()) }
    return devices
  }
}
