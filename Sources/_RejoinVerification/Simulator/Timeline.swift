// SPDX-License-Identifier: Apache-2.0
/// A queue of planned events, ordered by time and then by the order of
/// planning.
struct Timeline<Event> {
  private struct Entry {
    let time: Int64
    let number: Int
    let event: Event
  }

  /// A binary heap whose entries never precede their parents.
  private var heap: [Entry] = []
  private var count = 0

  /// Plans an event.
  mutating func plan(_ event: Event, at time: Int64) {
    heap.append(Entry(time: time, number: count, event: event))
    count += 1
    var i = heap.count - 1
    while i > 0, precedes(i, (i - 1) / 2) {
      heap.swapAt(i, (i - 1) / 2)
      i = (i - 1) / 2
    }
  }

  /// Removes and returns the next event, or returns `nil` if the timeline is
  /// empty.
  mutating func next() -> (time: Int64, event: Event)? {
    guard let first = heap.first else { return nil }
    let last = heap.removeLast()
    if !heap.isEmpty {
      heap[0] = last
      sink()
    }
    return (first.time, first.event)
  }

  private mutating func sink() {
    var i = 0
    while true {
      let children = [2 * i + 1, 2 * i + 2].filter { $0 < heap.count }
      guard let child = children.min(by: precedes), precedes(child, i) else {
        return
      }
      heap.swapAt(i, child)
      i = child
    }
  }

  private func precedes(_ i: Int, _ j: Int) -> Bool {
    (heap[i].time, heap[i].number) < (heap[j].time, heap[j].number)
  }
}
