// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// The greatest number of each name.
///
/// The maximum number marks a removed name. The bytes are the count of names,
/// and each name with its number as a varint, in order.
struct FaultyBytes: Lattice {
  enum Fault: CaseIterable {
    /// Numbers are written in seven bits.
    case lossy
    /// The names are in the order of their arrival.
    case arrivalOrder
    /// The names are in the order of the dictionary.
    case dictionaryOrder
    /// Removed names are neither written nor compared.
    case forgetsRemovals
    /// Another byte counts merges.
    case countsMerges
    /// Another byte counts readings.
    case countsReadings
    /// Trailing bytes are ignored.
    case trailingBytes
    /// A number may end in redundant zeros.
    case longNumbers
    /// Missing bytes count as zero.
    case missingIsZero
    /// Names may be in any order, and twice.
    case anyOrder
    /// Written bytes cannot be read.
    case refusesAll
    /// Some values cannot be written.
    case throwsErrors
  }

  struct Refused: Error {}

  static let gone: UInt64 = 1_000

  let fault: Fault?
  private(set) var numbers: [UInt8: UInt64] = [:]
  private(set) var arrivals: [UInt8] = []
  private(set) var count: UInt8 = 0

  init(_ fault: Fault? = nil) { self.fault = fault }

  mutating func merge(_ other: FaultyBytes) {
    if fault == .countsMerges { count &+= 1 }
    for name in other.arrivals { set(name, other.numbers[name] ?? 0) }
  }

  mutating func set(_ name: UInt8, _ number: UInt64) {
    if numbers[name] == nil { arrivals.append(name) }
    numbers[name] = max(numbers[name] ?? 0, number)
  }

  mutating func change(
    _ device: DeviceID, _ random: inout SeededRandom
  ) -> FaultyBytes {
    let name = UInt8(random.number(below: 12))
    let isRemoval = random.chance(percent: 20)
    let number = (numbers[name] ?? 0) + UInt64(random.number(below: 100))
    var delta = FaultyBytes(fault)
    delta.set(name, isRemoval ? Self.gone : min(number, Self.gone))
    merge(delta)
    return delta
  }

  /// The compared part.
  fileprivate var visible: [UInt8: UInt64] {
    fault == .forgetsRemovals
      ? numbers.filter { $0.value < Self.gone } : numbers
  }
}

extension FaultyBytes: Hashable {
  static func == (a: FaultyBytes, b: FaultyBytes) -> Bool {
    a.visible == b.visible
  }

  func hash(into hasher: inout Hasher) { hasher.combine(visible) }
}

extension FaultyBytes {
  func encoded() throws -> [UInt8] {
    let visible = visible
    if fault == .throwsErrors, visible.count > 2 { throw Refused() }
    let names =
      switch fault {
      case .arrivalOrder: arrivals
      case .dictionaryOrder: Array(visible.keys)
      default: visible.keys.sorted()
      }
    var bytes = [UInt8(names.count)]
    for name in names {
      bytes.append(name)
      var rest = visible[name] ?? 0
      while rest > 127, fault != .lossy {
        bytes.append(UInt8(rest & 127) | 128)
        rest >>= 7
      }
      bytes.append(UInt8(rest & 127))
    }
    if isCounting { bytes.append(count) }
    return bytes
  }

  private var isCounting: Bool {
    fault == .countsMerges || fault == .countsReadings
  }

  init(_ fault: Fault?, decoding bytes: [UInt8]) throws {
    self.init(fault)
    if fault == .refusesAll { throw Refused() }
    var rest = bytes[...]
    func byte() throws -> UInt8 {
      if let byte = rest.popFirst() { return byte }
      if fault == .missingIsZero { return 0 }
      throw Refused()
    }
    let isSorted =
      ![.anyOrder, .arrivalOrder, .dictionaryOrder].contains(fault)
    var last: UInt8?
    for _ in 0..<(try byte()) {
      let name = try byte()
      if let last, isSorted, name <= last { throw Refused() }
      last = name
      set(name, try FaultyBytes.number(fault, byte))
    }
    if isCounting { count = try byte() &+ (fault == .countsReadings ? 1 : 0) }
    if fault != .trailingBytes, !rest.isEmpty { throw Refused() }
  }

  private static func number(
    _ fault: Fault?, _ byte: () throws -> UInt8
  ) throws -> UInt64 {
    var (number, shift) = (0 as UInt64, 0 as UInt64)
    while true {
      let next = try byte()
      number |= UInt64(next & 127) << shift
      if next < 128 {
        if next == 0, shift > 0, fault != .longNumbers { throw Refused() }
        if number > gone { throw Refused() }
        return number
      }
      shift += 7
      if shift > 14 { throw Refused() }
    }
  }
}
