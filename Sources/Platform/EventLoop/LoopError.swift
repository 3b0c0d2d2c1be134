import CLibuv

/// An error of libuv, described by libuv's own text.
package struct LoopError: Error, Equatable, CustomStringConvertible {
    /// A negative `UV_E…` value, which is `-errno` on Unix.
    package let code: Int32

    package init(code: Int32) { self.code = code }

    package var description: String { String(cString: uv_strerror(code)) }
}
