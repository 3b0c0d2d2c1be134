import COpenSSL

/// Owns a memory `BIO`: bytes on their way into one of OpenSSL's readers, or out of one of its writers.
struct MemoryBIO: ~Copyable {
    let pointer: OpaquePointer

    init(_ contents: [UInt8] = []) {
        pointer = allocated(BIO_new(BIO_s_mem()))
        guard !contents.isEmpty else { return }
        guard BIO_write(pointer, contents, Int32(contents.count)) == Int32(contents.count) else {
            preconditionFailure("OpenSSL could not take \(contents.count) bytes")
        }
    }

    /// Takes all bytes that were written.
    func drained() -> [UInt8] {
        let count = BIO_ctrl_pending(pointer)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            guard count > 0 else { return }
            filled = max(0, Int(BIO_read(pointer, buffer.baseAddress, Int32(count))))
        }
    }

    deinit { BIO_free(pointer) }
}

/// The DER form of an object.
///
/// - Parameter encode: an `i2d` function; it is called twice, first for the length.
func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
    let length = encode(nil)
    guard length > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, filled in
        var cursor = buffer.baseAddress
        filled = max(0, Int(encode(&cursor)))
    }
}
