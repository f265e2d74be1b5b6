// SPDX-License-Identifier: Apache-2.0

extension ReplicaState {
  /// Writes the sections that are never sent to other replicas.
  func writeSections(to out: inout WireWriter) {
    writeHead(to: &out)
    identity.writeDigests(to: &out)
    writeHorizons(of: content, to: &out)
  }

  /// Writes what belongs to no record and no save.
  func writeHead(to out: inout WireWriter) {
    identity.writeDevice(hybrid, to: &out)
    if !version.stabilityCut.isEmpty || !stability.mark.isEmpty
      || !stability.passed.isEmpty
    {
      var section = WireWriter()
      section.clock(version.stabilityCut)
      section.clock(stability.mark)
      section.varint(stability.passed.count)
      var previous: DeviceID?
      for device in stability.passed.sorted() {
        section.device(device, after: previous)
        previous = device
      }
      out.section(.stability, section)
    }
    identity.writePullDevices(to: &out)
  }

  /// Writes the horizons that differ from the clocks of their fields, each with
  /// the place of its field among all that are written.
  ///
  /// - Parameter first: The position of the first record.
  func writeHorizons(
    of content: MessageContent, from first: UInt32 = 0,
    to out: inout WireWriter
  ) {
    if large.isEmpty { return }
    var (section, next) = (WireWriter(), 0)
    for (place, location) in content.locations(from: first).enumerated() {
      if let horizon = large[location]?.horizon,
        horizon != self[location]?.clock
      {
        section.varint(place - next)
        section.clock(horizon)
        next = place + 1
      }
    }
    if next > 0 { out.section(.horizons, section) }
  }

  /// Takes back the horizons of large fields.
  ///
  /// - Parameter fields: All fields, in the order in which they are written.
  /// - Returns: `false` if they are not those that would be written.
  mutating func restore(
    _ horizons: [(place: Int, horizon: VectorClock)],
    of fields: [FieldPosition]
  ) -> Bool {
    for (place, horizon) in horizons {
      guard place < fields.count, let state = self[fields[place]],
        state.kind.supportsFragments, horizon != state.clock,
        horizon.isContained(in: state.clock)
      else { return false }
      large[fields[place]] = LargeField(horizon: horizon)
    }
    return true
  }
}

/// Reads what ``ReplicaState/writeSections(to:)`` wrote.
struct StoredSections {
  private(set) var hasDevice = false
  /// The horizon of some large fields, each with the place of its field among all.
  private(set) var horizons: [(place: Int, horizon: VectorClock)] = []
  /// The elements that some large sets have lost, each with the place of its field
  /// among all.
  private(set) var removals: [(place: Int, elements: [Value])] = []

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
    case .removals: try readRemovals(&part)
    case .histories, .forks: _ = try part.take(part.remaining)
    }
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

  private mutating func readRemovals(
    _ part: inout WireReader
  ) throws(WireError) {
    var next = 0
    repeat {
      let place = try StoredSections.place(&next, &part)
      let start = part.offset
      var elements: [Value] = []
      for _ in 0..<(try part.count(of: 1)) {
        elements.append(try part.element())
      }
      guard !elements.isEmpty, zip(elements, elements.dropFirst()).allSatisfy(<)
      else {
        throw part.error(.notCanonical, "sorted elements", at: start)
      }
      removals.append((place, elements))
    } while part.remaining > 0
  }

  /// Reads the place of a field.
  ///
  /// - Parameter next: The least that it can be.
  private static func place(
    _ next: inout Int, _ part: inout WireReader
  ) throws(WireError) -> Int {
    let start = part.offset
    let gap = try part.varint()
    guard gap < UInt64(Int32.max - Int32(clamping: next)) else {
      throw part.error(.invalid, "one of the fields", at: start)
    }
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
    guard !cut.isEmpty || !mark.isEmpty || !passed.isEmpty else {
      throw part.error(
        .notCanonical, "no section for an empty stability cut and mark",
        at: start)
    }
    stored.version.stabilityCut = cut
    stored.stability = Stability(mark: mark, passed: passed)
  }
}
