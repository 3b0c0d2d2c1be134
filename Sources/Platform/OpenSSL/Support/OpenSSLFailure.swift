import COpenSSL

/// What OpenSSL says about a call that failed: the first entry of its error queue, which is the cause of the
/// others.
struct OpenSSLFailure {
    let library: Int32
    let reason: Int32
    let text: String

    /// Takes the queue and leaves it empty.
    ///
    /// - Parameter fallback: the text when the queue holds none.
    static func taken(fallback: String = "OpenSSL gave no reason") -> OpenSSLFailure {
        var data: UnsafePointer<CChar>?
        var flags: Int32 = 0
        let code = ERR_get_error_all(nil, nil, nil, &data, &flags)
        // The text must be copied before the queue is cleared.
        let text = code == 0 ? fallback : words(code, flags & ERR_TXT_STRING != 0 ? data : nil)
        ERR_clear_error()
        return OpenSSLFailure(library: ERR_GET_LIB(code), reason: ERR_GET_REASON(code), text: text)
    }

    private static func words(_ code: UInt, _ data: UnsafePointer<CChar>?) -> String {
        let detail = data.map { String(cString: $0) } ?? ""
        guard let reason = ERR_reason_error_string(code) else {
            return detail.isEmpty ? "OpenSSL error \(String(code, radix: 16))" : detail
        }
        return detail.isEmpty ? String(cString: reason) : "\(String(cString: reason)) (\(detail))"
    }
}

/// A fresh OpenSSL object. There is none only when memory ran out.
func allocated(_ pointer: OpaquePointer?) -> OpaquePointer {
    guard let pointer else { preconditionFailure("OpenSSL could not allocate an object") }
    return pointer
}
