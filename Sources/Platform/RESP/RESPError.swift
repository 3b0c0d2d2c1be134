/// Why a stream of replies cannot be read on.
package enum RESPError: Error, Equatable, Sendable {
    /// The bytes are not RESP2; the text is hiredis's and names at most the one byte that is wrong.
    case protocolError(String)
    case tooManyBytes(limit: Int)
    case tooManyElements(Int, limit: Int)
}
