// SPDX-License-Identifier: Apache-2.0
/// How much happens in a simulation.
public struct SimulationScale: Hashable, Sendable {
  /// How many devices there are at the beginning.
  public let devices: ClosedRange<Int>
  /// How many steps there are, settings of clocks aside.
  public let steps: ClosedRange<Int>

  /// Creates a scale.
  ///
  /// - Precondition: There are two devices or more.
  public init(devices: ClosedRange<Int>, steps: ClosedRange<Int>) {
    precondition(devices.lowerBound > 1, "a simulation needs two devices")
    (self.devices, self.steps) = (devices, steps)
  }

  /// A few days with 3 to 7 devices.
  public static let quick = SimulationScale(devices: 3...7, steps: 30...60)
  /// Weeks and months with 3 to 12 devices.
  public static let long = SimulationScale(devices: 3...12, steps: 60...300)
}
