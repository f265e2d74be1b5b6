// SPDX-License-Identifier: Apache-2.0
import Rejoin

extension FieldLocation: Comparable {
  public static func < (a: FieldLocation, b: FieldLocation) -> Bool {
    a.record == b.record ? a.field < b.field : a.record < b.record
  }
}
