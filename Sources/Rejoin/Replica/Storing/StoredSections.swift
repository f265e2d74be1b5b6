// SPDX-License-Identifier: Apache-2.0

extension ReplicaState {
  /// Writes the sections that do not belong to a record or a save.
  func writeHead(to message: inout MessageWriter) {
    identity.writeDevice(hybrid, to: &message)
    if !version.stabilityCut.isEmpty || !stability.mark.isEmpty
      || !stability.passed.isEmpty
    {
      var section = WireWriter()
      section.clock(version.stabilityCut)
      section.clock(stability.mark)
      section.varint(stability.passed.count)
      for device in stability.passed.sorted() { section.device(device) }
      message.section(.stability, section)
    }
    identity.writePullDevices(to: &message)
  }

  /// Writes the prefixes of the version.
  func writePrefixes(to message: inout MessageWriter) {
    if version.devicePrefixes.isEmpty { return }
    var section = WireWriter()
    section.prefixes(version.prefixes)
    message.section(.prefixes, section)
  }

  /// Writes the horizons that differ from the clocks of their fields.
  ///
  /// Each horizon follows the place of its field among all written fields.
  ///
  /// - Parameter first: The position of the first record.
  func writeHorizons(
    of content: MessageContent, from first: UInt32 = 0,
    to message: inout MessageWriter
  ) {
    if largeFields.isEmpty { return }
    var (section, next) = (WireWriter(), 0)
    for (place, location) in content.locations(from: first).enumerated() {
      if let horizon = largeFields[location]?.horizon,
        horizon != self[location]?.clock
      {
        section.varint(place - next)
        section.clock(horizon)
        next = place + 1
      }
    }
    message.section(.horizons, section)
  }

  /// Restores the horizons of large fields.
  ///
  /// - Parameter fields: All fields, in the order of the message.
  /// - Returns: `false` if the message could not have these horizons.
  mutating func restore(
    _ horizons: [(place: Int, horizon: VectorClock)],
    of fields: [FieldPosition]
  ) -> Bool {
    for (place, horizon) in horizons {
      guard place < fields.count, let state = self[fields[place]],
        state.kind.supportsFragments, horizon != state.clock,
        horizon.isContained(in: state.clock)
      else { return false }
      largeFields[fields[place]] = LargeField(horizon: horizon)
    }
    return true
  }
}

/// The contents of the sections of a stored replica.
struct StoredSections {
  private(set) var hasDevice = false
  /// The prefixes of the version.
  private(set) var prefixes: [ReplicaVersion.Prefix] = []
  /// The horizons of some large fields, each with the place of its field.
  private(set) var horizons: [(place: Int, horizon: VectorClock)] = []

  mutating func read(
    _ section: WireSection, into stored: inout ReplicaState,
    _ part: inout WireReader
  ) throws(WireError) {
    switch section {
    case .device:
      hasDevice = true
      stored.identity = try Identity(reading: &part, &stored.hybrid)
    case .stability: try StoredSections.readStability(into: &stored, &part)
    case .servers: try stored.identity.readPullDevices(&part)
    case .digests: try stored.identity.readDigests(&part)
    case .horizons: try readHorizons(&part)
    case .prefixes: try readPrefixes(&part)
    case .range: break
    }
  }

  private mutating func readPrefixes(
    _ part: inout WireReader
  ) throws(WireError) {
    let start = part.offset
    prefixes = try part.prefixes()
    try part.require(
      !prefixes.isEmpty, .notCanonical, "no section for no prefix", at: start)
  }

  private mutating func readHorizons(
    _ part: inout WireReader
  ) throws(WireError) {
    var next = 0
    repeat {
      horizons.append(
        (try StoredSections.place(&next, &part), try part.clock()))
    } while part.remaining > 0
  }

  /// Reads the place of a field.
  ///
  /// - Parameter next: The smallest possible place.
  private static func place(
    _ next: inout Int, _ part: inout WireReader
  ) throws(WireError) -> Int {
    let start = part.offset
    let gap = try part.varint()
    try part.require(
      gap < UInt64(Int32.max - Int32(clamping: next)), .invalid,
      "one of the fields", at: start)
    defer { next += Int(gap) + 1 }
    return next + Int(gap)
  }

  private static func readStability(
    into stored: inout ReplicaState, _ part: inout WireReader
  ) throws(WireError) {
    let start = part.offset
    let (cut, mark) = (try part.clock(), try part.clock())
    var passed: Set<DeviceID> = []
    var previous: DeviceID?
    for _ in 0..<(try part.count(of: 1)) {
      let device = try part.device(after: previous)
      passed.insert(device)
      previous = device
    }
    try part.require(
      !cut.isEmpty || !mark.isEmpty || !passed.isEmpty, .notCanonical,
      "no section for an empty stability cut and mark", at: start)
    stored.version.stabilityCut = cut
    stored.stability = Stability(mark: mark, passed: passed)
  }
}
