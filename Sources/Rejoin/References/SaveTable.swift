// SPDX-License-Identifier: Apache-2.0

/// The devices, saves and intervals of a message.
///
/// A message lists each save once, with its timestamp, and fields refer to it by
/// its index among all saves, its *place*.
///
/// The table of a message that was read takes at most 16 times its bytes: a save
/// takes at least two bytes there and 24 here, and a device 17 there and 80 here.
struct SaveTable: Sendable {
  struct Save {
    let sequence: UInt64
    /// The least timestamp of what the save has written in the message, or zero if
    /// nothing of that has one.
    let time: UInt64
    /// How the fields of a message that is being validated refer to the save.
    var uses: SaveUses = []
  }

  struct Line: DeviceEntry {
    let device: DeviceID
    /// The place of its first save.
    let start: Int32
    /// The greatest sequence number of the device that anything in the message
    /// refers to.
    var latest: UInt64 = 0
    /// What a reader knows before the interval.
    fileprivate(set) var flags: Flags = []
    /// Ends at one of the saves.
    var interval: SaveInterval?
  }

  struct Flags: OptionSet {
    let rawValue: UInt8
    /// The device has an interval.
    static let hasInterval = Flags(rawValue: 1)
    /// The interval does not end with the last save listed and its timestamp.
    static let endsElsewhere = Flags(rawValue: 2)
    /// The device is forked.
    static let isForked = Flags(rawValue: 4)
  }

  /// Sorted by device.
  var lines: [Line] = []
  /// Sorted by device and number.
  var saves: [Save] = []
  /// The number of saves, once all devices have been added.
  private(set) var count = 0

  /// Adds a device after all others, and says how many saves of it follow.
  mutating func add(_ device: DeviceID, saves: Int, _ flags: Flags = []) {
    lines.append(Line(device: device, start: Int32(count), flags: flags))
    count += saves
  }

  /// Notes that something refers to a save of a device.
  mutating func see(_ sequence: UInt64, of line: Int) {
    if sequence > lines[line].latest { lines[line].latest = sequence }
  }

  /// The places of a device's saves.
  func places(of line: Int) -> Range<Int> {
    let end = line + 1 < lines.count ? Int(lines[line + 1].start) : count
    return Int(lines[line].start)..<end
  }

  /// The place of a device's save.
  func place(of sequence: UInt64, of line: Int) -> Int {
    let places = places(of: line)
    let first = saves[places.lowerBound].sequence
    // Where the numbers have no gaps, no search is needed.
    let guess = sequence - first
    if guess < UInt64(places.count),
      saves[places.lowerBound + Int(guess)].sequence == sequence
    {
      return places.lowerBound + Int(guess)
    }
    return saves[places].partitioningIndex { $0.sequence >= sequence }
  }

  /// The device of a save, of several with one start the last.
  func line(at place: Int) -> Int {
    lines.partitioningIndex { $0.start > place } - 1
  }

  /// The greatest sequence number of a device that anything refers to.
  func latest(of device: DeviceID) -> UInt64 {
    lines.entry(of: device)?.latest ?? 0
  }

  /// Each device that has an interval, and the interval.
  var intervals: some Sequence<(DeviceID, SaveInterval)> {
    lines.lazy.compactMap { line in line.interval.map { (line.device, $0) } }
  }
}

/// How something in a message refers to a save.
struct SaveUses: OptionSet {
  let rawValue: UInt8
  static let isReferred = SaveUses(rawValue: 1)
  /// Something has a timestamp of the save.
  static let isStamped = SaveUses(rawValue: 2)
  /// Something has the timestamp that the message gives the save.
  static let isExact = SaveUses(rawValue: 4)
}

extension SaveTable {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      precondition(count == saves.count, "\(count) saves were announced")
      precondition(
        zip(lines, lines.dropFirst()).allSatisfy {
          $0.device < $1.device && $0.start <= $1.start
        }, "the devices or their saves are not sorted")
      for line in lines.indices {
        for place in places(of: line) {
          precondition(
            self.place(of: saves[place].sequence, of: line) == place,
            "a save of \(lines[line].device) is not found")
        }
      }
    #endif
  }
}
