// SPDX-License-Identifier: Apache-2.0

/// A signed 128-bit integer for sums of many `Int64` and `UInt64` numbers.
///
///     let sum = WideInt(UInt64.max) + 1
///     sum                     // 18446744073709551616
///     Int64(clamping: sum)    // Int64.max
///
/// The standard library's `Int128` requires iOS 18 and macOS 15.
public struct WideInt: Hashable, Sendable {
  /// The upper and the lower half, in two's complement.
  let high: Int64
  let low: UInt64

  @inline(__always)
  init(high: Int64, low: UInt64) {
    (self.high, self.low) = (high, low)
  }

  /// Creates a number from an `Int64`.
  @inline(__always)
  public init(_ number: Int64) {
    self.init(high: number >> 63, low: UInt64(bitPattern: number))
  }

  /// Creates a number from a `UInt64`.
  @inline(__always)
  public init(_ number: UInt64) { self.init(high: 0, low: number) }

  /// The greatest number, 2¹²⁷ − 1.
  public static let max = WideInt(high: .max, low: .max)

  /// The least number, −2¹²⁷.
  public static let min = WideInt(high: .min, low: 0)

  /// The magnitude as two halves.
  private var magnitude: (high: UInt64, low: UInt64) {
    let (high, low) = (UInt64(bitPattern: high), low)
    if self.high >= 0 { return (high, low) }
    return (~high &+ (low == 0 ? 1 : 0), ~low &+ 1)
  }

  /// Returns whether the number lies between −`bound` and `bound`, inclusive.
  func isWithin(_ bound: WideInt) -> Bool { -bound <= self && self <= bound }
}

extension WideInt: ExpressibleByIntegerLiteral {
  /// Creates a number from a literal.
  @inline(__always)
  public init(integerLiteral number: Int64) { self.init(number) }
}

extension WideInt: Comparable {
  /// Returns whether a number is less than another.
  @inline(__always)
  public static func < (a: WideInt, b: WideInt) -> Bool {
    (a.high, a.low) < (b.high, b.low)
  }
}

extension WideInt: AdditiveArithmetic {
  /// Returns the sum of two numbers.
  ///
  /// - Precondition: The sum has at most 128 bits.
  @inline(__always)
  public static func + (a: WideInt, b: WideInt) -> WideInt {
    let (sum, overflow) = a.addingReportingOverflow(b)
    precondition(!overflow, "A sum must have at most 128 bits.")
    return sum
  }

  /// Returns the difference of two numbers.
  ///
  /// - Precondition: The difference has at most 128 bits.
  @inline(__always)
  public static func - (a: WideInt, b: WideInt) -> WideInt {
    let (low, borrow) = a.low.subtractingReportingOverflow(b.low)
    let (part, first) = a.high.subtractingReportingOverflow(b.high)
    let (high, second) = part.subtractingReportingOverflow(borrow ? 1 : 0)
    // If both steps overflow, they cancel each other.
    precondition(first == second, "A difference must have at most 128 bits.")
    return WideInt(high: high, low: low)
  }

  /// Returns the number with the opposite sign.
  ///
  /// - Precondition: The number is not ``min``.
  public static prefix func - (number: WideInt) -> WideInt { 0 - number }

  @inline(__always)
  func addingReportingOverflow(_ other: WideInt) -> (WideInt, overflow: Bool) {
    let (low, carry) = low.addingReportingOverflow(other.low)
    let (part, first) = high.addingReportingOverflow(other.high)
    let (high, second) = part.addingReportingOverflow(carry ? 1 : 0)
    return (WideInt(high: high, low: low), first != second)
  }
}

extension Int64 {
  /// Creates the `Int64` closest to a wider number.
  @inline(__always)
  public init(clamping number: WideInt) {
    let low = Int64(bitPattern: number.low)
    self =
      number.high == low >> 63 ? low : number.high < 0 ? .min : .max
  }
}

extension UInt64 {
  /// Creates the `UInt64` with the value of a wider number, or returns `nil` if
  /// it does not fit.
  init?(exactly number: WideInt) {
    guard number.high == 0 else { return nil }
    self = number.low
  }
}

extension WideInt: CustomStringConvertible {
  private static let chunk: UInt64 = 1_000_000_000_000_000_000

  /// The decimal digits, with a minus sign if the number is negative.
  public var description: String {
    var (rest, text) = (magnitude, "")
    while true {
      let (quotient, upper) = rest.high.quotientAndRemainder(
        dividingBy: Self.chunk)
      let (lower, digits) = Self.chunk.dividingFullWidth((upper, rest.low))
      rest = (quotient, lower)
      if rest == (0, 0) {
        return (high < 0 ? "-" : "") + String(digits) + text
      }
      let part = String(digits)
      text = String(repeating: "0", count: 18 - part.utf8.count) + part + text
    }
  }

  /// Creates a number from decimal digits in the form of ``description``.
  ///
  /// Returns `nil` for other forms, such as a plus sign or leading zeros, so a
  /// number has one encoded form.
  init?(digits text: String) {
    let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
    let isNegative = digits.count < text.utf8.count
    var (high, low): (UInt64, UInt64) = (0, 0)
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else {
        return nil
      }
      let lower = low.multipliedFullWidth(by: 10)
      let (upper, overflow) = high.multipliedReportingOverflow(by: 10)
      let (sum, carry) = lower.low.addingReportingOverflow(
        UInt64(digit - UInt8(ascii: "0")))
      let (top, isTooLarge) = upper.addingReportingOverflow(
        lower.high + (carry ? 1 : 0))
      if overflow || isTooLarge { return nil }
      (high, low) = (top, sum)
    }
    let limit: UInt64 = 1 << 63
    if high > limit || high == limit && (low > 0 || !isNegative) { return nil }
    if isNegative {
      self.init(
        high: Int64(bitPattern: ~high &+ (low == 0 ? 1 : 0)), low: ~low &+ 1)
    } else {
      self.init(high: Int64(high), low: low)
    }
    if description != text { return nil }
  }
}
