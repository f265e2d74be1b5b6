// SPDX-License-Identifier: Apache-2.0

/// The sections after the records of a message.
enum WireSection: Int {
  case histories = 1
  case forks = 2
  case device = 3
  case stability = 4
  case servers = 5
  case digests = 6
  case horizons = 7
  case removals = 8
}

extension WireSection {
  /// Whether the section belongs into such a message.
  func isPart(of reader: WireReader) -> Bool {
    switch self {
    case .histories, .forks: reader.kind != .record && reader.kind != .patch
    case .device, .stability, .servers, .digests: reader.kind == .stored
    case .horizons: reader.kind == .stored || reader.kind == .patch
    case .removals: reader.kind == .patch
    }
  }
}

extension WireWriter {
  /// A section, after its number and its length.
  mutating func section(_ id: WireSection, _ content: WireWriter) {
    pair(id.rawValue, content.bytes.count)
    raw(content.bytes)
  }

  /// Writes the digests of intervals, unless none is known, and which of their
  /// devices are forked, unless none is.
  mutating func histories(_ lines: [SaveIndex.Line]) {
    let intervals = lines.lazy.compactMap(\.interval)
    if intervals.contains(where: { $0.to.digest != 0 }) {
      var digests = WireWriter()
      for interval in intervals { digests.fixed(interval.to.digest) }
      section(.histories, digests)
    }
    guard intervals.contains(where: \.to.isForked) else { return }
    var (forks, next) = (WireWriter(), 0)
    for (place, line) in lines.enumerated()
    where line.interval?.to.isForked == true {
      forks.varint(place - next)
      next = place + 1
    }
    section(.forks, forks)
  }
}

/// What is said about the device of each interval: the digest of its history,
/// and whether it is forked.
///
/// It borrows the bytes of the message.
struct Histories {
  /// Eight bytes for each interval, in place; `nil` if no digest is known.
  private var digests: UnsafeRawBufferPointer?
  /// The indices of forked devices, ascending.
  private var forks: [Int32] = []

  mutating func readDigests(
    from part: inout WireReader, _ saves: SaveTable
  ) throws(WireError) {
    let digests = try part.take(8 * saves.intervals.count)
    guard digests.contains(where: { $0 != 0 }) else {
      throw part.error(
        .notCanonical, "at least one known digest in the section")
    }
    self.digests = digests
  }

  /// The digest of an interval.
  private func digest(of interval: Int) -> UInt64 {
    guard let digests else { return 0 }
    return UInt64(
      littleEndian: digests.loadUnaligned(
        fromByteOffset: 8 * interval, as: UInt64.self))
  }

  mutating func readForks(
    from part: inout WireReader, _ saves: SaveTable
  ) throws(WireError) {
    var (next, i) = (0, 0)
    repeat {
      let gap = try part.varint()
      guard gap < UInt64(saves.lineCount - next) else {
        throw part.error(
          .invalid, "one of the message's \(saves.lineCount) devices")
      }
      let line = next + Int(gap)
      while i < saves.intervals.count, saves.intervals[i].line < line { i += 1 }
      guard i < saves.intervals.count, saves.intervals[i].line == line else {
        throw part.error(.invalid, "forked devices that have intervals")
      }
      forks.append(Int32(line))
      next = line + 1
    } while part.remaining > 0
  }

  /// Calls `body` with each device and its interval, in order.
  func forEachInterval(
    of saves: SaveTable, _ body: (DeviceID, SaveInterval) -> Void
  ) {
    var fork = forks.startIndex
    for (i, interval) in saves.intervals.enumerated() {
      let isForked = fork < forks.endIndex && forks[fork] == interval.line
      if isForked { fork += 1 }
      body(
        saves.device(of: Int(interval.line)),
        SaveInterval(
          from: interval.from,
          to: DeviceSave(
            sequence: saves.number(
              at: Int(interval.end), of: Int(interval.line)),
            time: interval.time, digest: digest(of: i),
            isForked: isForked)))
    }
  }
}
