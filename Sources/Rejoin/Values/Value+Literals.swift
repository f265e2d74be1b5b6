// SPDX-License-Identifier: Apache-2.0

extension Value: ExpressibleByStringLiteral {
  /// Creates text.
  public init(stringLiteral text: String) { self = .string(text) }
}

extension Value: ExpressibleByIntegerLiteral {
  /// Creates a signed integer.
  public init(integerLiteral number: Int64) { self = .int(number) }
}

extension Value: ExpressibleByFloatLiteral {
  /// Creates a floating-point number.
  public init(floatLiteral number: Double) {
    self = Value.double(number).canonical
  }
}

extension Value: ExpressibleByBooleanLiteral {
  /// Creates a Boolean.
  public init(booleanLiteral flag: Bool) { self = .bool(flag) }
}
