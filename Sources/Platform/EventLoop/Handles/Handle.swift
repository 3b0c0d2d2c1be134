import CLibuv

/// What all libuv handles share: a way to their Swift owner, and memory that is freed only after libuv has closed them.
enum Handle {
    /// The owner that was stored, unretained, in the handle's `data`.
    @inline(__always)
    static func owner<Owner: AnyObject>(_ data: UnsafeMutableRawPointer?, as: Owner.Type) -> Owner {
        Unmanaged<Owner>.fromOpaque(data!).takeUnretainedValue()
    }

    /// Closes the handle; its memory is freed by the loop, in a later turn.
    static func close<Kind>(_ handle: UnsafeMutablePointer<Kind>) {
        let raw = UnsafeMutableRawPointer(handle)
        uv_close(raw.assumingMemoryBound(to: uv_handle_t.self)) { handle in
            UnsafeMutableRawPointer(handle!).deallocate()
        }
    }
}
