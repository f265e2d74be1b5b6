// SPDX-License-Identifier: Apache-2.0

import RejoinStore
import SwiftUI

struct Profile: Entity {
  let name = register("name", of: String.self)
  let steps = counter("steps")
}

/// The list of the README.
struct ProfileList: View {
  let list: RecordList<Profile>
  var body: some View {
    List { ForEach(list.elements) { Text($0.name ?? "") } }
  }
}
