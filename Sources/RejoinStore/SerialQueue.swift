// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// The executor of an actor whose calls block.
///
/// They block their own thread, and not a thread that all tasks of the process
/// share.
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

/// Runs blocking calls on a queue before its own actor exists.
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
