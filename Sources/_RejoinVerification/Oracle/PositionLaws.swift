// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The laws of positions for any bytes.
public enum PositionLaws {
  private struct Item: Entity {
    let position = lww("position", of: Position.self)
  }

  /// Checks that bytes read as a position if and only if they are one, and that a save
  /// makes the defined positions on both sides of it.
  public static func check(_ bytes: [UInt8]) throws(ScriptMismatch) {
    let value = Value.bytes(bytes)
    let (position, model) = (Position(fieldValue: value), OraclePosition(value))
    try agree("bytes are a position", position != nil, model != nil)
    guard let position, let model else { return }
    try agree("the bytes of a position", position.fieldValue, value)
    for device in [DeviceID(1), DeviceID(2)] {
      try check(position, model, on: device)
    }
  }

  private static func check(
    _ position: Position, _ model: OraclePosition, on device: DeviceID
  ) throws(ScriptMismatch) {
    let replica = Replica(
      device: device, schema: [Item.self], wallClock: WallClock { 1_000_000 },
      makeDeviceID: { DeviceID(9) })
    var made: [Position] = []
    do {
      try replica.save { transaction in
        let left = transaction.position(between: nil, and: position)
        let right = transaction.position(between: position, and: nil)
        made = [
          left, right, transaction.position(between: left, and: position),
          transaction.position(between: position, and: right),
        ]
      }
    } catch .positionTooLong { return } catch {
      throw ScriptMismatch("a position is refused: \(error)")
    }
    let ordered = [made[0], made[2], position, made[3], made[1]]
    try agree(
      "positions in order", zip(ordered, ordered.dropFirst()).allSatisfy(<),
      true)
    let dot = Dot(device, 1)
    let left = OraclePosition.between(nil, model, at: dot, count: 0)
    let right = OraclePosition.between(model, nil, at: dot, count: 1)
    let defined = [
      left, right, .between(left, model, at: dot, count: 2),
      .between(model, right, at: dot, count: 3),
    ]
    try agree("made positions", made.map(\.fieldValue), defined.map(\.value))
  }
}
