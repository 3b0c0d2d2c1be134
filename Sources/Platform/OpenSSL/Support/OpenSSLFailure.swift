import COpenSSL

/// OpenSSL's reason for a failed call: the first entry of OpenSSL's error queue. The error of this entry caused the later
/// entries.
struct OpenSSLFailure {
    let library: Int32
    let reason: Int32
    let text: String

    /// Takes the reason from the error queue and empties the queue.
    ///
    /// - Parameter fallback: the text for an empty queue.
    static func taken(fallback: String = "OpenSSL gave no reason") -> OpenSSLFailure {
        var data: UnsafePointer<CChar>?
        var flags: Int32 = 0
        let code = ERR_get_error_all(nil, nil, nil, &data, &flags)
        // `ERR_clear_error` frees the text of the entry, so the text is copied first.
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

/// Unwraps a pointer to a new OpenSSL object. A nil pointer means that memory ran out, and then this function stops the process.
func allocated(_ pointer: OpaquePointer?) -> OpaquePointer {
    guard let pointer else { preconditionFailure("OpenSSL could not allocate an object") }
    return pointer
}

/// Owns a memory `BIO`: a buffer that OpenSSL's functions read from or write to.
struct MemoryBIO: ~Copyable {
    let pointer: OpaquePointer

    init(_ contents: [UInt8] = []) {
        pointer = allocated(BIO_new(BIO_s_mem()))
        guard !contents.isEmpty else { return }
        guard BIO_write(pointer, contents, Int32(contents.count)) == Int32(contents.count) else {
            preconditionFailure("OpenSSL could not take \(contents.count) bytes")
        }
    }

    func drained() -> [UInt8] {
        let count = BIO_ctrl_pending(pointer)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            guard count > 0 else { return }
            filled = max(0, Int(BIO_read(pointer, buffer.baseAddress, Int32(count))))
        }
    }

    deinit { BIO_free(pointer) }
}

/// Returns the DER form of an object.
///
/// - Parameter encode: an `i2d` function. This code calls the `i2d` function twice: first to get the length, then to get the
///   bytes.
func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
    let length = encode(nil)
    guard length > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, filled in
        var cursor = buffer.baseAddress
        filled = max(0, Int(encode(&cursor)))
    }
}
