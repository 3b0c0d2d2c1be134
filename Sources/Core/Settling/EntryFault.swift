package import PushModel

/// Why a results entry cannot be settled, not even in part.
package enum EntryFault: Error, Equatable, CustomStringConvertible {
    case unreadable(CodecError)
    /// It is neither a report nor closed positions.
    case form(String)

    package var description: String {
        switch self {
        case .unreadable(let error): error.description
        case .form(let words): words
        }
    }

    static func translate<Value>(_ decode: () throws(CodecError) -> Value) throws(EntryFault) -> Value {
        do throws(CodecError) { return try decode() } catch { throw .unreadable(error) }
    }
}
