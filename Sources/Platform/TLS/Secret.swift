/// Bytes that must never be printed. The only way to them is to say ``bytes``.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package var description: String { "<secret>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
