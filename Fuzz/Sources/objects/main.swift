// SPDX-License-Identifier: Apache-2.0

import FuzzBodies

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  FuzzTarget.objects.run(start, count)
}
