// SPDX-License-Identifier: Apache-2.0

/// The devices, saves and intervals of a message.
///
/// A message lists each save once, with its timestamp. Fields refer to a save
/// by its index among all saves, its *place*.
///
/// The table takes at most 16 times the bytes of a received message. A save
/// takes 24 bytes here and at least 2 in the message. A device takes 80 bytes
/// here and at least 17 in the message.
struct SaveTable: Sendable {
  struct Save {
    let sequence: UInt64
    /// The least timestamp of the save's content in the message, or zero
    /// without timestamps.
    let time: UInt64
    /// The references of fields to the save, recorded during validation.
    var uses: SaveUses = []
  }

  struct Line: DeviceEntry {
    let device: DeviceID
    /// The place of the device's first save.
    let start: Int32
    /// The greatest sequence number of the device that the message refers to.
    var latest: UInt64 = 0
    /// The flags that a reader gets before the interval.
    fileprivate(set) var flags: Flags = []
    /// The interval of the device, which ends at one of the saves.
    var interval: SaveInterval?
  }

  struct Flags: OptionSet {
    let rawValue: UInt8
    /// The device has an interval.
    static let hasInterval = Flags(rawValue: 1)
    /// The interval does not end with the last listed save and its timestamp.
    static let endsElsewhere = Flags(rawValue: 2)
    /// The device is forked.
    static let isForked = Flags(rawValue: 4)
  }

  /// Sorted by device.
  var lines: [Line] = []
  /// Sorted by device and number.
  var saves: [Save] = []
  /// The number of saves of all devices, including saves not yet added.
  private(set) var count = 0

  /// Adds a device after the others, with the number of its saves.
  mutating func add(_ device: DeviceID, saves: Int, _ flags: Flags = []) {
    lines.append(Line(device: device, start: Int32(count), flags: flags))
    count += saves
  }

  /// Records that the message refers to a save of a device.
  mutating func see(_ sequence: UInt64, of line: Int) {
    if sequence > lines[line].latest { lines[line].latest = sequence }
  }

  /// Returns the places of a device's saves.
  func places(of line: Int) -> Range<Int> {
    let end = line + 1 < lines.count ? Int(lines[line + 1].start) : count
    return Int(lines[line].start)..<end
  }

  /// Returns the place of a device's save.
  func place(of sequence: UInt64, of line: Int) -> Int {
    let places = places(of: line)
    let first = saves[places.lowerBound].sequence
    // If the numbers are contiguous, no search is needed.
    let guess = sequence - first
    if guess < UInt64(places.count),
      saves[places.lowerBound + Int(guess)].sequence == sequence
    {
      return places.lowerBound + Int(guess)
    }
    return saves[places].partitioningIndex { $0.sequence >= sequence }
  }

  /// Returns the index of the device of a save.
  ///
  /// If several devices have one start, the last one contains the save.
  func line(at place: Int) -> Int {
    lines.partitioningIndex { $0.start > place } - 1
  }

  /// Returns the greatest sequence number of a device in the message, or zero.
  func latest(of device: DeviceID) -> UInt64 {
    lines.entry(of: device)?.latest ?? 0
  }

  /// The devices with an interval, and their intervals.
  var intervals: some Sequence<(DeviceID, SaveInterval)> {
    lines.lazy.compactMap { line in line.interval.map { (line.device, $0) } }
  }
}

/// The uses of a save in a message.
struct SaveUses: OptionSet {
  let rawValue: UInt8
  static let isReferred = SaveUses(rawValue: 1)
  /// The message uses a timestamp of the save.
  static let isStamped = SaveUses(rawValue: 2)
  /// The message uses the timestamp that the table lists for the save.
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
