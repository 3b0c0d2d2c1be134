import Foundation

/// The process's environment.
enum ProcessEnvironment {
    static var variables: [String: String] { ProcessInfo.processInfo.environment }

    /// The environment as `NAME=value`, without the variables that configure Pushfarm, `PUSHFARM_…`.
    static var withoutOurs: [String] {
        variables.filter { !$0.key.hasPrefix("PUSHFARM_") }.map { "\($0.key)=\($0.value)" }.sorted()
    }

    /// The environment as `NAME=value`.
    static var all: [String] { variables.map { "\($0.key)=\($0.value)" }.sorted() }

    /// `pushfarm up` sets this variable for its children, as supervisord does for its programs. It tells the
    /// coordinator that the service would end with this process, so that the coordinator refuses an upgrade.
    static let supervised = "SUPERVISOR_ENABLED=1"
}
