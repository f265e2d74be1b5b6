// SPDX-License-Identifier: Apache-2.0

/// The pull devices of an installation, by the server's name.
struct Pullers: Equatable, Sendable {
  private var devices: [Name: DeviceID] = [:]
  /// The inverse of `devices`.
  private var servers: [DeviceID: Name] = [:]

  subscript(server: Name) -> DeviceID? {
    get { devices[server] }
    set {
      if let old = devices[server] { servers[old] = nil }
      devices[server] = newValue
      if let newValue { servers[newValue] = server }
    }
  }

  var isEmpty: Bool { devices.isEmpty }
  var count: Int { devices.count }

  /// The devices, in no particular order.
  var values: some Collection<DeviceID> { devices.values }

  /// The servers and the devices, sorted by server.
  var sorted: [(key: Name, value: DeviceID)] {
    devices.sorted { $0.key < $1.key }
  }

  func contains(_ device: DeviceID) -> Bool { servers[device] != nil }
}
