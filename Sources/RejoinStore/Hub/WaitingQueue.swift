// SPDX-License-Identifier: Apache-2.0

/// Elements in the order of their arrival, each with a key.
///
/// Adding and removing an element takes constant time, even in the middle,
/// because many waiting tasks can be canceled at the same time.
struct WaitingQueue<Key: Hashable, Element> {
  private struct Node {
    var element: Element
    var previous: Key?
    var next: Key?
  }

  private var nodes: [Key: Node] = [:]
  private var lastKey: Key?
  private(set) var firstKey: Key?

  var isEmpty: Bool { nodes.isEmpty }
  var count: Int { nodes.count }

  /// The elements, in any order.
  var elements: some Sequence<Element> { nodes.values.lazy.map(\.element) }

  var first: Element? { firstKey.flatMap { nodes[$0]?.element } }

  subscript(key: Key) -> Element? { nodes[key]?.element }

  mutating func append(_ element: Element, for key: Key) {
    nodes[key] = Node(element: element, previous: lastKey, next: nil)
    if let lastKey { nodes[lastKey]?.next = key } else { firstKey = key }
    lastKey = key
  }

  /// Changes an element in place.
  ///
  /// - Returns: The value that `body` returns, or `nil` if the queue lacks the
  ///   key.
  mutating func update<Value>(
    _ key: Key, _ body: (inout Element) -> Value
  ) -> Value? {
    guard let index = nodes.index(forKey: key) else { return nil }
    return body(&nodes.values[index].element)
  }

  @discardableResult
  mutating func remove(_ key: Key) -> Element? {
    guard let node = nodes.removeValue(forKey: key) else { return nil }
    if let previous = node.previous {
      nodes[previous]?.next = node.next
    } else {
      firstKey = node.next
    }
    if let next = node.next {
      nodes[next]?.previous = node.previous
    } else {
      lastKey = node.previous
    }
    return node.element
  }

  mutating func removeFirst() -> Element? { firstKey.flatMap { remove($0) } }
}

/// Waits until a continuation is resumed.
///
/// - Parameters:
///   - start: A closure that stores or resumes the continuation.
///   - stop: A closure that resumes the continuation if it is still stored. It
///     can be called twice, and before `start`.
func waiting<Answer: Sendable>(
  _ start: (CheckedContinuation<Answer, Never>) -> Void,
  onCancel stop: @Sendable () -> Void
) async -> Answer {
  await withTaskCancellationHandler {
    await withCheckedContinuation { continuation in
      start(continuation)
      // The handler may have found no continuation.
      if Task.isCancelled { stop() }
    }
  } onCancel: {
    stop()
  }
}
