import Foundation

/// The process's environment.
enum ProcessEnvironment {
    static var variables: [String: String] { ProcessInfo.processInfo.environment }

    /// The environment as `NAME=value`, without the variables that configure a farm.
    static var withoutOurs: [String] {
        variables.filter { !$0.key.hasPrefix("PUSHFARM_") }.map { "\($0.key)=\($0.value)" }.sorted()
    }

    /// The environment as `NAME=value`.
    static var all: [String] { variables.map { "\($0.key)=\($0.value)" }.sorted() }

    /// A service manager that sets this variable ends the service when the first process exits. supervisord sets it, too.
    static let supervised = "SUPERVISOR_ENABLED=1"
}
