/// Appends the elements of a control message to bytes; numbers are big-endian.
package struct ControlWriter {
    private(set) var bytes: [UInt8] = []

    /// Comes first in a message.
    mutating func kind(_ kind: UInt8) { number(kind) }

    mutating func number<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// A length of 4 bytes, then the bytes.
    mutating func blob(_ blob: some Collection<UInt8>) {
        number(UInt32(blob.count))
        bytes.append(contentsOf: blob)
    }

    mutating func text(_ text: String) { blob(text.utf8) }

    /// A count of 4 bytes, then the elements.
    mutating func list<Element>(_ elements: [Element], _ write: (inout ControlWriter, Element) -> Void) {
        number(UInt32(elements.count))
        for element in elements { write(&self, element) }
    }
}
