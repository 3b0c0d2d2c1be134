import PushModel

/// Why a results entry cannot be understood.
enum EntryFault: Error, Equatable, CustomStringConvertible {
    case unreadable(CodecError)
    /// It names a position that its batch does not have.
    case position(Int, of: Int)

    var description: String {
        switch self {
        case .unreadable(let error): error.description
        case .position(let position, let count): "names position \(position) of \(count)"
        }
    }

    static func translate<Value>(_ decode: () throws(CodecError) -> Value) throws(EntryFault) -> Value {
        do throws(CodecError) { return try decode() } catch { throw .unreadable(error) }
    }
}
