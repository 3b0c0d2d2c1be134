/// What a service manager wants to hear, by the variables that it starts a service with.
package struct ServiceEnvironment: Equatable, Sendable {
    /// A path, or behind `@` a name without one.
    package var socket: String
    /// How often it must hear that the service is alive; nil: not at all.
    package var watchdog: Duration?

    /// Nil when no manager listens.
    ///
    /// - Parameters:
    ///   - variables: NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID are looked at.
    ///   - pid: of this process. A watchdog that waits for another process is not ours to answer.
    package init?(_ variables: [String: String], pid: Int32) {
        guard let socket = variables["NOTIFY_SOCKET"], socket.utf8.count > 1,
            socket.hasPrefix("/") || socket.hasPrefix("@")
        else { return nil }
        self.socket = socket
        guard variables["WATCHDOG_PID"].map({ Int32(foreign: $0) == pid }) ?? true,
            let microseconds = variables["WATCHDOG_USEC"].flatMap({ Int64(foreign: $0) }), microseconds > 0
        else { return }
        watchdog = .microseconds(microseconds)
    }

    /// Between two signs of life: half of what the manager waits for, and a second at most, for its status line is as old.
    package var interval: Duration {
        max(.milliseconds(10), min(.seconds(1), (watchdog ?? .seconds(2)) / 2))
    }
}
