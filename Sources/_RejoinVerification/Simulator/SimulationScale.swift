// SPDX-License-Identifier: Apache-2.0
/// The size of a simulation.
public struct SimulationScale: Hashable, Sendable {
  /// The number of devices at the start.
  public let devices: ClosedRange<Int>
  /// The number of steps, not counting changes of clocks.
  public let steps: ClosedRange<Int>

  /// Creates a scale.
  ///
  /// - Precondition: There are at least two devices.
  public init(devices: ClosedRange<Int>, steps: ClosedRange<Int>) {
    precondition(devices.lowerBound > 1, "a simulation needs two devices")
    (self.devices, self.steps) = (devices, steps)
  }

  /// A few days with 3 to 7 devices.
  public static let quick = SimulationScale(devices: 3...7, steps: 30...60)
  /// Weeks and months with 3 to 12 devices.
  public static let long = SimulationScale(devices: 3...12, steps: 60...300)
}
