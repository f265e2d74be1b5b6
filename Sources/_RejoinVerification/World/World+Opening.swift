// SPDX-License-Identifier: Apache-2.0
import Rejoin

// Opening stored states.
extension World {
  /// Returns whether two devices may use a device ID, so one of them replaces
  /// it eventually.
  func isSuspect(_ i: Int) -> Bool {
    peers[i].needsNewDeviceID || suspects.contains(peers[i].model.device)
  }

  mutating func restore(
    _ i: Int, from k: Int, with token: ScriptToken
  ) throws(ScriptMismatch) -> Int? {
    guard let backup = backups[k] else { return nil }
    let (now, old) = (peers[i].now, peers[i])
    forgotten[old.model.device, default: VectorClock()].merge(old.model.clock)
    peers[i] = backup
    peers[i].replica = backup.replica.copy()
    peers[i].now = now
    peers[i].isInEarlierTransfer = old.model.prefixes != backup.model.prefixes
    counts.restores += 1
    // The backup restores saves whose dots may have become free.
    for index in backup.authored { claim(history.saves[index].dot, for: index) }
    switch token {
    case .lost: try reopen(i, with: nil, keeping: false)
    case .fitting:
      try reopen(
        i, with: peers[i].replica.restoreToken,
        keeping: isSuspect(i) ? nil : true)
      if peers[i].model.device == backup.model.device {
        counts.unnoticedRestores += 1
        suspects.formUnion(peers[i].model.ours)
      }
    case .last: try openWithLastToken(i, insteadOf: old)
    }
    return i
  }

  /// Opens the state of a backup with the token that was stored last.
  ///
  /// The device keeps its ID if and only if the backup's history contains the
  /// token.
  private mutating func openWithLastToken(
    _ i: Int, insteadOf old: Peer
  ) throws(ScriptMismatch) {
    let device = peers[i].model.device
    guard let stored = tokens[i] else {
      return try reopen(i, with: nil, keeping: false)
    }
    let isContained = peers[i].contains(stored)
    // A device loses its protection if it sends saves that its stored token
    // does not cover.
    let isInOrder = sent[device] <= UInt64(stored.chain.count)
    if isContained, isSuspect(i) || !isInOrder {
      try reopen(i, with: stored.token, keeping: nil)
      if peers[i].model.device == device {
        suspects.formUnion(peers[i].model.ours)
      }
      return
    }
    if !isContained { peers[i].ownDevices.formUnion(stored.ownDevices) }
    try reopen(i, with: stored.token, keeping: isContained)
    guard isContained else { return }
    counts.crashes += 1
    // The lost saves were never sent, so their dots are free.
    for index in old.authored.subtracting(peers[i].authored) {
      let dot = history.saves[index].dot
      if dot.sequence > sent[dot.device] { indices[dot]?.remove(index) }
    }
    let isSent = peers[i].model.ours.contains {
      sent[$0] > peers[i].model.clock[$0]
    }
    if isSent { suspects.formUnion(peers[i].model.ours) }
  }

  /// Checks that a device believes a token only if its history contains the
  /// token's save.
  mutating func checkTokens(_ i: Int) throws(ScriptMismatch) {
    let peer = peers[i]
    for (j, stored) in tokens.sorted(by: { $0.key < $1.key }) {
      let isBelieved = peers[i].replica.confirmTokenStored(stored.token)
      let isContained = peer.contains(stored)
      // A device forgets the digests of saves that all others hold. A copied
      // storage lacks the digests of the other incarnation.
      let last = UInt64(stored.chain.count)
      let isForgotten =
        i != j && last <= peer.replica.stabilityCut[stored.device]
      let mayIgnore = isForgotten || isSuspect(i)
      if isBelieved != isContained, isBelieved || !mayIgnore {
        throw ScriptMismatch(
          "\(name(i)) \(isBelieved ? "believes" : "ignores") the token of "
            + "\(name(j)) for its save \(stored.chain.count)")
      }
    }
  }

  /// Opens the stored state of a device.
  ///
  /// - Parameter keeps: Whether the device must keep its ID, or `nil` if both
  ///   are correct.
  mutating func reopen(
    _ i: Int, with token: Replica.Token?, keeping keeps: Bool?
  ) throws(ScriptMismatch) {
    // Editing contexts end when the app closes.
    closeContexts(of: i)
    let (old, now) = (peers[i].model.device, peers[i].now)
    try peers[i].replica.reopen(with: token, now: now)
    let device = peers[i].replica.device
    if let keeps, keeps != (device == old) {
      throw ScriptMismatch(
        keeps
          ? "\(old) is replaced without need" : "\(old) needs a new device ID")
    }
    if device != old { try checkUnused(device) }
    peers[i].model.reopen(as: device, now: now)
    if device != old { peers[i].startAnew() }
    try checkOwnDevices(i)
  }

  /// Checks that a device knows the IDs of its installation's saves, at least
  /// the last 16.
  func checkOwnDevices(_ i: Int) throws(ScriptMismatch) {
    guard let known = peers[i].replica.ownDevices else { return }
    let all = peers[i].ownDevices
    if all.count <= 16, !all.isSubset(of: known) {
      throw ScriptMismatch(
        "\(name(i)) saved under \(all.sorted()), and knows \(known.sorted())")
    }
  }

  /// Checks that no save uses a device ID.
  func checkUnused(_ device: DeviceID) throws(ScriptMismatch) {
    let isUsed = indices.keys.contains { $0.device == device }
    try agree("\(device) has been used", isUsed, false)
  }
}

extension World.Peer {
  /// The number of received saves that are pulls of this device.
  var pulls: UInt64 {
    model.knowledge.pullDevices.values.reduce(0) { $0 + model.clock[$1] }
  }

  /// Returns whether the device contains the saves and pulls that a stored
  /// token covers.
  func contains(_ stored: World.StoredToken) -> Bool {
    stored.device == model.device && stored.pulls <= pulls
      && chain.starts(with: stored.chain)
  }
}
