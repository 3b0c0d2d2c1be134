import CLibuv

/// A child process, started by fork and exec. The child has a clean signal mask and only the descriptors that the
/// caller gives.
@Loop package final class ChildProcess {
    /// How a child process ended.
    package enum End: Equatable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    package private(set) var pid: Int32 = 0
    /// The exit of the child; `nil` while the child runs. The value stays `nil` until libuv has reaped the child, and until then
    /// no other process can get the child's process id. So ``signal(_:)`` never reaches another process.
    package private(set) var end: End?
    private let handle: UnsafeMutablePointer<uv_process_t>
    private let onEnd: @Loop (ChildProcess) -> Void
    /// Keeps the object alive for libuv's callback.
    private var whileRunning: ChildProcess?

    /// - Parameters:
    ///   - path: the program's file.
    ///   - arguments: the first argument is the name that `ps` shows.
    ///   - environment: the complete environment as `NAME=value`; `nil` inherits the parent's.
    ///   - descriptors: element `i` becomes the child's descriptor `i`; `nil` is /dev/null.
    ///   - inOwnSession: true starts the child in its own session, so Control-C in the terminal does not reach it.
    /// - Throws: ``LoopError`` when the process could not be started.
    package init(
        _ path: String, arguments: [String], environment: [String]? = nil, directory: String? = nil,
        descriptors: [Int32?], inOwnSession: Bool = false, onEnd: @escaping @Loop (ChildProcess) -> Void
    ) throws(LoopError) {
        self.onEnd = onEnd
        handle = .allocate(capacity: 1)
        handle.initialize(to: uv_process_t())
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        let status = Self.spawn(
            handle, path, arguments, environment, directory, descriptors,
            inOwnSession ? UV_PROCESS_DETACHED : nil)
        guard status == 0 else { throw LoopError(code: status) }
        pid = handle.pointee.pid
        whileRunning = self
    }

    isolated deinit {
        Handle.close(handle)
    }

    /// Sends a signal, unless the child has ended.
    package func signal(_ number: Int32) {
        guard end == nil else { return }
        uv_process_kill(handle, number)
    }

    private func ended(_ end: End) {
        self.end = end
        onEnd(self)
        whileRunning = nil
    }

    private static func spawn(
        _ handle: UnsafeMutablePointer<uv_process_t>, _ path: String, _ arguments: [String],
        _ environment: [String]?, _ directory: String?, _ descriptors: [Int32?], _ flag: uv_process_flags?
    ) -> Int32 {
        var containers = descriptors.map { descriptor in
            var container = uv_stdio_container_t()
            container.flags = descriptor == nil ? UV_IGNORE : UV_INHERIT_FD
            container.data.fd = descriptor ?? -1
            return container
        }
        return withCStrings(arguments) { arguments in
            withCStrings(environment ?? []) { variables in
                path.withCString { path in
                    withOptionalCString(directory) { directory in
                        containers.withUnsafeMutableBufferPointer { containers in
                            var options = uv_process_options_t()
                            options.file = path
                            options.args = arguments
                            options.env = environment == nil ? nil : variables
                            options.cwd = directory
                            options.flags = flag?.rawValue ?? 0
                            options.stdio = containers.baseAddress
                            options.stdio_count = Int32(containers.count)
                            options.exit_cb = { handle, status, signal in
                                let child = Handle.owner(handle!.pointee.data, as: ChildProcess.self)
                                let end: End =
                                    signal != 0
                                    ? .killed(signal: signal) : .exited(Int32(truncatingIfNeeded: status))
                                Loop.assumeIsolated { child.ended(end) }
                            }
                            return uv_spawn(uv_default_loop(), handle, &options)
                        }
                    }
                }
            }
        }
    }

    private static func withOptionalCString<Value>(
        _ string: String?, _ body: (UnsafePointer<CChar>?) -> Value
    ) -> Value {
        guard let string else { return body(nil) }
        return string.withCString(body)
    }

    /// Passes a NULL-terminated array of C strings to `body`. The array is valid during the call.
    private static func withCStrings<Value>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Value
    ) -> Value {
        let copies = strings.map { string in
            let bytes = UnsafeMutablePointer<CChar>.allocate(capacity: string.utf8.count + 1)
            string.withCString { bytes.update(from: $0, count: string.utf8.count + 1) }
            return bytes
        }
        defer { for copy in copies { copy.deallocate() } }
        var vector: [UnsafeMutablePointer<CChar>?] = copies + [nil]
        return vector.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
    }
}

/// Calls an action on the loop when the process gets a signal. Releasing the watcher restores the signal's default
/// action.
@Loop package final class SignalWatcher {
    private let handle: UnsafeMutablePointer<uv_signal_t>
    private let action: @Loop () -> Void

    package init(_ signal: Int32, _ action: @escaping @Loop () -> Void) {
        self.action = action
        handle = .allocate(capacity: 1)
        uv_signal_init(uv_default_loop(), handle)
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        uv_signal_start(
            handle,
            { handle, _ in
                let watcher = Handle.owner(handle!.pointee.data, as: SignalWatcher.self)
                Loop.assumeIsolated { watcher.action() }
            }, signal)
    }

    isolated deinit {
        Handle.close(handle)
    }
}
