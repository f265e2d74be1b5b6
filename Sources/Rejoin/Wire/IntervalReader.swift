// SPDX-License-Identifier: Apache-2.0

/// Reads the intervals of a message after all of its other parts.
struct IntervalReader {
  private var reader: WireReader
  private var scan: DeviceScan
  private let saves: SaveTable
  private var line = -1
  private var isKnown = false

  /// The section of digests, if there is one.
  var histories: WireReader?
  /// The section of forked devices, if there is one.
  var forks: WireReader?
  /// The next forked device, by its index.
  private var forked: Int?
  private var nextLine = 0

  init(_ reader: WireReader, count: Int, _ saves: SaveTable) {
    self.reader = reader
    scan = DeviceScan(count: count)
    self.saves = saves
  }

  /// Reads the next interval; `nil` if there is none left.
  mutating func next() throws(WireError) -> (DeviceID, SaveInterval)? {
    while let block = try scan.next(from: &reader) {
      line += 1
      for _ in 0..<block.count { _ = try scan.time(from: &reader) }
      if block.hasInterval { return (block.device, try interval(block)) }
    }
    try histories?.finish()
    try forks?.finish()
    if let histories, !isKnown {
      throw histories.error(
        .notCanonical, "at least one known digest in the section")
    }
    if let forks, forked != nil || nextLine == 0 {
      throw forks.error(.invalid, "forked devices that have intervals")
    }
    return nil
  }

  private mutating func interval(
    _ block: DeviceScan.Block
  ) throws(WireError) -> SaveInterval {
    let place = saves.places(of: line).upperBound - 1 - block.distance
    let n = saves.number(at: place, of: line)
    let from = try begin(of: block, n)
    let (time, overflow) = saves.time(at: place)
      .addingReportingOverflow(block.extra)
    guard !overflow else {
      throw reader.error(.invalid, "a timestamp of 64 bits")
    }
    let digest = try histories?.fixed() ?? 0
    isKnown = isKnown || digest != 0
    return SaveInterval(
      from: from,
      to: DeviceSave(
        sequence: n, time: Timestamp(rawValue: time), digest: digest,
        isForked: try isForked()))
  }

  private func begin(
    of block: DeviceScan.Block, _ sequence: UInt64
  ) throws(WireError) -> UInt64 {
    guard let step = block.step else { return 0 }
    guard step < sequence else {
      throw reader.error(
        .invalid, "an interval of at most \(sequence) saves")
    }
    return sequence - 1 - step
  }

  private mutating func isForked() throws(WireError) -> Bool {
    try nextFork()
    guard forked == line else { return false }
    forked = nil
    return true
  }

  /// Reads the next forked device, if it is not yet known.
  private mutating func nextFork() throws(WireError) {
    guard forked == nil, var part = forks, part.remaining > 0 else { return }
    let gap = try part.varint()
    guard gap < UInt64(saves.lineCount - nextLine) else {
      throw part.error(
        .invalid, "one of the message's \(saves.lineCount) devices")
    }
    forks = part
    forked = nextLine + Int(gap)
    nextLine += Int(gap) + 1
  }
}
