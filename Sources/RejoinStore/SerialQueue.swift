// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// The executor of an actor whose calls block.
///
/// They block a thread of their own, and not one of those that all tasks of the
/// process share.
final class SerialQueue: SerialExecutor {
  private let queue: DispatchQueue

  init(_ label: String) { queue = DispatchQueue(label: label) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }
}

/// Runs what blocks on a queue, before there is an actor that it belongs to.
actor QueueWorker {
  private let queue: SerialQueue

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    queue.asUnownedSerialExecutor()
  }

  init(_ queue: SerialQueue) { self.queue = queue }

  func run<Value>(
    _ body: @Sendable () throws -> sending Value
  ) rethrows -> sending Value {
    try body()
  }
}
