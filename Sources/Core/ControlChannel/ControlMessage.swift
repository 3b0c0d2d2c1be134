/// A message that travels over the control channel: one byte for its kind, then its elements in order.
package protocol ControlMessage {
    func write(to writer: inout ControlWriter)
    /// Reads the elements of a message of this kind.
    init(kind: UInt8, from reader: inout ControlReader) throws(ControlError)
}

extension ControlMessage {
    var encoded: [UInt8] {
        var writer = ControlWriter()
        write(to: &writer)
        return writer.bytes
    }

    init(decoding bytes: ArraySlice<UInt8>) throws(ControlError) {
        var reader = ControlReader(bytes)
        try self.init(kind: reader.number(), from: &reader)
        try reader.end()
    }

    /// The message as it goes over the channel: its length in 4 bytes, big-endian, then its bytes.
    package var frame: [UInt8] {
        var writer = ControlWriter()
        writer.blob(encoded)
        return writer.bytes
    }
}
