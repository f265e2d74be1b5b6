// SPDX-License-Identifier: Apache-2.0

/// An action of a ``CallExplorer``.
enum CallAction: Hashable {
  /// A store makes its next save.
  case save(Int)
  /// A store starts a call.
  case ask(Int, peer: Int)
  /// The request or the answer of a call arrives.
  case deliver(caller: Int)
  /// The same, and a copy of the message is kept.
  case `repeat`(caller: Int)
  /// A request arrives at a server that lags.
  case deliverToOther(caller: Int)
  /// A request arrives, and its part is refused.
  case refuse(caller: Int)
  /// The kept message arrives.
  case deliverKept
  /// A message is lost, which ends its call.
  case lose(caller: Int)
  /// A call is canceled, and its message arrives later.
  case giveUp(caller: Int)
  /// A server returns the request.
  case echo(caller: Int)
  /// A store's process ends.
  case crash(Int)
  /// A copy of the storage is made.
  case backUp(Int)
  /// The storage is replaced by the copy.
  case restore(Int)
}
