// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// The executor of an actor whose calls block.
///
/// The calls block their own thread instead of a thread that tasks share.
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

/// An actor that runs blocking calls on a queue before the queue's own actor
/// exists.
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
