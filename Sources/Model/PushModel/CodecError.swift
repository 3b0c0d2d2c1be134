/// Why bytes that the farm wrote itself could not be read back: damage, or another version's format.
package struct CodecError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Fault: Hashable, Sendable {
        /// It ends within a field.
        case truncated
        /// It goes on after its end.
        case trailing
        /// Its first byte names a format that this version does not know.
        case version(UInt8)
        /// A field has a value that nothing writes.
        case value(Field)
    }

    package enum Field: String, Sendable {
        case segments, tokens, flags, jobID, options, priority, pushType, receipts, maxAttempts, expiration
        case deadline, registeredAt, collapseID, topic, payload, token, kind, count, switches, why, segment
    }

    package let fault: Fault
    /// Where, in bytes from the start.
    package let offset: Int

    package var description: String {
        switch fault {
        case .truncated: "ends too early, at byte \(offset)"
        case .trailing: "goes on after its end, at byte \(offset)"
        case .version(let version): "has format version \(version), not known here"
        case .value(let field): "has an impossible value in \(field.rawValue), at byte \(offset)"
        }
    }
}
